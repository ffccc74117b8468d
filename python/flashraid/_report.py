"""What one run reports."""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from . import _native
from ._errors import ConfigError
from ._parts import Collection, Flash, Lost, Member
from ._shown import Shown, duration, table_html
from ._table import Table

T = TypeVar("T")


def _build(of: type[T], document: Mapping[str, Any]) -> T:
    """A dataclass of a part of a document. What the document lacks is ``None``; ``_names`` says where names differ, which is where units are added."""
    names: Mapping[str, str] = getattr(of, "_names", {})
    types = typing.get_type_hints(of)
    values: dict[str, Any] = {}
    for field in fields(typing.cast(Any, of)):
        value = document.get(names.get(field.name, field.name))
        # The type of a part that may be missing is a union with ``None``.
        for kind in (types[field.name], *typing.get_args(types[field.name])):
            if isinstance(value, Mapping) and hasattr(kind, "__dataclass_fields__"):
                value = _build(kind, value)
        values[field.name] = value
    return of(**values)


@dataclass(frozen=True)
class ResponseTime:
    """Response times, in microseconds. Moments are exact, percentiles at most 0.1 % above the exact value; all but the count are ``None`` without requests."""

    count: int
    mean_us: float | None
    stddev_us: float | None
    min_us: float | None
    max_us: float | None
    p50_us: float | None
    p90_us: float | None
    p95_us: float | None
    p99_us: float | None
    p99_9_us: float | None
    p99_99_us: float | None
    cdf_us: list[tuple[float, float]]
    """Points: response time, share of the requests that took no longer."""

    _names: ClassVar[dict[str, str]] = {
        f"{name}_us": name
        for name in ("mean", "stddev", "min", "max", "p50", "p90", "p95", "p99", "p99_9", "p99_99", "cdf")
    }


@dataclass(frozen=True)
class Response:
    """Response times of all requests, of reads and of writes; and of what makes data safe from a loss of power."""

    all: ResponseTime
    read: ResponseTime
    write: ResponseTime
    sync: ResponseTime | None = None
    """Flushes, each with the write before it, and forced writes; ``None`` without them."""


@dataclass(frozen=True)
class TimeParts:
    """Parts of the mean response time, in microseconds. They add up to it."""

    queue: float
    """Behind other requests' operations."""
    collection: float
    """Behind garbage collection."""
    parity: float
    """Reads ahead of writes, and locks of stripes."""
    cache: float
    """Waiting for room in the write cache, and its own time."""
    transfer: float
    """Transfers over channel and link."""
    flash: float
    """The flash array's own reads and programs."""
    other: float
    """Commands, and the rest."""


@dataclass(frozen=True)
class Time:
    """Parts of the mean response time of all requests, and of the slowest; ``None`` where there are too few requests."""

    all: TimeParts | None
    slowest_10_percent: TimeParts | None
    slowest_1_percent: TimeParts | None
    slowest_0_1_percent: TimeParts | None


@dataclass(frozen=True)
class PairedFigure:
    """A figure of a run, and of the same run with one thing changed; ``None`` without requests."""

    as_is_us: float | None
    """The run as it is."""
    without_us: float | None
    """The changed run."""
    difference_us: float | None
    """What the changed thing costs: the run as it is, minus the changed run."""
    interval_half_width_us: float | None
    """Half of the 95 % confidence interval of the difference, from ten batches of the same requests; ``None`` if these are too short."""

    _names: ClassVar[dict[str, str]] = {
        f"{name}_us": name for name in ("as_is", "without", "difference", "interval_half_width")
    }


@dataclass(frozen=True)
class PairedFigures:
    """Mean and percentiles of a run, and of the same run with one thing changed."""

    mean: PairedFigure
    p99: PairedFigure
    p99_9: PairedFigure


@dataclass(frozen=True)
class PairedResponse:
    """Response times of all requests, of reads and of writes, of a run and of the same run with one thing changed."""

    all: PairedFigures
    read: PairedFigures
    write: PairedFigures


@dataclass(frozen=True)
class WaitedAndCaused:
    """Shares of a mean response time."""

    waited: float
    """For which requests waited (:attr:`Report.time_us`)."""
    caused: float
    """By which it is shorter with the change."""


@dataclass(frozen=True)
class WaitedAndCausedShares:
    """Shares of the mean of all requests, and of the slowest of each run."""

    all: WaitedAndCaused | None
    slowest_10_percent: WaitedAndCaused | None
    slowest_1_percent: WaitedAndCaused | None
    slowest_0_1_percent: WaitedAndCaused | None


@dataclass(frozen=True)
class PairedDifference:
    """Differences between a run and the same run with one thing changed."""

    response: PairedResponse
    shares: WaitedAndCausedShares | None

    _names: ClassVar[dict[str, str]] = {"response": "response_us"}


