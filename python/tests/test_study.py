"""Studies on this machine, and their folders."""

from __future__ import annotations

import json
import pickle
import sys
import types
from pathlib import Path
from typing import Any

import flashraid
import pytest

from conftest import SMALL, Program

STUDY = flashraid.Study(SMALL).vary("array.members", [2, 3]).vary("coordination.scheme", ["local", "ideal"]).seeds(2)


def documents(result: flashraid.StudyResult) -> list[str]:
    return [report.json_without_wall_clock() for report in result.reports]


def test_points_are_a_row_for_each_setting_and_seed() -> None:
    result = STUDY.run()
    columns = result.points.to_pydict()
    assert columns["coordination_scheme"] == ["local", "local", "ideal", "ideal"] * 2
    assert columns["array_members"] == [2.0] * 4 + [3.0] * 4
    assert columns["seed"] == [1.0, 2.0] * 4
    assert columns["response_us_all_mean"] == [report.response.all.mean_us for report in result.reports]
    assert len(result) == len(STUDY) == 8 and len(result.reports) == 8
    assert result.settings[2] == {"array.members": "2", "coordination.scheme": "ideal"}
    assert len(result.document["points"]) == 8 and len(result.document["summary"]) == 4
    assert "coordination.scheme = local" in str(result) or "scheme" in str(result)


def test_workers_change_nothing() -> None:
    assert documents(STUDY.run(workers=1)) == documents(STUDY.run(workers=4))


def test_values_of_all_kinds_can_be_varied() -> None:
    study = flashraid.Study(SMALL).vary("ssd.gc.pipeline", [True, False]).set("ssd.gc.preemption", "semi")
    assert [setting["ssd.gc.pipeline"] for setting in study.run().settings] == ["true", "false"]
    arrivals = [{"process": "closed", "depth": 2}, {"process": "poisson", "mean_gap": "3ms"}]
    loads = [report.verdict.load for report in flashraid.Study(SMALL).vary("workload.arrivals", arrivals).run().reports]
    assert loads[0] == "closed" != loads[1]
    starts = flashraid.Study(SMALL).vary("ssd.gc.start", [0.05, 0.1]).run()
    assert starts.points.to_pydict()["ssd_gc_start"] == [0.05, 0.1]


def test_numpy_values_can_be_varied() -> None:
    numpy = pytest.importorskip("numpy")
    result = flashraid.Study(SMALL).vary("array.members", numpy.array([2, 3])).run()
    assert result.points.to_pydict()["array_members"] == [2.0, 3.0]


def test_compare_is_a_study_in_one_call() -> None:
    result = flashraid.compare(SMALL, {"coordination.scheme": ["local", "ideal"]}, baseline="ideal", seeds=2)
    assert result.document["summary"][0]["baseline"] == {"coordination.scheme": "ideal"}


def points_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in (folder / "points").iterdir()}


def test_a_study_goes_on_from_its_folder(tmp_path: Path) -> None:
    done: list[tuple[int, int]] = []
    whole = STUDY.run(folder=tmp_path)
    before = points_of(tmp_path)
    again = STUDY.run(folder=tmp_path, progress=lambda *told: done.append(told))
    assert len(before) == 8 and points_of(tmp_path) == before
    assert again.json() == whole.json() and done[-1] == (8, 8)


