"""Studies on a Ray cluster.

The simulations that are still to be run are put into batches of whole warm-up groups, each a task that streams reports back as simulations end.
The driver saves them in the study's folder, in the format of the program, and puts the whole together when nothing is left. A batch whose worker is lost
is given out again without what has come back already, so that nothing is lost or there twice.
"""

from __future__ import annotations

import importlib
import os
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from . import _native
from ._errors import ConfigError, Interrupted, SimulationError

#: Batches for each worker: enough that the last ones end at about the same time, few enough that starting them costs little.
BATCHES_PER_WORKER = 8
#: Simulations of a batch at most, so that a lost worker takes little with it to be done again.
BATCH_MAX = 250
#: Seconds of work whose reports come back together: what their way costs is little beside it, and a lost worker takes little with it.
RETURN_S = 0.25
#: Reports that are saved at a time.
SAVERS = 4
#: Seconds between two looks at signals and progress.
TICK_S = 0.1


def batches(groups: list[list[int]], workers: int) -> list[list[int]]:
    """Batches of whole groups; a group is divided only where there would be too few batches for the workers, or it is too long."""
    simulations = sum(len(group) for group in groups)
    size = max(1, min(BATCH_MAX, -(-simulations // (BATCHES_PER_WORKER * workers))))
    result: list[list[int]] = []
    for group in groups:
        # A part of a group repeats its warm-up; so a group is left whole where there are enough of them.
        whole = len(groups) >= 2 * workers and len(group) <= BATCH_MAX
        parts = [group] if whole else [group[begin : begin + size] for begin in range(0, len(group), size)]
        for part in parts:
            if result and len(result[-1]) + len(part) <= size:
                result[-1].extend(part)
            else:
                result.append(list(part))
    return result


def _work(
    description: str, simulations: list[tuple[int, list[tuple[str, str]], int]], threads: int, folder: str
) -> Iterator[list[tuple[int, str]]]:
    """What a worker does: runs simulations one after the other and gives their reports, each with its number, a few at a time where they are short."""
    # Paths in configurations are relative to the driver's folder, where the cluster shares it.
    if os.path.isdir(folder):
        os.chdir(folder)
    batch = _native.Batch(description, [(settings, seed) for _, settings, seed in simulations], threads)
    done: list[tuple[int, str]] = []
    begin = time.monotonic()
    for position, (number, _, _) in enumerate(simulations):
        done.append((number, batch.run(position)))
        if time.monotonic() - begin >= RETURN_S or position + 1 == len(simulations):
            yield done
            done, begin = [], time.monotonic()


def _import_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ConfigError("Ray is not installed: pip install 'flashraid[ray]'") from error


def run_on_ray(
    description: str,
    folder: str | None,
    workers: int | None,
    threads: int,
    progress: Callable[[int, int], object] | None,
    retries: int,
) -> _native.Study:
    """Runs a study on the cluster that this process is connected to, or on one of this machine."""
    ray = _import_ray()
    if folder is None:
        with tempfile.TemporaryDirectory(prefix="flashraid-") as own:
            try:
                return run_on_ray(description, own, workers, threads, progress, retries)
            except Interrupted as stopped:
                # The folder is gone in a moment.
                count = 0 if stopped.study is None else len(stopped.study)
                message = f"the study was stopped: {count} simulations are done; they are in .study"
                raise Interrupted(message, study=stopped.study) from stopped.__cause__
    plan = _native.Plan(description, folder)
    groups = plan.open_groups()
    is_own = not ray.is_initialized()
    if groups and is_own:
        # Workers are other processes, to which nothing of ours need be brought.
        ray.init(num_cpus=None if workers is None else workers * threads, include_dashboard=False, log_to_driver=False)
    try:
        if groups:
            _Driver(ray, plan, description, workers, threads, progress, retries).run(groups)
    except KeyboardInterrupt as stopped:
        # What is done is in the folder; nothing else is begun.
        done = plan.collect()
        from ._study import StudyResult

        kept = f"they are in .study and in {folder}"
        raise Interrupted(
            f"the study was stopped: {len(done)} of {len(plan)} simulations are done; {kept}", study=StudyResult(done)
        ) from stopped
    finally:
        if groups and is_own:
            ray.shutdown()
    if progress is not None:
        progress(len(plan), len(plan))
    return plan.collect()


class _Driver:
    """Hands out batches and takes reports."""

    def __init__(
        self,
        ray: Any,
        plan: _native.Plan,
        description: str,
        workers: int | None,
        threads: int,
        progress: Callable[[int, int], object] | None,
        retries: int,
    ) -> None:
        self.ray = ray
        self.plan = plan
        self.description = description
        self.threads = threads
        self.progress = progress
        self.retries = retries
        cores = int(ray.cluster_resources().get("CPU", 1))
        self.workers = workers if workers is not None else max(1, cores // threads)
        self.task = ray.remote(_work)

    def run(self, groups: list[list[int]]) -> None:
        waiting = deque((batch, 0) for batch in batches(groups, self.workers))
        self._refuse_what_fits_nowhere([batch for batch, _ in waiting])
        is_open = {number for group in groups for number in group}
        running: dict[Any, tuple[list[int], int]] = {}
        savers = ThreadPoolExecutor(SAVERS, "flashraid-saver")
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    batch, losses = waiting.popleft()
                    running[self._begin(batch)] = (batch, losses)
                self._report(len(is_open))
                ready, _ = self.ray.wait(list(running), num_returns=1, timeout=TICK_S, fetch_local=True)
                for stream in ready:
                    batch, losses = running[stream]
                    try:
                        reports = self.ray.get(next(stream))
                    except StopIteration:
                        del running[stream]
                    except self.ray.exceptions.RayTaskError as error:
                        raise error.cause if isinstance(error.cause, Exception) else error from None
                    except self.ray.exceptions.RayError as error:
                        del running[stream]
                        left = [number for number in batch if number in is_open]
                        if losses >= self.retries:
                            message = f"a worker was lost {losses + 1} times with the same simulations: {error}"
                            raise SimulationError(message) from error
                        if left:
                            waiting.append((left, losses + 1))
                    else:
                        new = [(number, report) for number, report in reports if number in is_open]
                        # Most of the time of each goes by until the disk has it.
                        list(savers.map(lambda one: self.plan.keep(*one), new))
                        is_open.difference_update(number for number, _ in new)
        finally:
            for stream in running:
                self.ray.cancel(stream, force=True)
            savers.shutdown()

    def _begin(self, batch: list[int]) -> Any:
        simulations = [(number, *self.plan.simulation(number)) for number in batch]
        task = self.task.options(
            num_cpus=self.threads,
            memory=self.plan.memory_bytes(batch),
            # What is lost is given out again here, without what has come back already.
            max_retries=0,
            num_returns="streaming",
            name="flashraid",
        )
        return task.remote(self.description, simulations, self.threads, os.getcwd())

    def _report(self, left: int) -> None:
        if self.progress is not None:
            self.progress(len(self.plan) - left, len(self.plan))

    def _refuse_what_fits_nowhere(self, all_batches: list[list[int]]) -> None:
        """A task that no node has room for would wait for ever."""
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        most = max((self.plan.memory_bytes(batch) for batch in all_batches), default=0)
        room = max((node.get("memory", 0) for node in nodes), default=0)
        cores = max((node.get("CPU", 0) for node in nodes), default=0)
        if most > room:
            raise ConfigError(
                f"a simulation needs about {most / 2**30:.1f} GiB of memory, and no node has more than {room / 2**30:.1f} GiB; "
                "reduce array.members or ssd.geometry (dies, planes, blocks, pages)"
            )
        if self.threads > cores:
            raise ConfigError(f"threads is {self.threads}, but no node has more than {cores:.0f} cores")