@dataclass(frozen=True)
class Because:
    """What causes the response times: the same requests again with one thing changed. A change that was not tried is ``None``."""

    no_collection: PairedDifference | None
    no_parity: PairedDifference | None
    reads_alone: PairedDifference | None
    one_at_a_time: PairedDifference | None
    left_out: list[dict[str, str]] | None
    """Changes that were not tried, each with its ``reason``; ``None`` if there are none."""
    stopped: bool
    """The changed runs were stopped; the report itself is complete."""


@dataclass(frozen=True)
class Counts:
    """Numbers of requests."""

    all: int
    read: int
    write: int
    trim: int | None
    flush: int | None


@dataclass(frozen=True)
class Rates:
    """Requests per second; ``None`` over no time."""

    all: float | None
    read: float | None
    write: float | None


@dataclass(frozen=True)
class Bandwidth:
    """Bandwidth over intervals."""

    mean_mb_s: float | None
    stddev_mb_s: float | None
    cv: float | None
    interval_ms: float
    intervals: int
    overall_mb_s: float | None

    _names: ClassVar[dict[str, str]] = {f"{name}_mb_s": name for name in ("mean", "stddev", "overall")}


@dataclass(frozen=True)
class Verdict:
    """How far the figures can be trusted."""

    load: str
    """``stable``, ``saturated``, ``unstable``, ``closed`` or ``data lost``."""
    steady: bool
    steady_from_ns: int | None
    deepest_percentile: str | None
    """The deepest percentile with ten requests beyond it."""
    marks: list[str]
    """Conditions that make figures doubtful: ``nothing measured``, ``data lost``, ``not steady``, ``not judged``, ``few samples``,
    ``short loop``, ``little wear``."""


@dataclass(frozen=True)
class Owed:
    """What was still to be done at the end of the measured time for what had been written."""

    buffered_bytes: int
    moves_pages: int
    credit_pages: int
    """Pages that collection would have to program to win back the free space that the run used up."""
    credit_share: float | None
    """The same as a share of the programmed pages."""
    collection_us: float


@dataclass(frozen=True)
class Speed:
    """Speed of the simulator in this run; differs from run to run."""

    host_page_ops: int
    flash_page_ops: int
    host_page_ops_per_s: float
    requests_per_s: float
    warm_up_s: float
    run_s: float
    peak_rss_bytes: int | None


