"""What docs/python.md says of speed, measured: `scripts/python measure`, with the optimised wheel and program, on a machine that does nothing else.

Each figure is printed at the end, beside its bound.
"""

from __future__ import annotations

import os
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import flashraid
import pytest

from conftest import ROOT, SMALL, Figures, Program

pytestmark = pytest.mark.measured

#: The main job's array at full size, with ten times its requests: some seconds, of which starting a process is a hundredth.
FULL_SIZE = """
array.members = 8
ssd = { preset = "ggc2014", summary_page = "spread" }
workload = { preset = "hpc-w", requests = 200_000 }
"""


def seconds(of: Callable[[], object]) -> float:
    begin = time.perf_counter()
    of()
    return time.perf_counter() - begin


def by_turns(count: int, *of: Callable[[], float]) -> list[list[float]]:
    """So many of each, one after the other, so that whatever else the machine does meets all of them."""
    rounds = [[one() for one in of] for _ in range(count)]
    return [list(times) for times in zip(*rounds)]


def outcome(*command: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)


# --- A run ----------------------------------------------------------------------------------------------------------------------------------------


def test_a_run_costs_what_the_programs_costs(program: Program, tmp_path: Path, figures: Figures) -> None:
    path = tmp_path / "array.toml"
    path.write_text(FULL_SIZE)
    one_run = "import sys, flashraid; flashraid.run(sys.argv[1], threads=1, keep_warm=False).json()"
    with_requests = one_run.replace("threads=1", "requests=True, threads=1")
    theirs, ours, kept = by_turns(
        5,
        lambda: seconds(lambda: outcome(program.path, "run", path, "--json", "--no-cache", "--threads=1")),
        lambda: seconds(lambda: outcome(sys.executable, "-c", one_run, path)),
        lambda: seconds(lambda: outcome(sys.executable, "-c", with_requests, path)),
    )
    start = [
        statistics.median(times)
        for times in by_turns(
            5,
            lambda: seconds(lambda: outcome(program.path, "--version")),
            lambda: seconds(lambda: outcome(sys.executable, "-c", "import flashraid")),
        )
    ]
    program_s, ours_s, kept_s = map(statistics.median, (theirs, ours, kept))
    figures.note("a process that runs a simulation, over the program's", ours_s / program_s, "1.05", f"{ours_s:.2f} s, {program_s:.2f} s")
    figures.note("the same that keeps all requests", kept_s / program_s, "", f"{kept_s:.2f} s")
    figures.note("of these to start Python and import the package, s", start[1], "", f"the program starts in {start[0]:.3f} s")
    assert ours_s < 1.05 * program_s, (theirs, ours)


def test_the_five_lines_of_the_readme_at_full_size(figures: Figures, tmp_path: Path) -> None:
    (lines,) = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    begin = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", lines], cwd=tmp_path, capture_output=True, text=True, check=True)
    figures.note("the README's five lines at full size, s", time.perf_counter() - begin, "", "six schemes")
    means = re.findall(r"^ *([a-z-]+) +([0-9.]+) +([0-9.]+) ", done.stdout.split("Distribution of response times")[0], re.MULTILINE)
    assert [name for name, *_ in means][0] == "local" and len(means) == 6, done.stdout
    assert float(means[-1][2]) < 0.5, "an array that collects together answers in less than half the time"


# --- Ctrl-C ---------------------------------------------------------------------------------------------------------------------------------------


class CtrlC:
    """Sends this process what the terminal sends it, once, and notes when."""

    def __init__(self) -> None:
        self.at: float | None = None
        self._lock = threading.Lock()

    def send(self) -> None:
        with self._lock:
            if self.at is None:
                self.at = time.monotonic()
                os.kill(os.getpid(), signal.SIGINT)

    def later(self, after_s: float) -> None:
        threading.Timer(after_s, self.send).start()

    def late_s(self, work: Callable[[], object]) -> tuple[float, flashraid.Interrupted]:
        with pytest.raises(flashraid.Interrupted) as stopped:
            work()
        assert self.at is not None
        return time.monotonic() - self.at, stopped.value


ENDLESS = {"workload.requests": 1_000_000_000}


@pytest.mark.parametrize("preset", ["ggc2014", "nvme-tlc-gen3"])
@pytest.mark.parametrize("phase", ["warm-up", "run"])
def test_ctrl_c_ends_a_run_in_half_a_second(preset: str, phase: str, figures: Figures) -> None:
    late = []
    for _ in range(3):
        ctrl_c = CtrlC()

        def told(now: str, share: float, ctrl_c: CtrlC = ctrl_c) -> None:
            if now == phase:
                ctrl_c.later(0.7)

        config = {"array": {"members": 8}, "ssd": {"preset": preset}, "workload": {"preset": "hpc-w"}}
        took, stopped = ctrl_c.late_s(lambda: flashraid.run(config, requests=True, settings=ENDLESS, keep_warm=False, progress=told))
        late.append(took)
        if phase == "run":
            assert stopped.report is not None and stopped.report.partial and stopped.report.requests_done.all > 0
    figures.note(f"Ctrl-C during the {phase} of 8 × {preset}, s", max(late), "0.5", "the latest of three")
    assert max(late) < 0.5, late


