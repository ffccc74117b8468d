"""Studies on Ray, with two local workers."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import flashraid
import pytest
from flashraid import _ray

from conftest import SMALL

ray = pytest.importorskip("ray", reason="ray is not installed for this Python")

STUDY = flashraid.Study(SMALL).vary("array.members", [2, 3]).vary("coordination.scheme", ["local", "ideal"]).seeds(2)


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    yield
    ray.shutdown()


def documents(result: flashraid.StudyResult) -> list[str]:
    return [report.json_without_wall_clock() for report in result.reports]


def test_results_are_those_of_local_workers(tmp_path: Path) -> None:
    told: list[tuple[int, int]] = []
    result = STUDY.run(on="ray", workers=2, folder=tmp_path, progress=lambda *now: told.append(now))
    assert documents(result) == documents(STUDY.run())
    assert told[0] == (0, 8) and told[-1] == (8, 8) and told == sorted(told)
    # The folder is the program's: nothing is left to do.
    before = {path.name: path.read_bytes() for path in (tmp_path / "points").iterdir()}
    again = STUDY.run(folder=tmp_path)
    assert again.json() == result.json()
    assert {path.name: path.read_bytes() for path in (tmp_path / "points").iterdir()} == before


def test_without_a_folder_nothing_is_left() -> None:
    assert documents(STUDY.run(on="ray", workers=2)) == documents(STUDY.run())


def test_paths_are_relative_to_the_drivers_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = {"arrival_ns": [0, 1000], "offset_bytes": [0, 4096], "length_bytes": [4096, 4096], "direction": ["write", "read"]}
    flashraid.write_trace(columns, tmp_path / "own.trace")
    monkeypatch.chdir(tmp_path)
    config = {**SMALL, "workload": {"kind": "trace", "path": "own.trace", "format": "fio3"}}
    study = flashraid.Study(config).vary("array.members", [2, 3])
    assert documents(study.run(on="ray")) == documents(study.run())


def test_bad_input_is_refused_before_anything_runs() -> None:
    with pytest.raises(flashraid.ConfigError) as error:
        flashraid.Study(SMALL).vary("ssd.gc.victim", ["greedy", "gredy"]).run(on="ray")
    assert error.value.problems[0].key == "ssd.gc.victim"
    with pytest.raises(flashraid.ConfigError, match="cores"):
        STUDY.run(on="ray", threads=1000)


def slow_study() -> flashraid.Study:
    """Long enough that something can happen in the middle: some seconds on two workers."""
    return flashraid.Study(SMALL).set("workload.requests", 60_000).vary("coordination.scheme", ["local", "ideal"]).seeds(8)


def workers_of_ours() -> list[int]:
    """Processes of Ray that run a task of ours."""
    found = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                name = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            if name.startswith(b"ray::") and b"flashraid" in name:
                found.append(int(folder.name))
    return found


def test_a_lost_worker_changes_nothing(tmp_path: Path) -> None:
    killed: list[int] = []

    def kill_one(done: int, all_of_them: int) -> None:
        if done >= 3 and not killed:
            for process in workers_of_ours()[:1]:
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    result = slow_study().run(on="ray", workers=2, folder=tmp_path, progress=kill_one)
    assert killed, "no worker was found to be killed"
    assert result.cost is not None and result.cost.lost >= 1
    assert documents(result) == documents(slow_study().run(workers=2))
    assert len(list((tmp_path / "points").iterdir())) == 16


def test_a_worker_that_is_lost_again_and_again_is_an_error() -> None:
    def kill_all(done: int, all_of_them: int) -> None:
        for process in workers_of_ours():
            try:
                os.kill(process, signal.SIGKILL)
            except ProcessLookupError:
                pass

    with pytest.raises(flashraid.SimulationError, match="lost"):
        flashraid.Study(SMALL).set("workload.requests", 5_000_000).run(on="ray", progress=kill_all, retries=1)


def test_ctrl_c_keeps_what_is_done_and_the_study_goes_on(tmp_path: Path) -> None:
    def interrupt(done: int, all_of_them: int) -> None:
        if done >= 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(flashraid.Interrupted) as stopped:
        slow_study().run(on="ray", workers=2, folder=tmp_path, progress=interrupt)
    assert stopped.value.study is not None
    done = len(stopped.value.study)
    assert 2 <= done < 16
    before = {path.name: path.read_bytes() for path in (tmp_path / "points").iterdir()}
    assert len(before) == done
    # Also after the cluster was started anew.
    ray.shutdown()
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=100 << 20)
    result = slow_study().run(on="ray", workers=2, folder=tmp_path)
    after = {path.name: path.read_bytes() for path in (tmp_path / "points").iterdir()}
    assert all(after[name] == content for name, content in before.items())
    assert documents(result) == documents(slow_study().run(workers=2))


def descendants(process: int) -> list[int]:
    """Processes that this one has started, and those that they have."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                # The name, in parentheses, may hold anything; the parent is the second entry after it.
                parents[int(folder.name)] = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except OSError:
                continue
    found = [process]
    for one in found:
        found.extend(child for child, parent in parents.items() if parent == one)
    return found[1:]


