"""Studies: every combination of varied keys, each with every seed."""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from . import _native
from ._config import Config, refused, spec, whole, whole_or_none
from ._errors import ConfigError, Interrupted
from ._report import Report
from ._requests import Columns, Workload, write_trace
from ._shown import Shown, duration, table_html
from ._table import Table


class Study:
    """A grid of simulations.

    All points see the same workload and the same seeds, and simulations that begin alike share their warm-up. Methods give a new study, so that
    they can be chained. Keys and values are checked by :meth:`run`.

    Parameters
    ----------
    config
        As for :func:`run`.

    Examples
    --------
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
        """Replaces a key of the configuration for all points, as ``--set`` of the program.

        Parameters
        ----------
        key
            A key such as ``"ssd.gc.victim"``.
        value
            Its value. A text is read as on the command line.

        Returns
        -------
        Study
            A new study.
        """
        return self._with(settings={**self._settings, key: value})

    def vary(self, key: str, values: Iterable[Any]) -> Study:
        """Varies a key; of several, the last varies fastest.

        Parameters
        ----------
        key
            A key such as ``"array.members"``.
        values
            Its values. A text is read as on the command line.

        Returns
        -------
        Study
            A new study.

        Raises
        ------
        ConfigError
            If the values are a text or a mapping.
        """
        if isinstance(values, (str, bytes, Mapping)):
            raise ConfigError(f"{key} is varied over {values!r}, but must be varied over a list of values")
        return self._with(axes=(*self._axes, (key, tuple(values))))

    def variants(self, variants: Mapping[str, Mapping[str, Any]], name: str = "variant") -> Study:
        """Varies several keys together.

        Parameters
        ----------
        variants
            For each variant its name, and the settings that it stands for.
        name
            What stands in place of a key. With a name such as ``workload.case`` the variants are different work, which is not compared; with
            others they are remedies, and the first is the baseline.

        Returns
        -------
        Study
            A new study.

        Raises
        ------
        ConfigError
            If these are no names and settings.

        Examples
        --------
        >>> study = Study({"ssd": {"geometry": {"dies": 1, "blocks": 64}}, "workload": {"requests": 100}})
        >>> remedies = {"none": {}, "polling": {"ssd.gc.preemption": "semi", "ssd.gc.pipeline": True}}
        >>> study.variants(remedies).run().settings
        [{'variant': 'none'}, {'variant': 'polling'}]
        """
        if not isinstance(variants, Mapping) or not all(isinstance(settings, Mapping) for settings in variants.values()):
            raise ConfigError('variants must be a dict of names and settings, such as {"none": {}, "semi": {"ssd.gc.preemption": "semi"}}')
        named = {str(value): dict(settings) for value, settings in variants.items()}
        return self._with(axes=(*self._axes, (name, tuple(named))), variants={**self._variants, name: named})

    def workload(self, requests: Workload | Columns) -> Study:
        """Takes requests of your own in place of the configuration's ``[workload]``, of which nothing counts then.

        They are kept as a trace: in the study's folder, so that the study can go on from there, or in a temporary file.
        ``.set("workload.requests", 1000)`` takes the first of them only.

        Parameters
        ----------
        requests
            As for :class:`Workload`.

        Returns
        -------
        Study
            A new study.

        Raises
        ------
        ConfigError
            If a column can't be used, or there are ``high_priority``, ``fua``, ``stream``, trims, flushes or a ``depth``, which no trace holds.
        """
        own = requests if isinstance(requests, Workload) else Workload(requests)
        if own._loop[0] is not None:
            raise ConfigError("a study sends requests at their times; run() takes a workload with a depth")
        column = own._native.beyond_a_trace()
        if column is not None:
            raise ConfigError(f"the requests of a study can't have {column}, which no trace holds; run() takes such requests")
        return self._with(workload=own)

    def seeds(self, seeds: int) -> Study:
        """Runs every point with several consecutive seeds.

        Parameters
        ----------
        seeds
            How many, at least 1.

        Returns
        -------
        Study
            A new study.

        Raises
        ------
        ConfigError
            If it is no such number.
        """
        return self._with(seeds=whole("seeds", seeds, least=1))

    def seed(self, seed: int) -> Study:
        """Sets the first seed, in place of the configuration's.

        Parameters
        ----------
        seed
            A whole number from 0.

        Returns
        -------
        Study
            A new study.
        """
        return self._with(seed=seed)

    def baseline(self, value: Any) -> Study:
        """Sets what the others are compared with; by default it is the first value of the first varied key.

        Parameters
        ----------
        value
            A value of a varied key, or ``"KEY=VALUE"``.

        Returns
        -------
        Study
            A new study.
        """
        return self._with(baseline=value)

    def shard(self, index: int, count: int) -> Study:
        """Takes only a part of the study; :func:`merge` puts the folders of all parts together.

        Parameters
        ----------
        index
            Which part, from 1.
        count
            The number of parts.

        Returns
        -------
        Study
            A new study.

        Raises
        ------
        ConfigError
            If one of them is below 1.
        """
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
        """How many simulations it has; checks every point, and raises :class:`ConfigError` if one can't be run."""
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
        """Checks every point, then runs what the folder does not hold yet.

        Parameters
        ----------
        on
            ``"local"``: threads of this process. ``"ray"``: tasks of a Ray cluster, the one that ``ray.init`` connected to, else one on this machine
            (``pip install flashraid[ray]``). Both give the same results, in the same folder.
        workers
            Simulations at a time, at least 1; without it one for each processor, on Ray one for each processor of the cluster.
        threads
            Threads of each simulation, at least 1.
        folder
            Keeps each simulation as it ends. The same study goes on from there, also one that the program ``flashraid compare --out`` began. The
            folder of another study, and one with other results, is refused.
        force
            Takes the folder whatever it holds.
        keep_warm
            Keeps the states after long warm-ups in the user's cache folder, on Ray in that of each node. Changes no result.
        progress
            Called now and then with the simulations that are done, and all of them; what it raises ends the study. ``True`` shows a bar of tqdm where that
            is installed, else a line on standard error.
        retries
            On Ray, how often the simulations of a lost worker are given to another one.

        Returns
        -------
        StudyResult
            The reports of all simulations, and their comparison.

        Raises
        ------
        ConfigError
            If an argument, a point or the folder can't be used.
        SimulationError
            If a simulation can't be finished, or workers were lost again and again.
        Interrupted
            If Ctrl-C ended the study; it has what was done.
        """
        workers = whole_or_none("workers", workers, least=1)
        threads = whole_or_none("threads", threads, least=1)
        retries = whole("retries", retries)
        if on not in ("local", "ray"):
            raise ConfigError(f"on is {on!r}, but must be 'local' or 'ray'")
        where = None if folder is None else os.fspath(folder)
        with _told(progress) as told:
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


