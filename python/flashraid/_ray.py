"""Studies on a Ray cluster.

The simulations that are still to be run are put into batches of whole warm-up groups, each a task that streams reports back as simulations end.
The driver saves them in the study's folder, if it has one, in the format of the program, and puts the whole together when nothing is left. A batch whose
worker is lost is given out again without what has come back already, so that nothing is lost or there twice.
"""

from __future__ import annotations

import importlib
import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

from . import _native
from ._errors import ConfigError, Interrupted, SimulationError
from ._study import StudyCost, StudyResult

#: The next batch is this part of what is left for a worker: long ones first, so that starting them costs little, and short ones in the end, so that all
#: workers end at about the same time.
BATCHES_OF_REST = 4
#: Batches for each worker at most, about: what begins alike and is divided is warmed up in each of them.
BATCHES_PER_WORKER = 64
#: Simulations of a batch at most, so that a lost worker takes little with it to be done again.
BATCH_MAX = 250
#: Seconds of work whose reports come back together: what their way costs is little beside it, and a lost worker takes little with it.
RETURN_S = 1.0
#: Threads that save reports.
SAVERS = 4
#: Seconds between two looks at signals and progress.
TICK_S = 0.2
#: Ray starts tasks quickly, in the place of one that has ended, only where both ask for the same: memory is rounded up to this.
MEMORY_GRAIN_BYTES = 64 << 20


