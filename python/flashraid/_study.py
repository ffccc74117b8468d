"""Studies: every combination of varied keys, each with every seed."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from . import _native
from ._config import Config, spec, whole
from ._errors import ConfigError, Interrupted
from ._report import Report
from ._requests import Columns, Workload, write_trace
from ._shown import Shown, duration, table_html
from ._table import Table


class Study:
    """A grid of simulations.

    All points see the same workload and the same seeds, and simulations that begin alike share their warm-up. Methods give a new study, so that
    they can be chained:

    >>> study = (
    ...     Study({"ssd": {"geometry": {"dies": 1, "blocks": 64}}, "workload": {"requests": 100}})
    ...     .vary("array.members", [2, 4])
    ...     .vary("coordination.scheme", ["local", "ideal"])
    ...     .seeds(2)
    ... )
    >>> len(study.run().reports)
    8
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._settings: dict[str, Any] = {}
        self._axes: tuple[tuple[str, tuple[Any, ...]], ...] = ()
        self._variants: dict[str, Mapping[str, Mapping[str, Any]]] = {}
        self._workload: Workload | None = None
        self._seeds = 1
        self._seed: int | None = None
        self._baseline: Any = None
        self._shard: tuple[int, int] | None = None

    def _with(self, **changed: Any) -> Study:
        study = Study(self._config)
        study.__dict__.update(self.__dict__)
        study.__dict__.update({f"_{name}": value for name, value in changed.items()})
        return study

    def set(self, key: str, value: Any) -> Study:
        """Replaces a key of the configuration for all points, as ``--set`` of the program."""
        return self._with(settings={**self._settings, key: value})

    def vary(self, key: str, values: Iterable[Any]) -> Study:
        """Varies a key; of several, the last varies fastest. A text is read as on the command line."""
        if isinstance(values, (str, bytes, Mapping)):
            raise ConfigError(f"{key} is varied over {values!r}, but must be varied over a list of values")
        return self._with(axes=(*self._axes, (key, tuple(values))))

    def variants(self, variants: Mapping[str, Mapping[str, Any]], name: str = "variant") -> Study:
        """Varies several keys together: each variant has a name, and the settings that it stands for.

        >>> study = Study({"ssd": {"geometry": {"dies": 1, "blocks": 64}}, "workload": {"requests": 100}})
        >>> remedies = {"none": {}, "polling": {"ssd.gc.preemption": "semi", "ssd.gc.pipeline": True}}
        >>> study.variants(remedies).run().settings
        [{'variant': 'none'}, {'variant': 'polling'}]

        :param name: what stands in place of a key. With a name such as ``workload.case`` the variants are different work, which is not compared; with
            others they are remedies, and the first is the baseline.
        """
        if not isinstance(variants, Mapping) or not all(isinstance(settings, Mapping) for settings in variants.values()):
            raise ConfigError('variants must be a dict of names and settings, such as {"none": {}, "semi": {"ssd.gc.preemption": "semi"}}')
        named = {str(value): dict(settings) for value, settings in variants.items()}
        return self._with(axes=(*self._axes, (name, tuple(named))), variants={**self._variants, name: named})

    def workload(self, requests: Workload | Columns) -> Study:
        """Takes requests of your own in place of the configuration's ``[workload]``, of which nothing counts then.

        They are kept as a trace: in the study's folder, so that the study can go on from there, or in a temporary file. ``high_priority``, ``fua``,
        ``stream``, trims, flushes and a ``depth`` do not fit into one and are refused. ``.set("workload.requests", 1000)`` takes the first of them only.
        """
        own = requests if isinstance(requests, Workload) else Workload(requests)
        if own._loop[0] is not None:
            raise ConfigError("a study sends requests at their times; run() takes a workload with a depth")
        column = own._native.beyond_a_trace()
        if column is not None:
            raise ConfigError(f"the requests of a study can't have {column}, which no trace holds; run() takes such requests")
        return self._with(workload=own)

    def seeds(self, seeds: int) -> Study:
        """Runs every point with so many consecutive seeds."""
        return self._with(seeds=whole("seeds", seeds, least=1))

    def seed(self, seed: int) -> Study:
        """The first seed, in place of the configuration's."""
        return self._with(seed=seed)

    def baseline(self, value: Any) -> Study:
        """The value, or ``KEY=VALUE``, that the others are compared with; by default the first value of the first varied key."""
        return self._with(baseline=value)

    def shard(self, index: int, count: int) -> Study:
        """Only part ``index`` of ``count``, from 1; :func:`merge` puts the folders of all parts together."""
        return self._with(shard=(whole("shard", index, least=1), whole("shard", count, least=1)))

    def _spec(self, folder: str | None = None) -> str:
        settings = self._settings
        if self._workload is not None:
            settings = {"workload": _trace(self._workload, folder), **settings}
        return spec(
            self._config,
            settings=settings,
            seed=self._seed,
            vary=self._axes,
            variants=self._variants,
            baseline=self._baseline,
            seeds=self._seeds,
            shard=self._shard,
        )

    def __len__(self) -> int:
        """How many simulations it has; checks every point."""
        with tempfile.TemporaryDirectory(prefix="flashraid-") as folder:
            return len(_native.Plan(self._spec(folder), None, False))

    def run(
        self,
        on: Literal["local", "ray"] = "local",
        *,
        workers: int | None = None,
        threads: int | None = None,
        folder: str | os.PathLike[str] | None = None,
        force: bool = False,
        keep_warm: bool = True,
        progress: Callable[[int, int], object] | bool | None = None,
        retries: int = 3,
    ) -> StudyResult:
        """Checks every point, then runs what the folder does not hold yet. Ctrl-C ends the study and raises :class:`Interrupted`, which has what was done.

        :param on: ``"local"``: threads of this process. ``"ray"``: tasks of a Ray cluster, the one that ``ray.init`` connected to, else one on this machine
            (``pip install flashraid[ray]``). Both give the same results, in the same folder.
        :param workers: simulations at a time; without it one for each processor, on Ray one for each processor of the cluster.
        :param threads: threads of each simulation.
        :param folder: keeps each simulation as it ends. The same study goes on from there, also one that the program ``flashraid compare --out`` began. The
            folder of another study, and one with other results, is refused.
        :param force: takes the folder whatever it holds.
        :param keep_warm: keeps the states after long warm-ups in the user's cache folder, on Ray in that of each node. Changes no result.
        :param progress: called now and then with the simulations that are done, and all of them; what it raises ends the study. ``True`` writes a line on
            standard error.
        :param retries: on Ray, how often the simulations of a lost worker are given to another one.
        """
        workers = None if workers is None else whole("workers", workers, least=1)
        threads = None if threads is None else whole("threads", threads, least=1)
        if on not in ("local", "ray"):
            raise ConfigError(f"on is {on!r}, but must be 'local' or 'ray'")
        where = None if folder is None else os.fspath(folder)
        told = None if progress is False else _progress_line if progress is True else progress
        if self._workload is None:
            return self._run(on, None, where, workers, threads, force, keep_warm, told, retries)
        if where is not None:
            trace = _trace_path(self._workload, where)
            was_there = os.path.exists(trace)
            try:
                return self._run(on, where, where, workers, threads, force, keep_warm, told, retries)
            except ConfigError:
                # A study that is refused leaves nothing in the folder.
                if not was_there and os.path.exists(trace):
                    os.remove(trace)
                raise
        with tempfile.TemporaryDirectory(prefix="flashraid-") as own:
            return self._run(on, own, None, workers, threads, force, keep_warm, told, retries)

    def _run(
        self,
        on: str,
        traces: str | None,
        folder: str | None,
        workers: int | None,
        threads: int | None,
        force: bool,
        keep_warm: bool,
        progress: Callable[[int, int], object] | None,
        retries: int,
    ) -> StudyResult:
        description = self._spec(traces)
        if on == "ray":
            from ._ray import run_on_ray

            return StudyResult(*run_on_ray(description, folder, force, workers, threads or 1, keep_warm, progress, retries))
        plan = _native.Plan(description, folder, force)
        native, raised = plan.run(workers=workers, threads=threads, keep_warm=keep_warm, progress=progress)
        return _finished(native, raised, len(plan))