@contextmanager
def _told(progress: Callable[[int, int], object] | bool | None) -> Iterator[Callable[[int, int], object] | None]:
    """What is called with the progress of a study."""
    if progress is not True:
        yield None if progress is False else progress
        return
    try:
        tqdm = importlib.import_module("tqdm.auto").tqdm
    except ImportError:
        yield _progress_line
        return
    # None is shown of a study that is refused.
    bars: list[Any] = []

    def tell(done: int, simulations: int) -> None:
        if not bars:
            bars.append(tqdm(total=simulations, initial=done, unit=" simulations"))
        bars[0].update(done - bars[0].n)

    try:
        yield tell
    finally:
        for bar in bars:
            bar.close()


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
        """A row for each setting and seed: a column for each varied key, the seed, and each figure.

        Columns are named as in the document with underscores, such as ``array_members`` and ``response_us_all_p99``, so that SQL and pandas need no quotes.
        """
        return Table(self._native.points())

    @property
    def summary(self) -> Table:
        """A row for each point and figure: the varied keys, the ``figure`` as its column in :attr:`points` is named, its ``mean`` over the seeds, the
        ``ratio`` to the baseline, and half the 95 % confidence interval of both (``ci95``, ``ratio_ci95``).

        Raises
        ------
        SimulationError
            If only a part of the study is there.
        """
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
        """Returns the document of ``flashraid compare --json``.

        Returns
        -------
        str
            The text of the document.

        Raises
        ------
        SimulationError
            If only a part of the study is there.
        """
        return self._native.json()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The same as dicts and lists; ``document["summary"]`` has means, confidence intervals and ratios to the baseline.

        Raises
        ------
        SimulationError
            If only a part of the study is there.
        """
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

    Parameters
    ----------
    config
        As for :func:`run`.
    vary
        For each varied key its values.
    baseline
        The value, or ``"KEY=VALUE"``, that the others are compared with.
    seeds
        Seeds of each point, at least 1.
    seed
        The first seed, in place of the configuration's.
    workers
        Simulations at a time, at least 1; without it one for each processor.
    folder
        Keeps each simulation as it ends, as for :meth:`Study.run`.

    Returns
    -------
    StudyResult
        The reports of all simulations, and their comparison.

    Raises
    ------
    ConfigError
        If an argument, a point or the folder can't be used.
    SimulationError
        If a simulation can't be finished.
    Interrupted
        If Ctrl-C ended the study; it has what was done.

    Examples
    --------
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
    """Puts the folders of all shards of one study together, whether the program or this package ran them.

    Parameters
    ----------
    folders
        The folders, in any order.

    Returns
    -------
    StudyResult
        The result of the whole study.

    Raises
    ------
    ConfigError
        If there are no folders, one is of another study, or simulations are in none of them.
    """
    if isinstance(folders, (str, os.PathLike)) or not folders:
        found = folders if isinstance(folders, str) else os.fspath(folders) if isinstance(folders, os.PathLike) else []
        raise refused("folders", found, "a list of at least one folder", 'name the folders of all shards, such as merge(["part-1", "part-2"])')
    return StudyResult(_native.merge([os.fspath(folder) for folder in folders]))
