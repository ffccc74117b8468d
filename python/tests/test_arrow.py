"""Rows in and out as Arrow, with libraries and without."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import flashraid
import pytest

from conftest import QUICK, SMALL

COUNT = 300
COLUMNS: dict[str, Any] = {
    "arrival_ns": [index * 1_000_000 for index in range(COUNT)],
    "offset_bytes": [index * 4096 % (1 << 20) for index in range(COUNT)],
    "length_bytes": [4096] * COUNT,
    "direction": ["read" if index % 3 == 0 else "write" for index in range(COUNT)],
}


def outcome(workload: Any) -> str:
    return flashraid.run(SMALL, workload=workload).json_without_wall_clock()


@pytest.fixture(scope="module")
def expected() -> str:
    return outcome(COLUMNS)


def test_requests_come_without_any_library() -> None:
    report = flashraid.run(SMALL, requests=True)
    columns = report.requests.to_pydict()
    assert list(columns) == report.requests.column_names
    assert len(report.requests) == 500 and sorted(columns["index"]) == list(range(500))
    assert all(done - arrival == took for done, arrival, took in zip(columns["done_ns"], columns["arrival_ns"], columns["response_ns"]))
    assert sum(columns["response_ns"]) / 500 / 1e3 == pytest.approx(report.response.all.mean_us, rel=1e-6)
    with pytest.raises(flashraid.ConfigError, match="requests=True"):
        flashraid.run(SMALL).requests


def test_a_long_run_has_several_batches() -> None:
    report = flashraid.run(SMALL, requests=True, settings={**QUICK, "workload.requests": 300_000})
    assert len(report.requests) == 300_000 and len(report.requests.batches) == 2
    assert sum(len(batch) for batch in report.requests.batches) == 300_000


def test_tables_are_taken_by_polars_pandas_and_pyarrow() -> None:
    polars, pandas, pyarrow = (pytest.importorskip(name) for name in ("polars", "pandas", "pyarrow"))
    report = flashraid.run(SMALL, requests=True)
    columns = report.requests.to_pydict()
    assert polars.DataFrame(report.requests).to_dict(as_series=False) == columns
    assert pyarrow.table(report.requests).to_pydict() == columns
    assert pyarrow.record_batch(report.requests.batches[0]).to_pydict() == columns
    if hasattr(pandas.DataFrame, "from_arrow"):
        assert pandas.DataFrame.from_arrow(report.requests).to_dict("list") == columns
    assert polars.DataFrame(report.series)["bandwidth_mb_s"].to_list() == report.document["bandwidth_mb_s"]["series"]
    assert polars.DataFrame(report.free_blocks)["member"].unique().to_list() == [0, 1]


def test_duckdb_takes_tables_by_their_name() -> None:
    duckdb = pytest.importorskip("duckdb")
    requests = flashraid.run(SMALL, requests=True).requests
    rows = duckdb.sql("select * from requests").fetchall()
    assert rows == list(zip(*requests.to_pydict().values()))


def test_pandas_gets_rows_or_an_error() -> None:
    """The constructor knows no Arrow, and would take the names of the columns for rows."""
    numpy, pandas = pytest.importorskip("numpy"), pytest.importorskip("pandas")
    requests = flashraid.run(SMALL, requests=True).requests
    with pytest.raises(TypeError, match="to_pandas"):
        pandas.DataFrame(requests)
    with pytest.raises(TypeError, match="no array"):
        numpy.asarray(requests)
    assert pandas.DataFrame(requests.to_pydict()).shape == requests.to_pandas().shape == (500, len(requests.column_names))


def addresses(array: Any) -> list[int]:
    """Where the values of a column of pyarrow lie."""
    return [buffer.address for buffer in array.buffers() if buffer is not None]


def test_nothing_is_copied_on_the_way() -> None:
    """Every library gets the memory in which the run left its requests."""
    polars, pyarrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    requests = flashraid.run(SMALL, requests=True, settings={**QUICK, "workload.requests": 300_000}).requests
    first, second = pyarrow.table(requests), pyarrow.table(requests)
    batches = [pyarrow.record_batch(batch) for batch in requests.batches]
    assert len(batches) == 2
    frame = polars.DataFrame(requests)
    for name in requests.column_names:
        ours = [addresses(batch.column(name)) for batch in batches]
        assert [addresses(chunk) for chunk in first[name].chunks] == ours, name
        assert [addresses(chunk) for chunk in second[name].chunks] == ours, name
        # Polars has one way to keep texts, which is not Arrow's first one.
        if frame[name].dtype != polars.String:
            chunks = frame[name].get_chunks()
            assert [addresses(chunk.to_arrow())[-1] for chunk in chunks] == [values[-1] for values in ours], name
    texts = [name for name in requests.column_names if frame[name].dtype == polars.String]
    assert texts == ["direction"]


def test_a_table_outlives_its_report() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(flashraid.run(SMALL, requests=True).requests)
    copy = table.to_pydict()
    flashraid.run(SMALL, requests=True)
    table.validate(full=True)
    assert table.to_pydict() == copy


def test_a_stream_nobody_reads_is_released() -> None:
    requests = flashraid.run(SMALL, requests=True).requests
    for _ in range(3):
        requests.__arrow_c_stream__()
        requests.__arrow_c_schema__()
        requests.batches[0].__arrow_c_array__()


def test_own_requests_as_tables(expected: str) -> None:
    polars, pandas, pyarrow = (pytest.importorskip(name) for name in ("polars", "pandas", "pyarrow"))
    for table in (
        polars.DataFrame(COLUMNS),
        polars.DataFrame(COLUMNS).with_columns(polars.col("direction").cast(polars.Categorical)),
        polars.concat([polars.DataFrame(COLUMNS)[:100], polars.DataFrame(COLUMNS)[100:]], rechunk=False),
        pyarrow.table(COLUMNS),
        pyarrow.table(COLUMNS).to_batches()[0],
        pyarrow.table(COLUMNS).set_column(3, "direction", pyarrow.array(COLUMNS["direction"]).dictionary_encode()),
        pandas.DataFrame(COLUMNS),
        {name: pyarrow.array(values) for name, values in COLUMNS.items()},
        {name: polars.Series(values) for name, values in COLUMNS.items()},
    ):
        assert outcome(table) == expected, type(table)


def test_own_requests_as_numpy_arrays(expected: str) -> None:
    numpy = pytest.importorskip("numpy")
    arrays = {name: numpy.array(values) for name, values in COLUMNS.items()}
    assert outcome(arrays) == expected
    writes = arrays.pop("direction") == "write"
    assert outcome({**arrays, "write": writes}) == expected
    for kind in ("uint64", "int32", "float64"):
        narrow = {name: values.astype(kind) for name, values in arrays.items()}
        assert outcome({**narrow, "write": writes}) == expected, kind
    strided = {name: numpy.repeat(values, 2)[::2] for name, values in arrays.items()}
    assert outcome({**strided, "write": writes}) == expected


def test_results_are_requests_again() -> None:
    done = flashraid.run(SMALL, requests=True).requests
    polars = pytest.importorskip("polars")
    # In the order of ends, and without the column that tells the order of arrivals.
    with pytest.raises(flashraid.ConfigError) as error:
        flashraid.Workload(polars.DataFrame(done).drop("index"))
    assert error.value.problems[0].key == "arrival_ns" and "sort" in str(error.value.problems[0].help)
    ordered = polars.DataFrame(done).sort("index")
    # The same requests, at the same times, on the same array.
    again = flashraid.run(SMALL, requests=True, workload=ordered)
    assert polars.DataFrame(again.requests).sort("index").equals(ordered)


def test_a_closed_loop_needs_no_times() -> None:
    columns = {name: values for name, values in COLUMNS.items() if name != "arrival_ns"}
    report = flashraid.run(SMALL, workload=flashraid.Workload(columns, depth=4))
    assert report.verdict.load == "closed" and report.requests_done.all == COUNT
    workload = flashraid.Workload(columns, depth=4, think_ns=10_000_000)
    assert len(workload) == COUNT and "300" in repr(workload)
    slower = flashraid.run(SMALL, workload=workload)
    assert slower.simulated_ns > report.simulated_ns


@pytest.mark.parametrize(
    ("changed", "key", "found"),
    [
        ({"arrival_ns": [5] * (COUNT - 1) + [4]}, "arrival_ns", "4 in row 299"),
        ({"length_bytes": [4096] * (COUNT - 1)}, "length_bytes", "299 rows"),
        ({"length_bytes": [0] * COUNT}, "length_bytes", "0 in row 0"),
        ({"offset_bytes": [-1] * COUNT}, "offset_bytes", "-1 in row 0"),
        ({"offset_bytes": [0.5] * COUNT}, "offset_bytes", "0.5 in row 0"),
        ({"offset_bytes": ["x"] * COUNT}, "offset_bytes", "'x' in row 0"),
        ({"direction": ["erase"] * COUNT}, "direction", "'erase' in row 0"),
        ({"direction": None}, "requests", "direction"),
        ({"arrival_ns": None}, "requests", "arrival_ns"),
        ({"hi_priority": [True] * COUNT}, "requests", "hi_priority"),
        ({"write": [True] * COUNT}, "requests", "direction and write"),
    ],
)
def test_bad_columns_are_refused_with_their_row(changed: dict[str, Any], key: str, found: str) -> None:
    columns = {name: values for name, values in {**COLUMNS, **changed}.items() if values is not None}
    with pytest.raises(flashraid.ConfigError) as error:
        flashraid.Workload(columns)
    problem = error.value.problems[0]
    assert problem.key == key and problem.found is not None and found in problem.found, problem


def test_bad_tables_are_refused() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    for table in (
        pyarrow.table({**COLUMNS, "length_bytes": [None] + [4096] * (COUNT - 1)}),
        pyarrow.table({**COLUMNS, "direction": [None] + ["read"] * (COUNT - 1)}),
        pyarrow.array([1, 2, 3]),
        7,
    ):
        with pytest.raises(flashraid.ConfigError):
            flashraid.Workload(table)
    beyond = {**COLUMNS, "offset_bytes": [1 << 50] * COUNT}
    with pytest.raises(flashraid.ConfigError, match="does not fit"):
        flashraid.run(SMALL, workload=beyond)


def test_traces_go_out_and_in(tmp_path: Path, expected: str) -> None:
    for name, kind in (("trace.fio", "fio3"), ("trace.csv.gz", "msr"), ("trace.zst", "disksim")):
        written = flashraid.write_trace(COLUMNS, tmp_path / name, format=kind)
        assert written["requests"] == COUNT and written["times_cut"] == 0
        table = flashraid.read_trace(tmp_path / name, format=kind)
        assert outcome(table) == expected
        assert len(flashraid.read_trace(tmp_path / name, limit=10)) == 10
    assert flashraid.trace_info(tmp_path / "trace.fio")["requests"] == COUNT
    assert (tmp_path / "trace.csv.gz").read_bytes()[:2] == b"\x1f\x8b"
    with pytest.raises(flashraid.ConfigError, match="format"):
        flashraid.write_trace(COLUMNS, tmp_path / "x", format="srt")
    with pytest.raises(flashraid.ConfigError):
        flashraid.read_trace(tmp_path / "no-such-trace")
    with pytest.raises((flashraid.ConfigError, flashraid.SimulationError)):
        flashraid.write_trace(COLUMNS, tmp_path / "no" / "such" / "folder")
    assert not (tmp_path / "x").exists()


def test_many_requests_reach_polars_faster_than_parquet_is_read(tmp_path: Path) -> None:
    polars, parquet = pytest.importorskip("polars"), pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    requests = flashraid.run(SMALL, requests=True, settings={**QUICK, "workload.requests": 200_000}).requests
    path = tmp_path / "requests.parquet"
    parquet.write_table(pyarrow.table(requests), path, compression="zstd")

    def least(of: Any) -> float:
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            assert len(of()) == 200_000
            times.append(time.perf_counter() - begin)
        return min(times)

    ours, theirs = least(lambda: polars.DataFrame(requests)), least(lambda: parquet.read_table(path))
    print(f"polars {ours * 1e3:.1f} ms, parquet {theirs * 1e3:.1f} ms")
    assert ours < theirs