def _trace(workload: Workload, folder: str | None) -> dict[str, Any]:
    """The ``[workload]`` that replays a workload, which is written into the folder unless it is there."""
    assert folder is not None
    path = _trace_path(workload, folder)
    if not os.path.exists(path):
        os.makedirs(folder, exist_ok=True)
        written = write_trace(workload, path, format=_TRACE_FORMAT)
        lost = [name for name, count in written.items() if name != "requests" and count]
        if lost:
            os.remove(path)
            raise ConfigError(f"the requests of a study can't be kept as a trace without a loss: {', '.join(lost)}")
    return {"kind": "trace", "path": path, "format": _TRACE_FORMAT}


def _trace_path(workload: Workload, folder: str) -> str:
    """The file that keeps a workload, named by its requests."""
    digest = hashlib.sha256(repr(sorted(workload._native.columns().items())).encode()).hexdigest()[:16]
    return os.path.join(os.path.abspath(folder), f"workload-{digest}.trace")


#: A format that keeps nanoseconds and bytes.
_TRACE_FORMAT = "msr-window"


def _progress_line(done: int, simulations: int) -> None:
    """Says how far a study is, on a line that is written over."""
    sys.stderr.write(f"\r{done} of {simulations} simulations{chr(10) if done == simulations else ''}")
    sys.stderr.flush()