def test_the_program_and_the_package_share_folders(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "array.toml"
    path.write_text(
        'array = { members = 2, stripe_unit = "16KiB" }\nssd.geometry = { dies = 2, blocks = 64, pages = 16 }\n'
        'workload = { preset = "hpc-w", requests = 500 }\n'
    )
    arguments = ("compare", path, "--vary", "coordination.scheme=local,ideal", "--seeds", 2, "--no-cache", "--json", "--out")
    document = json.loads(program(*arguments, tmp_path / "study"))
    before = points_of(tmp_path / "study")
    study = flashraid.Study(path).vary("coordination.scheme", ["local", "ideal"]).seeds(2)
    result = study.run(folder=tmp_path / "study")
    # Taken as they are, times of the wall clock included.
    assert points_of(tmp_path / "study") == before and len(before) == 4
    assert result.document == document
    # And the other way round.
    study.run(folder=tmp_path / "other")
    before = points_of(tmp_path / "other")
    program(*arguments, tmp_path / "other")
    assert points_of(tmp_path / "other") == before


def test_shards_of_both_are_merged(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "array.toml"
    path.write_text('ssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nworkload.requests = 200\n')
    study = flashraid.Study(path).vary("array.members", [2, 3, 4])
    part = study.shard(1, 2).run(folder=tmp_path / "1")
    program("compare", path, "--vary", "array.members=2,3,4", "--shard", "2/2", "--no-cache", "--out", tmp_path / "2")
    merged = flashraid.merge([tmp_path / "1", tmp_path / "2"])
    assert documents(merged) == documents(study.run()) and len(part) == 2 == len(part.points)
    with pytest.raises(flashraid.SimulationError, match="part"):
        part.json()
    assert str(part).startswith("only 2 simulations are there") and "a part" in repr(part) and "only 2" in part._repr_html_()
    with pytest.raises(flashraid.ConfigError, match="none of the folders"):
        flashraid.merge([tmp_path / "1"])


@pytest.mark.parametrize(
    ("study", "key"),
    [
        (lambda: STUDY.vary("array.members", [4]), "array.members"),
        (lambda: flashraid.Study(SMALL).vary("array.members", []), "array.members"),
        (lambda: flashraid.Study(SMALL).vary("array.members", [2, 2]), "array.members"),
        (lambda: STUDY.baseline("lokal"), "baseline"),
        (lambda: STUDY.shard(3, 2), "shard"),
        (lambda: flashraid.Study(SMALL).vary("ssd.gc.victim", ["greedy", "gredy"]), "ssd.gc.victim"),
    ],
)
def test_what_does_not_fit_together_is_refused(study: object, key: str) -> None:
    with pytest.raises(flashraid.ConfigError) as error:
        study().run()  # type: ignore[operator]
    assert error.value.problems[0].key == key


def test_a_text_is_no_list_of_values() -> None:
    with pytest.raises(flashraid.ConfigError, match="list"):
        flashraid.Study(SMALL).vary("coordination.scheme", "local")
    for wrong in ({"on": "slurm"}, {"workers": 0}, {"threads": 0}):
        with pytest.raises(flashraid.ConfigError):
            STUDY.run(**wrong)  # type: ignore[arg-type]
    with pytest.raises(flashraid.ConfigError):
        STUDY.seeds(0)


def test_columns_have_the_type_of_their_key() -> None:
    """Whatever the values are, so that tables of two studies can be put together; and a varied seed is one column."""
    study = flashraid.Study(SMALL).vary("array.members", [2]).vary("workload.rate_scale", [1, 2]).vary("seed", [1, 2**60 + 1])
    columns = study.run().points.to_pydict()
    assert columns["array_members"] == [2] * 4 and all(isinstance(members, int) for members in columns["array_members"])
    assert columns["workload_rate_scale"] == [1.0, 1.0, 2.0, 2.0]
    assert all(isinstance(scale, float) for scale in columns["workload_rate_scale"])
    assert columns["seed"] == [1, 2**60 + 1] * 2
    polars = pytest.importorskip("polars")
    assert len(polars.DataFrame(study.run().points).columns) == len(columns)


def test_a_folder_of_another_study_is_refused_as_by_the_program(program: Program, tmp_path: Path) -> None:
    path = tmp_path / "array.toml"
    path.write_text("ssd.geometry = { dies = 1, blocks = 64, pages = 16 }\nworkload.requests = 200\n")
    one = flashraid.Study(path).vary("array.members", [2, 3])
    other = flashraid.Study(path).vary("array.members", [2, 4])
    one.run(folder=tmp_path / "study")
    before = {name.name: name.read_bytes() for name in (tmp_path / "study").iterdir() if name.is_file()}
    with pytest.raises(flashraid.ConfigError, match="holds another study") as refused:
        other.run(folder=tmp_path / "study")
    assert refused.value.problems[0].key == "folder"
    assert {name.name: name.read_bytes() for name in (tmp_path / "study").iterdir() if name.is_file()} == before
    # The folder is still that of the first, for the program, too.
    program("compare", path, "--vary", "array.members=2,3", "--no-cache", "--out", tmp_path / "study")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "report.json").write_text("{}")
    with pytest.raises(flashraid.ConfigError, match="holds other results"):
        other.run(folder=tmp_path / "results")
    assert len(other.run(folder=tmp_path / "study", force=True)) == 2


@pytest.mark.parametrize(
    ("make", "key"),
    [
        (lambda: flashraid.run({**SMALL, "array": {"members": None}}), "array.members"),
        (lambda: flashraid.run(SMALL, settings={"ssd.gc.victim": None}), "ssd.gc.victim"),
        (lambda: flashraid.Study(SMALL).vary("array.members", [2, None]).run(), "array.members[1]"),
        (lambda: flashraid.check({"workload": {"arrivals": {"process": "closed", "depth": None}}}), "workload.arrivals.depth"),
    ],
)
def test_none_is_no_value(make: Any, key: str) -> None:
    with pytest.raises(flashraid.ConfigError, match="None") as refused:
        make()
    assert refused.value.problems[0].key == key


def test_a_reports_own_configuration_runs_again() -> None:
    report = flashraid.run(SMALL)
    assert flashraid.run(report.config).json_without_wall_clock() == report.json_without_wall_clock()


def test_fractions_are_refused_where_whole_numbers_count() -> None:
    wrong: list[Any] = [
        lambda: flashraid.run(SMALL, seed=1.5),  # type: ignore[arg-type]
        lambda: STUDY.seeds(2.5),  # type: ignore[arg-type]
        lambda: STUDY.seed(0.1).run(),  # type: ignore[arg-type]
        lambda: STUDY.shard(1.5, 2),  # type: ignore[arg-type]
        lambda: STUDY.run(workers=1.5),  # type: ignore[arg-type]
    ]
    for call in wrong:
        with pytest.raises(flashraid.ConfigError, match="whole number"):
            call()


def test_points_have_verdicts_percentiles_parts_and_truth_values() -> None:
    study = flashraid.Study(SMALL).set("ssd.gc.preemption", "semi").vary("ssd.gc.pipeline", [True, False])
    result = study.run()
    columns = result.points.to_pydict()
    assert columns["ssd_gc_pipeline"] == [True, False]
    for name in ("all", "read", "write"):
        for percentile in ("p50", "p90", "p95", "p99", "p99_9", "p99_99", "max"):
            expected = [report.document["response_us"][name][percentile] for report in result.reports]
            assert columns[f"response_us_{name}_{percentile}"] == expected
        assert columns[f"iops_{name}"] == [report.document["iops"][name] for report in result.reports]
    assert columns["time_us_all_collection"] == [report.document["time_us"]["all"]["collection"] for report in result.reports]
    assert columns["verdict_load"] == [report.verdict.load for report in result.reports]
    assert columns["verdict_steady"] == [report.verdict.steady for report in result.reports]
    assert result.points["verdict_load"] == columns["verdict_load"] and "verdict_marks" in result.points
    with pytest.raises(KeyError, match="there is no column"):
        result.points["nonsense"]
    polars = pytest.importorskip("polars")
    assert result.points.to_polars()["verdict_steady"].dtype == polars.Boolean
    pytest.importorskip("pandas")
    assert list(result.points.to_pandas()["verdict_load"]) == columns["verdict_load"]
    assert result.points._repr_html_().count("<tr>") == 3


def test_the_summary_has_means_intervals_and_ratios() -> None:
    result = STUDY.run()
    rows = result.summary.to_pydict()
    document = {
        json.dumps(point["settings"]): {name.replace(".", "_"): values for name, values in point["figures"].items()}
        for point in result.document["summary"]
    }
    assert len(rows["figure"]) == 4 * len(next(iter(document.values())))
    for index, figure in enumerate(rows["figure"]):
        settings = {"array.members": int(rows["array_members"][index]), "coordination.scheme": rows["coordination_scheme"][index]}
        expected = document[json.dumps(settings)][figure]
        found = {name: rows[name][index] for name in ("mean", "ci95", "ratio", "ratio_ci95")}
        assert found == expected, figure


def test_variants_change_several_keys_together() -> None:
    remedies = {"none": {}, "polling": {"ssd.gc.preemption": "semi", "ssd.gc.pipeline": True}, "ideal": {"coordination.scheme": "ideal"}}
    result = flashraid.Study(SMALL).variants(remedies).run()
    assert result.settings == [{"variant": name} for name in remedies]
    for report, settings in zip(result.reports, remedies.values()):
        assert report.json_without_wall_clock() == flashraid.run(SMALL, settings=settings).json_without_wall_clock()
    assert result.points["variant"] == list(remedies)
    with pytest.raises(flashraid.ConfigError, match="dict"):
        flashraid.Study(SMALL).variants(["semi"])  # type: ignore[arg-type]
    with pytest.raises(flashraid.ConfigError, match="ssd.gc.victim"):
        flashraid.Study(SMALL).variants({"wrong": {"ssd.gc.victim": "gredy"}}).run()


def test_a_study_of_own_requests(tmp_path: Path) -> None:
    columns = {
        "arrival_ns": [index * 700_001 for index in range(300)],
        "offset_bytes": [index * 7919 % 1000 * 4096 + 512 * (index % 3) for index in range(300)],
        "length_bytes": [4096 + 512 * (index % 2) for index in range(300)],
        "write": [index % 3 > 0 for index in range(300)],
    }
    study = flashraid.Study(SMALL).workload(columns).vary("coordination.scheme", ["local", "ideal"])
    assert len(study) == 2
    result = study.run(folder=tmp_path / "study")
    for report, scheme in zip(result.reports, ["local", "ideal"]):
        alone = flashraid.run(SMALL, settings={"coordination.scheme": scheme}, workload=columns)
        assert report.response == alone.response and report.flash == alone.flash and report.requests_done.all == 300
    # Without a folder, and once more with it.
    assert [report.response for report in study.run().reports] == [report.response for report in result.reports]
    before = points_of(tmp_path / "study")
    study.run(folder=tmp_path / "study")
    assert points_of(tmp_path / "study") == before
    # A study that is refused leaves nothing.
    flashraid.Study(SMALL).vary("array.members", [2, 3]).run(folder=tmp_path / "other")
    files = sorted(path.name for path in (tmp_path / "other").iterdir())
    with pytest.raises(flashraid.ConfigError, match="another study"):
        study.run(folder=tmp_path / "other")
    assert sorted(path.name for path in (tmp_path / "other").iterdir()) == files
    with pytest.raises(flashraid.ConfigError, match="depth"):
        flashraid.Study(SMALL).workload(flashraid.Workload(columns, depth=4, think_ns=1000))
    with pytest.raises(flashraid.ConfigError, match="high_priority"):
        flashraid.Study(SMALL).workload({**columns, "high_priority": [True] * 300})


def test_results_tables_and_workloads_can_be_pickled() -> None:
    result = STUDY.run()
    again = pickle.loads(pickle.dumps(result))
    assert again.json() == result.json() and again.points.to_pydict() == result.points.to_pydict() and str(again) == str(result)
    report = flashraid.run(SMALL, requests=True)
    copy = pickle.loads(pickle.dumps(report))
    assert copy.json() == report.json() and copy.requests.to_pydict() == report.requests.to_pydict()
    pyarrow = pytest.importorskip("pyarrow")
    table = pickle.loads(pickle.dumps(report.requests))
    assert pyarrow.table(table).schema.types == pyarrow.table(report.requests).schema.types
    workload = flashraid.Workload(report.requests, depth=3, think_ns=5)
    one, two = (flashraid.run(SMALL, workload=load) for load in (workload, pickle.loads(pickle.dumps(workload))))
    assert one.json_without_wall_clock() == two.json_without_wall_clock()


def test_requests_of_a_report_can_be_given_back() -> None:
    report = flashraid.run(SMALL, requests=True)
    ends = report.requests["index"]
    assert ends != sorted(ends), "some requests overtake others"
    again = flashraid.run(SMALL, requests=True, workload=flashraid.Workload(report.requests))
    assert again.requests.to_pydict() == report.requests.to_pydict()


def test_names_of_columns_need_no_quotes() -> None:
    result = flashraid.Study(SMALL).vary("array.members", [2, 3]).variants({"none": {}, "semi": {"ssd.gc.preemption": "semi"}}, "my.case").run()
    for table in (result.points, result.summary):
        assert all(name.isidentifier() for name in table), list(table)
    assert set(result.points["my_case"]) == {"none", "semi"}
    # A figure has the same name in both, and that of the document with underscores.
    names = {name.replace(".", "_") for name in result.document["summary"][0]["figures"]}
    assert set(result.summary["figure"]) == names <= set(result.points)
    duckdb = pytest.importorskip("duckdb")
    points = result.points
    assert points is not None and duckdb.sql("select avg(response_us_all_p99) from points group by array_members").fetchall()


def test_progress_can_be_a_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    STUDY.run(progress=True)
    assert capsys.readouterr().err.endswith("8 of 8 simulations\n")
    STUDY.run(progress=False)
    assert capsys.readouterr().err == ""


class Bar:
    """Stands in for the bar of tqdm."""

    made: list[Bar] = []

    def __init__(self, *, total: int, initial: int, unit: str) -> None:
        self.total, self.n, self.is_closed = total, initial, False
        self.made.append(self)

    def update(self, count: int) -> None:
        self.n += count

    def close(self) -> None:
        self.is_closed = True


def test_progress_is_a_bar_where_tqdm_is_installed(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = types.ModuleType("tqdm.auto")
    stand_in.tqdm = Bar  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "tqdm", types.ModuleType("tqdm"))
    monkeypatch.setitem(sys.modules, "tqdm.auto", stand_in)
    monkeypatch.setattr(Bar, "made", [])
    STUDY.run(progress=True)
    (bar,) = Bar.made
    assert (bar.n, bar.total, bar.is_closed) == (8, 8, True)
    assert capsys.readouterr().err == ""
    # No bar of a study that is refused.
    with pytest.raises(flashraid.ConfigError):
        STUDY.baseline("lokal").run(progress=True)
    assert len(Bar.made) == 1


@pytest.mark.parametrize(
    ("folders", "found"), [([], "[]"), ((), "[]"), ("part-1", "'part-1'"), (Path("part-1"), "'part-1'")], ids=["list", "tuple", "text", "path"]
)
def test_a_merge_of_no_folders_says_what_to_give(folders: Any, found: str) -> None:
    with pytest.raises(flashraid.ConfigError, match="at least one folder") as error:
        flashraid.merge(folders)
    (problem,) = error.value.problems
    assert (problem.key, problem.found) == ("folders", found) and "part-1" in (problem.help or "")