def test_ctrl_c_ends_a_study_in_half_a_second(figures: Figures, tmp_path: Path) -> None:
    late = []
    for part in range(3):
        ctrl_c = CtrlC()
        # In the warm-up, where its states are copied, in the run.
        ctrl_c.later(1.5 + 1.5 * part)
        study = flashraid.Study(FULL_SIZE).vary("coordination.scheme", ["local", "ideal"]).seeds(50)
        took, stopped = ctrl_c.late_s(lambda: study.run(workers=2, folder=tmp_path / str(part), keep_warm=False))
        late.append(took)
        assert stopped.study is not None
    figures.note("Ctrl-C during a study of full-size arrays, two workers, s", max(late), "0.5", "the latest of three")
    assert max(late) < 0.5, late


# --- Rows -----------------------------------------------------------------------------------------------------------------------------------------


def test_a_million_requests_reach_polars_without_a_copy(program: Program, tmp_path: Path, figures: Figures) -> None:
    polars, pyarrow, parquet = (pytest.importorskip(name) for name in ("polars", "pyarrow", "pyarrow.parquet"))
    requests = flashraid.run(SMALL, requests=True, settings={"workload.requests": 1_000_000}).requests
    table = pyarrow.table(requests)
    times: dict[str, list[float]] = {}
    for kind in ("snappy", "zstd", "none"):
        parquet.write_table(table, tmp_path / f"{kind}.parquet", compression=kind)
    reads = {kind: (lambda kind=kind: parquet.read_table(tmp_path / f"{kind}.parquet")) for kind in ("snappy", "zstd", "none")}
    makes = {"ours": lambda: polars.DataFrame(requests), **reads}
    assert all(len(make()) == 1_000_000 for make in makes.values())
    names = list(makes)
    for name, of in zip(names, by_turns(5, *(lambda make=makes[name]: seconds(make) for name in names))):
        times[name] = of
    ours_s, theirs_s = statistics.median(times["ours"]), min(statistics.median(times[kind]) for kind in reads)
    figures.note("a million requests to polars, ms", ours_s * 1e3, f"{theirs_s * 1e3:.1f}", "the bound is pyarrow's quickest Parquet (snappy, zstd, none)")

    # The same memory, batch by batch: nothing was copied on the way.
    frame = polars.DataFrame(requests)
    for name in ("index", "response_ns", "flash_ns"):
        ours = [chunk.buffers()[1].address for chunk in table.column(name).chunks]
        theirs = [chunk.to_arrow().buffers()[1].address for chunk in frame[name].get_chunks()]
        assert ours == theirs, f"{name} was copied"
    assert ours_s < theirs_s, times


# --- Ray ------------------------------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    ray = pytest.importorskip("ray", reason="ray is not installed for this Python")
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    # Both workers are started and have imported the package before anything is measured.
    flashraid.Study(SMALL).seeds(8).run(on="ray", workers=2)
    yield ray
    ray.shutdown()


def documents(result: flashraid.StudyResult) -> list[str]:
    return [report.json_without_wall_clock() for report in result.reports]


def test_two_workers_of_ray_are_nearly_twice_as_fast(cluster: Any, figures: Figures) -> None:
    study = flashraid.Study(SMALL).set("workload.requests", 5_000).seeds(200)
    one, two = by_turns(
        3,
        lambda: seconds(lambda: study.run(on="ray", workers=1)),
        lambda: seconds(lambda: study.run(on="ray", workers=2)),
    )
    gain = statistics.median(one) / statistics.median(two)
    note = f"{statistics.median(one):.1f} s and {statistics.median(two):.1f} s"
    figures.note("200 small points on two workers of Ray, over one", gain, "at least 1.7", note)
    assert gain >= 1.7, (one, two)


def test_ten_thousand_tiny_points_cost_little_more_on_ray(cluster: Any, figures: Figures, tmp_path: Path) -> None:
    count = 10_000
    study = (
        flashraid.Study(SMALL)
        .set("workload.requests", 1_000)
        .vary("ssd.timing.page_read", [f"{20 + step}us" for step in range(count // 100)])
        .seeds(100)
    )
    results: dict[str, flashraid.StudyResult] = {}

    def run(on: str) -> None:
        results[on] = study.run(on=on, workers=2, folder=tmp_path / on)  # type: ignore[arg-type]

    ours_s, local_s = seconds(lambda: run("ray")), seconds(lambda: run("local"))
    inside_s = sum(report.wall_s for report in results["local"].reports)
    over_ms = (ours_s - local_s) * 1e3 / count
    note = f"{ours_s:.1f} s on Ray, {local_s:.1f} s in threads, of which {inside_s / 2:.1f} s simulate"
    figures.note("ten thousand tiny points on Ray, over two threads", ours_s / local_s, "1.1", note)
    figures.note("overhead of Ray, ms a point", over_ms, "", f"a point takes {inside_s * 1e3 / count:.2f} ms")
    assert documents(results["ray"]) == documents(results["local"])
    assert ours_s < 1.1 * local_s


def test_ctrl_c_ends_a_study_on_ray(cluster: Any, figures: Figures, tmp_path: Path) -> None:
    late = []
    for part in range(3):
        ctrl_c = CtrlC()
        ctrl_c.later(3.0)
        study = flashraid.Study(SMALL).set("workload.requests", 20_000).seeds(10_000)
        took, stopped = ctrl_c.late_s(lambda: study.run(on="ray", workers=2, folder=tmp_path / str(part)))
        late.append(took)
        assert stopped.study is not None and len(stopped.study) > 0
    figures.note("Ctrl-C during a study on Ray, s", max(late), "", "the latest of three")
