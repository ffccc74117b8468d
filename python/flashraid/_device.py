"""An array that another program drives: a discrete-event simulation, a model of a database, a scheduler."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

from . import _native
from ._config import Config, spec, whole, whole_or_none
from ._errors import ConfigError
from ._report import Report


class Answer(NamedTuple):
    """The answer to a request of a :class:`Device`. The seven last times add up to :attr:`response_ns`."""

    tag: Any
    """The tag that :meth:`Device.submit` was given."""
    arrival_ns: int
    """The moment of its submission."""
    done_ns: int
    """The moment when its last byte was done."""
    kind: str
    """``"read"``, ``"write"``, ``"trim"`` or ``"flush"``."""
    gc_members_met: int
    """Members of the array on which a page of it waited for garbage collection."""
    pages_lost: int
    """Pages that were not served, because too many members had failed."""
    queue_ns: int
    """Time behind other operations."""
    collection_ns: int
    """Time behind garbage collection."""
    parity_ns: int
    """Time for parity: reads ahead of writes, and locks."""
    cache_ns: int
    """Time for the write cache, and waiting for room in it."""
    transfer_ns: int
    """Time of transfers over channel and link."""
    flash_ns: int
    """Time of the flash array's own reads and programs."""
    other_ns: int
    """All other time, such as that of commands."""

    @property
    def response_ns(self) -> int:
        """The time from the submission to the end."""
        return self.done_ns - self.arrival_ns


class Device:
    """A warmed-up array that takes requests at moments of your choice.

    Four verbs drive it: :meth:`submit`, :meth:`next_time`, :meth:`advance`, :meth:`report`. Simulated time is in whole nanoseconds, begins at 0, and never
    goes back. Nothing happens between two calls, and the same calls give the same answers on every machine.

    A request comes before everything else of its nanosecond that has not been advanced over; so the requests of a trace, submitted at their times, get the
    response times of :func:`run`. :meth:`close` gives the memory of the array back, as does the end of a ``with`` block.

    Parameters
    ----------
    config
        As for :func:`run`; requests of its ``[workload]`` are not sent.
    settings
        Keys that replace the configuration's.
    seed
        Replaces the configuration's seed.
    threads
        Threads for the warm-up, at least 1. Changes no result.
    keep_warm
        Keeps the state after a long warm-up in the user's cache folder, and takes from there what an earlier run left. Changes no result.

    Raises
    ------
    ConfigError
        If an argument or the configuration can't be used.

    Examples
    --------
    A host that thinks for 50 µs about each answer:

    >>> with Device({"array": {"members": 2}, "ssd": {"geometry": {"dies": 1, "blocks": 64}}}) as device:
    ...     now_ns = 0
    ...     for page in range(100):
    ...         device.submit(now_ns, "write", page * 4096, 4096)
    ...         (answer,) = device.advance()
    ...         now_ns = answer.done_ns + 50_000
    ...     device.report().requests_done.write
    100
    """

    def __init__(
        self,
        config: Config,
        *,
        settings: Mapping[str, Any] | None = None,
        seed: int | None = None,
        threads: int | None = None,
        keep_warm: bool = True,
    ) -> None:
        threads = whole_or_none("threads", threads, least=1)
        self._native: _native.Device | None = _native.Device(spec(config, settings=settings, seed=seed), threads, keep_warm)
        self._tags: dict[int, Any] = {}
        self._count = 0

    def _open(self) -> _native.Device:
        """The array, unless it was given back."""
        if self._native is None:
            raise ConfigError("this device is closed; Device(config) opens another one")
        return self._native

    def submit(
        self,
        now_ns: int,
        kind: Literal["read", "write", "trim", "flush"],
        offset: int = 0,
        bytes: int = 0,
        stream: int = 0,
        tag: Any = None,
        *,
        fua: bool = False,
        high_priority: bool = False,
    ) -> None:
        """Submits a request.

        Parameters
        ----------
        now_ns
            The moment, which must not lie before any earlier call's.
        kind
            What it does.
        offset
            Its first byte, from the start of the array.
        bytes
            Its length; only a flush may have none.
        stream
            The stream it belongs to, from 0 to 255; placement handles and the streams of a mix go by it.
        tag
            Comes back with the answer; any object, such as an event of SimPy.
        fua
            A write that is done only when its data survive a loss of power.
        high_priority
            A request that must not wait for garbage collection.

        Raises
        ------
        ConfigError
            If time goes back, an argument can't be used, or the device is closed. Nothing has changed then.
        """
        self._open().submit(
            whole("now_ns", now_ns),
            kind,
            whole("offset", offset),
            whole("bytes", bytes),
            whole("stream", stream, end=256),
            fua,
            high_priority,
            self._count,
        )
        self._tags[self._count] = tag
        self._count += 1

    def next_time(self) -> int | None:
        """Says when something may happen next. Another :meth:`submit` may change it.

        Returns
        -------
        int or None
            The moment in nanoseconds; ``None`` if nothing is pending.

        Raises
        ------
        ConfigError
            If the device is closed.
        """
        return self._open().next_time()

    def advance(self, until_ns: int | None = None, room: int | None = None) -> list[Answer]:
        """Lets time pass.

        Parameters
        ----------
        until_ns
            Up to and including this moment; without it until every request is answered.
        room
            At most so many answers, at least 1. With as many, time stands still at the last of them, and another call goes on.

        Returns
        -------
        list of Answer
            The answers in the order of their ends.

        Raises
        ------
        ConfigError
            If time goes back, an argument can't be used, or the device is closed. Nothing has changed then.
        """
        native = self._open()
        rows = native.advance(whole_or_none("until_ns", until_ns), whole_or_none("room", room, least=1))
        return [Answer(self._tags.pop(row[0]), *row[1:6], *row[6]) for row in rows]

    def report(self) -> Report:
        """Sums up what has happened so far. The device goes on as if nobody had asked.

        Returns
        -------
        Report
            The report of a run that ends now, in which requests without an answer are not counted.

        Raises
        ------
        ConfigError
            If the device is closed.
        """
        return Report(self._open().report())

    def close(self) -> None:
        """Gives the memory of the array back. Requests without an answer get none; a closed device may be closed again."""
        self._native = None
        self._tags.clear()

    def __enter__(self) -> Device:
        self._open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def now_ns(self) -> int:
        """The latest moment of any call.

        Raises
        ------
        ConfigError
            If the device is closed.
        """
        return self._open().now_ns

    @property
    def capacity_bytes(self) -> int:
        """Bytes that the array offers; a request must end there.

        Raises
        ------
        ConfigError
            If the device is closed.
        """
        return self._open().capacity_bytes

    def __len__(self) -> int:
        """Requests whose answers have not been given."""
        return len(self._tags)

    def __repr__(self) -> str:
        if self._native is None:
            return "<flashraid device, closed>"
        return f"<flashraid device at {self.now_ns:,} ns, {len(self)} requests under way>"