def test_a_study_goes_on_after_its_head_was_lost(tmp_path: Path) -> None:
    """All of a machine at once: the driver, the head of its cluster, the workers."""
    study = slow_study()
    code = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb')).run(on='ray', workers=2, folder=sys.argv[2])"
    (tmp_path / "study.pickle").write_bytes(pickle.dumps(study))
    folder = tmp_path / "study"
    driver = subprocess.Popen([sys.executable, "-c", code, tmp_path / "study.pickle", folder], env={**os.environ, "RAY_ADDRESS": "local"})
    until = time.monotonic() + 120
    while len(list(folder.glob("points/*.json"))) < 3:
        assert driver.poll() is None and time.monotonic() < until
        time.sleep(0.02)
    killed = [driver.pid, *descendants(driver.pid)]
    for process in killed:
        try:
            os.kill(process, signal.SIGKILL)
        except ProcessLookupError:
            pass
    driver.wait()
    assert len(killed) > 3, "the head and the workers were not found"
    before = {path.name: path.read_bytes() for path in folder.glob("points/*.json")}
    assert 3 <= len(before) < 16
    result = study.run(on="ray", workers=2, folder=folder)
    after = {path.name: path.read_bytes() for path in folder.glob("points/*.json")}
    assert len(after) == 16 and all(after[name] == content for name, content in before.items())
    assert documents(result) == documents(study.run(workers=2))


def test_batches_have_every_simulation_once() -> None:
    for workers in (1, 2, 7, 64):
        for groups in ([], [[0]], [list(range(1000))], [[n] for n in range(1000)], [[2 * n, 2 * n + 1] for n in range(300)], [[0, 1, 2], list(range(3, 900)), [900]]):
            made = _ray.batches(groups, workers)
            assert all(made) and len(made) <= 2 * _ray.BATCHES_PER_WORKER * workers
            if not groups:
                continue
            assert sorted(number for batch in made for number in batch) == sorted(number for group in groups for number in group)
            assert max(map(len, made)) <= _ray.BATCH_MAX
            if len(groups[0]) == 1000:
                assert len(made) >= _ray.BATCHES_OF_REST * workers, "all workers have something to do"


def test_the_last_batches_are_short() -> None:
    made = [len(batch) for batch in _ray.batches([[number] for number in range(200)], 2)]
    assert made == sorted(made, reverse=True) and made[0] == 25 and made[-1] <= 2 and len(made) < 40
    many = [len(batch) for batch in _ray.batches([[number] for number in range(10_000)], 2)]
    assert many[0] == _ray.BATCH_MAX and many[-1] <= 80 and len(many) < 100


def test_groups_stay_whole_where_there_are_enough() -> None:
    groups = [list(range(10 * n, 10 * n + 10)) for n in range(20)]
    made = _ray.batches(groups, 2)
    assert all(any(set(group) <= set(batch) for batch in made) for group in groups)


def test_what_a_study_cost_is_told(tmp_path: Path) -> None:
    study = flashraid.Study(SMALL).set("workload.requests", 50).seeds(200)
    begin = time.perf_counter()
    result = study.run(on="ray", workers=2, folder=tmp_path)
    took = time.perf_counter() - begin
    cost = result.cost
    assert cost is not None and (cost.workers, cost.simulations, cost.lost) == (2, 200, 0)
    assert cost.batches == len(_ray.batches([[number] for number in range(200)], 2))
    assert 0 < cost.elapsed_s <= took and cost.start_s < 0.05
    assert cost.simulated_s == pytest.approx(sum(report.wall_s for report in result.reports))
    assert cost.simulated_s + cost.overhead_ms * 200 / 1e3 == pytest.approx(2 * cost.elapsed_s)
    assert cost.overhead_share == pytest.approx(1 - cost.simulated_s / (2 * cost.elapsed_s))
    assert str(result).endswith(f"{cost}\n") and f"{cost.overhead_ms:.2f} ms a simulation" in str(cost)
    # Nothing is left to run, and nothing is told of it.
    again = study.run(on="ray", workers=2, folder=tmp_path)
    assert again.cost is not None and again.cost.simulations == 0 and again.cost.overhead_ms == 0
    assert study.run(folder=tmp_path).cost is None


def test_no_thread_is_left() -> None:
    assert "flashraid" not in [thread.name for thread in threading.enumerate()]
