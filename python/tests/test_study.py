"""Studies on this machine, and their folders."""

from __future__ import annotations

import json
from pathlib import Path

import flashraid
import pytest

from conftest import SMALL, Program

STUDY = flashraid.Study(SMALL).vary("array.members", [2, 3]).vary("coordination.scheme", ["local", "ideal"]).seeds(2)


def documents(result: flashraid.StudyResult) -> list[str]:
    return [report.json_without_wall_clock() for report in result.reports]


def test_points_are_a_row_for_each_setting_and_seed() -> None:
    result = STUDY.run()
    columns = result.points.to_pydict()
    assert columns["coordination.scheme"] == ["local", "local", "ideal", "ideal"] * 2
    assert columns["array.members"] == [2.0] * 4 + [3.0] * 4
    assert columns["seed"] == [1.0, 2.0] * 4
    assert columns["response_us.all.mean"] == [report.response.all.mean_us for report in result.reports]
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
    assert starts.points.to_pydict()["ssd.gc.start"] == [0.05, 0.1]


def test_numpy_values_can_be_varied() -> None:
    numpy = pytest.importorskip("numpy")
    result = flashraid.Study(SMALL).vary("array.members", numpy.array([2, 3])).run()
    assert result.points.to_pydict()["array.members"] == [2.0, 3.0]


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
    assert columns["array.members"] == [2] * 4 and all(isinstance(members, int) for members in columns["array.members"])
    assert columns["workload.rate_scale"] == [1.0, 1.0, 2.0, 2.0]
    assert all(isinstance(scale, float) for scale in columns["workload.rate_scale"])
    assert columns["seed"] == [1, 2**60 + 1] * 2
    polars = pytest.importorskip("polars")
    assert len(polars.DataFrame(study.run().points).columns) == len(columns)
