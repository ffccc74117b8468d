"""Requests of one's own, and traces."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from . import _native
from ._table import Table


@runtime_checkable
class ArrowStream(Protocol):
    """What tables of polars, pandas, pyarrow, DuckDB and others are: the PyCapsule interface of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule with the rows."""


Columns: TypeAlias = ArrowStream | Mapping[str, Any]
"""Requests as a table, or as a mapping of names to NumPy arrays, Arrow arrays or lists."""


class Workload:
    """Requests of your own.

    The columns are read once, here; a run takes no call of Python for a request. The same workload can be run as often as wanted.

    >>> len(Workload({"arrival_ns": [0, 10], "offset_bytes": [0, 4096], "length_bytes": [4096, 4096], "direction": ["write", "read"]}))
    2

    :param columns: a table or a mapping with the columns

        - ``offset_bytes``, ``length_bytes``: what part of the array;
        - ``direction``: ``"read"``, ``"write"``, ``"trim"`` or ``"flush"``; or ``write``: true or false;
        - ``arrival_ns`` (or ``time_ns``): when it arrives, never going back, unless there is an ``index``, by which results are put in order;
        - ``high_priority``, ``fua`` (force unit access), ``stream``, ``device``: if wanted.

        What :attr:`Report.requests` and :func:`read_trace` give can be given back as it is.
    :param depth: makes a closed loop, in which so many requests are outstanding and times do not count.
    :param think_ns: in a closed loop, the pause between the end of a request and the one that takes its place, in nanoseconds.
    """

    def __init__(self, columns: Columns, *, depth: int | None = None, think_ns: int = 0) -> None:
        self._native = _native.Requests(columns, depth, think_ns)
        self._loop = (depth, think_ns)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_workload, (self._native.columns(), *self._loop))

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return f"<flashraid workload of {len(self)} requests>"


def _workload(columns: dict[str, list[Any]], depth: int | None, think_ns: int) -> Workload:
    """A workload that was pickled."""
    return Workload(columns, depth=depth, think_ns=think_ns)


def read_trace(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    devices: Sequence[int] | None = None,
    limit: int | None = None,
) -> Table:
    """The requests of a trace, as columns ``arrival_ns`` (from the first request), ``device``, ``offset_bytes``, ``length_bytes``, ``direction``.

    The format and the compression (gzip, zstd, bzip2) are found out from the content, unless ``format`` names one.

    :param devices: only these.
    :param limit: only so many of the first requests.
    """
    table, raised = _native.read_trace(
        os.fspath(path), format=format, devices=None if devices is None else list(devices), limit=limit
    )
    if raised is not None:
        raise raised
    assert table is not None
    return Table(table)


def trace_info(
    path: str | os.PathLike[str], *, format: str | None = None, devices: Sequence[int] | None = None
) -> dict[str, Any]:
    """Statistics of a trace: the document of ``flashraid trace info --json``."""
    text = _native.trace_info(os.fspath(path), format=format, devices=None if devices is None else list(devices))
    document: dict[str, Any] = json.loads(text)
    return document


def write_trace(requests: Columns | Workload, path: str | os.PathLike[str], *, format: str = "fio3") -> dict[str, int]:
    """Writes requests as a trace, compressed if the name ends in ``.gz``, ``.zst`` or ``.bz2``.

    Gives the number written and how many lost something that the format can't hold, such as parts of a microsecond.
    The file appears only when it is complete.
    """
    workload = requests if isinstance(requests, Workload) else Workload(requests)
    written: dict[str, int] = json.loads(_native.write_trace(workload._native, os.fspath(path), format))
    return written