def batches(groups: list[list[int]], workers: int) -> list[list[int]]:
    """Batches of whole groups; a group is divided only where there would be too few batches for the workers, or it is too long."""
    left = sum(len(group) for group in groups)
    shortest = -(-left // (BATCHES_PER_WORKER * workers))
    # A part of a group repeats its warm-up; so a group is left whole where there are enough of them.
    enough = len(groups) >= BATCHES_OF_REST * workers
    result: list[list[int]] = []
    waiting = deque(groups)
    while waiting:
        size = min(BATCH_MAX, max(shortest, left // (BATCHES_OF_REST * workers), 1))
        batch: list[int] = []
        while waiting and len(batch) < size:
            group = waiting.popleft()
            is_whole = len(group) <= (BATCH_MAX if enough else size - len(batch))
            if is_whole and batch and len(batch) + len(group) > size:
                waiting.appendleft(group)
                break
            room = len(group) if is_whole else size - len(batch)
            batch.extend(group[:room])
            if room < len(group):
                waiting.appendleft(group[room:])
        left -= len(batch)
        result.append(batch)
    return result


def _work(
    description: str, simulations: list[tuple[int, list[tuple[str, str]], int]], threads: int, folder: str, keep_warm: bool
) -> Iterator[tuple[list[tuple[int, str]], float]]:
    """What a worker does: runs simulations one after the other and gives their reports, each with its number, a few at a time where they are short, and
    the seconds for which it has simulated them."""
    # Paths in configurations are relative to the driver's folder, where the cluster shares it.
    if os.path.isdir(folder):
        os.chdir(folder)
    batch = _native.Batch(description, [(settings, seed) for _, settings, seed in simulations], threads, keep_warm)
    numbers = [number for number, _, _ in simulations]
    while numbers:
        reports, simulated_s = batch.run(len(simulations) - len(numbers), RETURN_S)
        yield list(zip(numbers, reports, strict=False)), simulated_s
        del numbers[: len(reports)]


def _import_ray() -> Any:
    try:
        return importlib.import_module("ray")
    except ImportError as error:
        raise ConfigError("Ray is not installed: pip install 'flashraid[ray]'") from error


def run_on_ray(
    description: str,
    folder: str | None,
    force: bool,
    workers: int | None,
    threads: int,
    keep_warm: bool,
    progress: Callable[[int, int], object] | None,
    retries: int,
) -> tuple[_native.Study, StudyCost]:
    """Runs a study on the cluster that this process is connected to, or on one of this machine."""
    ray = _import_ray()
    begin = time.monotonic()
    plan = _native.Plan(description, folder, force)
    groups = plan.open_groups()
    is_own = bool(groups) and not ray.is_initialized()
    start_s = time.monotonic()
    if is_own:
        # Workers are other processes, to which nothing of ours need be brought.
        ray.init(num_cpus=None if workers is None else workers * threads, include_dashboard=False, log_to_driver=False)
    start_s = time.monotonic() - start_s
    cost = StudyCost(workers=0, simulations=0, elapsed_s=0.0, simulated_s=0.0, start_s=start_s, batches=0, lost=0)
    try:
        if groups:
            cost = _Driver(ray, plan, description, workers, threads, keep_warm, progress, retries).run(groups, cost)
        study = plan.take_done()
        cost = replace(cost, elapsed_s=time.monotonic() - begin - start_s)
    except KeyboardInterrupt as stopped:
        # Nothing else is begun.
        done = plan.take_done()
        kept = "they are in .study" if folder is None else f"they are in .study and in {folder}"
        message = f"the study was stopped: {len(done)} of {len(plan)} simulations are done; {kept}"
        raise Interrupted(message, study=StudyResult(done)) from stopped
    finally:
        if is_own:
            ray.shutdown()
    if progress is not None:
        progress(len(plan), len(plan))
    return study, cost


class _Driver:
    """Hands out batches and takes reports."""

    def __init__(
        self,
        ray: Any,
        plan: _native.Plan,
        description: str,
        workers: int | None,
        threads: int,
        keep_warm: bool,
        progress: Callable[[int, int], object] | None,
        retries: int,
    ) -> None:
        self.ray = ray
        self.plan = plan
        self.description = description
        self.threads = threads
        self.keep_warm = keep_warm
        self.progress = progress
        self.retries = retries
        cores = int(ray.cluster_resources().get("CPU", 1))
        self.workers = workers if workers is not None else max(1, cores // threads)
        self.task = ray.remote(_work)

    def run(self, groups: list[list[int]], cost: StudyCost) -> StudyCost:
        """Runs all of these; gives the cost with what it did."""
        waiting = deque((batch, 0) for batch in batches(groups, self.workers))
        self._refuse_what_fits_nowhere([batch for batch, _ in waiting])
        is_open = {number for group in groups for number in group}
        cost = replace(cost, workers=self.workers, simulations=len(is_open))
        running: dict[Any, tuple[list[int], int]] = {}
        savers = ThreadPoolExecutor(SAVERS, "flashraid-saver")
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    batch, losses = waiting.popleft()
                    running[self._begin(batch)] = (batch, losses)
                    cost = replace(cost, batches=cost.batches + 1)
                self._report(len(is_open))
                ready, _ = self.ray.wait(list(running), num_returns=1, timeout=TICK_S, fetch_local=True)
                for stream in ready:
                    batch, losses = running[stream]
                    try:
                        reports, simulated_s = self.ray.get(next(stream))
                    except StopIteration:
                        del running[stream]
                    except self.ray.exceptions.RayTaskError as error:
                        raise error.cause if isinstance(error.cause, Exception) else error from None
                    except self.ray.exceptions.RayError as error:
                        del running[stream]
                        cost = replace(cost, lost=cost.lost + 1)
                        left = [number for number in batch if number in is_open]
                        if losses >= self.retries:
                            message = f"a worker was lost {losses + 1} times with the same simulations: {error}"
                            raise SimulationError(message) from error
                        if left:
                            waiting.append((left, losses + 1))
                    else:
                        new = [(number, report) for number, report in reports if number in is_open]
                        # Most of the time of each may go by until the disk has it.
                        list(savers.map(self.plan.keep, (new[saver::SAVERS] for saver in range(SAVERS))))
                        is_open.difference_update(number for number, _ in new)
                        cost = replace(cost, simulated_s=cost.simulated_s + simulated_s)
        finally:
            for stream in running:
                self.ray.cancel(stream, force=True)
            savers.shutdown()
        return cost

    def _begin(self, batch: list[int]) -> Any:
        simulations = [(number, *self.plan.simulation(number)) for number in batch]
        task = self.task.options(
            num_cpus=self.threads,
            memory=self._memory_bytes(batch),
            # What is lost is given out again here, without what has come back already.
            max_retries=0,
            num_returns="streaming",
            name="flashraid",
        )
        return task.remote(self.description, simulations, self.threads, os.getcwd(), self.keep_warm)

    def _memory_bytes(self, batch: list[int]) -> int:
        return -(-self.plan.memory_bytes(batch) // MEMORY_GRAIN_BYTES) * MEMORY_GRAIN_BYTES

    def _report(self, left: int) -> None:
        if self.progress is not None:
            self.progress(len(self.plan) - left, len(self.plan))

    def _refuse_what_fits_nowhere(self, all_batches: list[list[int]]) -> None:
        """A task that no node has room for would wait for ever."""
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        most = max((self._memory_bytes(batch) for batch in all_batches), default=0)
        room = max((node.get("memory", 0) for node in nodes), default=0)
        cores = max((node.get("CPU", 0) for node in nodes), default=0)
        if most > room:
            raise ConfigError(
                f"a simulation needs about {most / 2**30:.1f} GiB of memory, and no node has more than {room / 2**30:.1f} GiB; "
                "reduce array.members or ssd.geometry (dies, planes, blocks, pages)"
            )
        if self.threads > cores:
            raise ConfigError(f"threads is {self.threads}, but no node has more than {cores:.0f} cores")