class Report(Shown[_native.Report]):
    """What one run reports: the document of ``flashraid run --json`` with attributes.

    Names say their units. A figure that is not defined, such as a percentile of no requests, is ``None``. :attr:`document` has everything, also what has
    no attribute here.
    """

    def __init__(self, native: _native.Report, requests: _native.Table | None = None) -> None:
        self._native = native
        self._requests = None if requests is None else Table(requests)

    @classmethod
    def from_json(cls, text: str) -> Report:
        """Reads a report back. Its requests are not in the document.

        Parameters
        ----------
        text
            The document that :meth:`json`, ``flashraid run --json`` or ``report.json`` has.

        Returns
        -------
        Report
            The report.

        Raises
        ------
        ConfigError
            If the text is no report of flashraid.
        """
        return cls(_native.Report.from_json(text))

    def json(self) -> str:
        """Returns the JSON document, byte for byte as ``flashraid run --json`` prints it.

        Returns
        -------
        str
            The text of the document.
        """
        return self._native.json()

    def json_without_wall_clock(self) -> str:
        """Returns the document without what differs between two runs of the same inputs: times of the wall clock, rates, memory.

        Returns
        -------
        str
            The text of the document.
        """
        return self._native.json_without_wall_clock()

    @cached_property
    def document(self) -> dict[str, Any]:
        """The JSON document as dicts and lists."""
        document: dict[str, Any] = json.loads(self.json())
        return document

    def _part(self, of: type[T], name: str) -> T:
        return _build(of, self.document[name])

    @property
    def seed(self) -> int:
        """The seed of the run."""
        seed: int = self.document["seed"]
        return seed

    @property
    def config(self) -> dict[str, Any]:
        """The configuration with every preset and default filled in; running it gives the same report."""
        config: dict[str, Any] = self.document["config"]
        return config

    @property
    def config_hash(self) -> str:
        """The hash of :attr:`config`."""
        text: str = self.document["config_hash"]
        return text

    @property
    def simulated_ns(self) -> int:
        """Simulated time."""
        time_ns: int = self.document["simulated_ns"]
        return time_ns

    @property
    def measured_from_ns(self) -> int:
        """When the statistics begin."""
        time_ns: int = self.document["measured_from_ns"]
        return time_ns

    @property
    def measured_to_ns(self) -> int:
        """When they end: the last answer of a measured request."""
        time_ns: int = self.document["measured_to_ns"]
        return time_ns

    @property
    def load_ns(self) -> int:
        """The time over which requests per second and bandwidth are taken: as long as places of a closed loop's depth were in use on average."""
        time_ns: int = self.document["load_ns"]
        return time_ns

    @cached_property
    def owed(self) -> Owed:
        """What was still to be done at the end of the measured time."""
        return self._part(Owed, "owed")

    @property
    def wall_s(self) -> float:
        """Time that the run took, warm-up included."""
        wall_s: float = self.document["wall_s"]
        return wall_s

    @property
    def partial(self) -> bool:
        """The run was stopped before its end."""
        partial: bool = self.document["partial"]
        return partial

    @property
    def warnings(self) -> list[str]:
        """What to know before trusting the figures."""
        warnings: list[str] = self.document.get("warnings", [])
        return warnings

    @cached_property
    def response(self) -> Response:
        """Response times."""
        return self._part(Response, "response_us")

    @cached_property
    def time_us(self) -> Time:
        """Where requests waited. It does not say what causes it: :attr:`because` does."""
        return self._part(Time, "time_us")

    @cached_property
    def because(self) -> Because | None:
        """What causes the response times; of a run with ``because=True`` only."""
        return self._part(Because, "because") if "because" in self.document else None

    @cached_property
    def requests_done(self) -> Counts:
        """Requests that are done and counted."""
        return self._part(Counts, "requests")

    @cached_property
    def iops(self) -> Rates:
        """Requests done per second of the measured time."""
        return self._part(Rates, "iops")

    @cached_property
    def bandwidth(self) -> Bandwidth:
        """Bandwidth."""
        return self._part(Bandwidth, "bandwidth_mb_s")

    @cached_property
    def verdict(self) -> Verdict:
        """How far the figures can be trusted."""
        return self._part(Verdict, "verdict")

    @cached_property
    def flash(self) -> Flash:
        """What happened on flash."""
        return self._part(Flash, "flash")

    @cached_property
    def gc(self) -> Collection:
        """Garbage collection."""
        return self._part(Collection, "gc")

    @cached_property
    def lost(self) -> Lost:
        """What was asked for and not served."""
        return self._part(Lost, "lost")

    @cached_property
    def perf(self) -> Speed:
        """Speed of the simulator."""
        return self._part(Speed, "perf")

    @cached_property
    def members(self) -> list[Member]:
        """The members in order, spares behind them."""
        return [_build(Member, member) for member in self.document["members"]]

    @property
    def requests(self) -> Table:
        """Every request in the order of ends, with the columns of ``requests.parquet``; of a run with ``requests=True`` only.

        ``index``, ``arrival_ns``, ``done_ns``, ``response_ns``, ``offset_bytes``, ``length_bytes``, ``direction``, ``stream``, ``high_priority``,
        ``gc_members_met``, and where the request waited: ``queue_ns``, ``collection_ns``, ``parity_ns``, ``cache_ns``, ``transfer_ns``, ``flash_ns``,
        ``other_ns``.

        Raises
        ------
        ConfigError
            If the run was without ``requests=True``.
        """
        if self._requests is None:
            raise ConfigError("this report has no requests; run(..., requests=True) keeps them")
        return self._requests

    @property
    def series(self) -> Table:
        """Bandwidth over time: ``from_ms``, ``to_ms``, ``bandwidth_mb_s``."""
        return Table(self._native.series())

    @property
    def free_blocks(self) -> Table:
        """Free blocks of every member over time, in multiples of the threshold at which collection starts."""
        return Table(self._native.free_blocks())

    def __repr__(self) -> str:
        mean = self.response.all.mean_us
        count = self.requests_done.all
        shown = "no requests" if mean is None else f"{count:,} request{'' if count == 1 else 's'}, mean response {mean:,.1f} µs"
        return f"<flashraid report: {shown}{', partial' if self.partial else ''}>"

    def _repr_html_(self) -> str:
        """The main figures, for notebooks; :meth:`show` has the whole page."""
        rows = []
        for name in ("all", "read", "write"):
            response, iops = getattr(self.response, name), getattr(self.iops, name)
            times = (response.mean_us, response.p50_us, response.p99_us, response.p99_9_us, response.max_us)
            rows.append([name, f"{response.count:,}", *map(duration, times), "" if iops is None else f"{iops:,.0f}"])
        names = ["", "requests", "mean", "p50", "p99", "p99.9", "max", "IOPS"]
        flash, gc, verdict = self.flash, self.gc, self.verdict
        amplification = "" if flash.write_amplification is None else f"write amplification {flash.write_amplification:.2f}, "
        notes = [f"{amplification}{flash.erases:,} erases, {gc.runs:,} collections; load {verdict.load}", *self.warnings]
        return table_html("flashraid report", names, rows, notes)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as its document, and its requests if it has them."""
        return (_report, (self.json(), self._requests))


def _report(text: str, requests: Table | None) -> Report:
    """A report that was pickled."""
    report = Report.from_json(text)
    report._requests = requests
    return report