def _finished(native: _native.Study, raised: BaseException | None, simulations: int) -> StudyResult:
    result = StudyResult(native)
    if isinstance(raised, KeyboardInterrupt):
        message = f"the study was stopped: {len(native)} of {simulations} simulations are done; they are in .study"
        raise Interrupted(message, study=result) from raised
    if raised is not None:
        raise raised
    return result


@dataclass(frozen=True)
class StudyCost:
    """What a study on Ray took, and how much of it was not simulation."""

    workers: int
    """Simulations at a time."""
    simulations: int
    """Those that were run; the others were in the folder."""
    elapsed_s: float
    """From the call to its end, without the start of Ray itself."""
    simulated_s: float
    """What the workers simulated, warm-ups included; a sum over the workers."""
    start_s: float
    """The start of Ray, if it did not run yet."""
    batches: int
    """Tasks that the simulations were put into."""
    lost: int
    """Tasks that were lost with their workers and given out again."""

    @property
    def overhead_share(self) -> float:
        """The part of the workers' time in which nothing was simulated."""
        given_s = self.workers * self.elapsed_s
        return 1 - self.simulated_s / given_s if given_s > 0 else 0.0

    @property
    def overhead_ms(self) -> float:
        """The same in milliseconds of a worker for each simulation."""
        return self.overhead_share * self.workers * self.elapsed_s * 1e3 / self.simulations if self.simulations else 0.0

    def __str__(self) -> str:
        if self.simulations == 0:
            return "Nothing was left to run."
        lost = f", {self.lost} of them lost and given out again" if self.lost else ""
        start = f" (and {self.start_s:.1f} s to start Ray)" if self.start_s >= 0.05 else ""
        return (
            f"On Ray: {self.simulations} simulations in {self.batches} batches{lost}, {self.workers} at a time, in {self.elapsed_s:.2f} s{start}; "
            f"overhead {self.overhead_ms:.2f} ms a simulation, {self.overhead_share:.1%} of the workers' time."
        )


class StudyResult(Shown[_native.Study]):
    """What a study left."""

    _chart = "mean-response"

    cost: StudyCost | None
    """What it took on Ray, which its text ends with; ``None`` for others."""

    def __init__(self, native: _native.Study, cost: StudyCost | None = None) -> None:
        self._native = native
        self.cost = cost

    @property
    def points(self) -> Table:
        """A row for each setting and seed: a column for each varied key, the seed, and each figure, named as in the document."""
        return Table(self._native.points())

    @property
    def summary(self) -> Table:
        """A row for each point and figure: the varied keys, the ``figure``, its ``mean`` over the seeds, the ``ratio`` to the baseline, and half the 95 %
        confidence interval of both (``ci95``, ``ratio_ci95``)."""
        return Table(self._native.summary())

    @cached_property
    def reports(self) -> list[Report]:
        """The reports in the order of points and seeds."""
        return [Report(report) for report in self._native.reports()]

    @property
    def settings(self) -> list[dict[str, str]]:
        """The varied keys of each report, with their values as texts."""
        return [dict(settings) for settings in self._native.settings()]

    def __len__(self) -> int:
        return len(self._native)

    def json(self) -> str:
        """The document of ``flashraid compare --json``."""
        return self._native.json()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The same as dicts and lists; ``document["summary"]`` has means, confidence intervals and ratios to the baseline."""
        document: dict[str, Any] = json.loads(self.json())
        return document

    def __str__(self) -> str:
        return super().__str__() if self.cost is None else f"{super().__str__()}{self.cost}\n"

    def __repr__(self) -> str:
        return f"<flashraid study of {len(self)} simulations{', a part of it' if self._native.missing else ''}>"

    def _repr_html_(self) -> str:
        """Means with their ratios to the baseline, for notebooks; :meth:`show` has the whole page."""
        missing = self._native.missing
        if missing:
            return table_html("flashraid study", [], [], [missing])
        rows = []
        for point in self.document["summary"]:
            figures = point["figures"]
            cells = [" · ".join(map(str, point["settings"].values())) or "the only point"]
            for name in ("response_us.all.mean", "response_us.all.p99", "response_us.all.p99_9"):
                mean, ratio = figures[name]["mean"], figures[name]["ratio"]
                cells.append(duration(mean) + ("" if ratio is None or point["settings"] == point["baseline"] else f" (× {ratio:.3g})"))
            for name in ("iops.all", "flash.write_amplification"):
                mean = figures[name]["mean"]
                cells.append("" if mean is None else f"{mean:,.4g}")
            rows.append(cells)
        names = [" · ".join(self.document["vary"]), "mean", "p99", "p99.9", "IOPS", "write amplification"]
        return table_html("flashraid study", names, rows, self.document["conclusions"])

    def __reduce__(self) -> tuple[Any, ...]:
        return (_study_result, (self._native.state(), self.cost))


def _study_result(state: str, cost: StudyCost | None) -> StudyResult:
    """A result that was pickled."""
    return StudyResult(_native.Study.of_state(state), cost)


def compare(
    config: Config,
    vary: Mapping[str, Sequence[Any]],
    *,
    baseline: Any = None,
    seeds: int = 1,
    seed: int | None = None,
    workers: int | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> StudyResult:
    """Runs a study in one call, as ``flashraid compare`` does.

    >>> small = {"ssd": {"geometry": {"dies": 1, "blocks": 64}}, "workload": {"requests": 100}}
    >>> print(compare(small, {"coordination.scheme": ["local", "ideal"]}).document["summary"][1]["settings"])
    {'coordination.scheme': 'ideal'}
    """
    study = Study(config).seeds(seeds)
    for key, values in vary.items():
        study = study.vary(key, values)
    if baseline is not None:
        study = study.baseline(baseline)
    if seed is not None:
        study = study.seed(seed)
    return study.run(workers=workers, folder=folder)


def merge(folders: Sequence[str | os.PathLike[str]]) -> StudyResult:
    """Puts the folders of all shards of one study together, whether the program or this package ran them."""
    return StudyResult(_native.merge([os.fspath(folder) for folder in folders]))
