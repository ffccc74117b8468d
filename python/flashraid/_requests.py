"""Requests of one's own, and traces."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from . import _native
from ._config import whole, whole_or_none
from ._table import Table


@runtime_checkable
class ArrowStream(Protocol):
    """What tables of polars, pandas, pyarrow, DuckDB and others are: the PyCapsule interface of Arrow."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns the rows.

        Parameters
        ----------
        requested_schema
            Types that the caller would like to have.

        Returns
        -------
        object
            A capsule with an Arrow stream.
        """


Columns: TypeAlias = ArrowStream | Mapping[str, Any]
"""Requests as a table, or as a mapping of names to NumPy arrays, Arrow arrays or lists."""


class Workload:
    """Requests of your own.

    The columns are read once, here; a run takes no call of Python for a request. The same workload can be run as often as wanted.

    Parameters
    ----------
    columns
        A table or a mapping with the columns

        - ``offset_bytes``, ``length_bytes``: what part of the array;
        - ``direction``: ``"read"``, ``"write"``, ``"trim"`` or ``"flush"``; or ``write``: true or false;
        - ``arrival_ns`` (or ``time_ns``): when it arrives, never going back, unless there is an ``index``, by which results are put in order;
        - ``high_priority``, ``fua`` (force unit access), ``stream``, ``device``: if wanted.

        What :attr:`Report.requests` and :func:`read_trace` give can be given back as it is.
    depth
        Makes a closed loop, in which so many requests are outstanding and times do not count.
    think_ns
        In a closed loop, the pause between the end of a request and the one that takes its place, in nanoseconds.

    Raises
    ------
    ConfigError
        If a column is missing or unknown, or a value can't be used; the error names the row.

    Examples
    --------
    >>> len(Workload({"arrival_ns": [0, 10], "offset_bytes": [0, 4096], "length_bytes": [4096, 4096], "direction": ["write", "read"]}))
    2
    """

    def __init__(self, columns: Columns, *, depth: int | None = None, think_ns: int = 0) -> None:
        depth = whole_or_none("depth", depth, least=1, end=1 << 32)
        think_ns = whole("think_ns", think_ns)
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
    """Reads the requests of a trace. The compression (gzip, zstd, bzip2) is found out from the content.

    Parameters
    ----------
    path
        The file.
    format
        The format; without it, it is found out from the content, too.
    devices
        Only the requests of these.
    limit
        Only so many of the first requests.

    Returns
    -------
    Table
        The columns ``arrival_ns`` (from the first request), ``device``, ``offset_bytes``, ``length_bytes``, ``direction``.

    Raises
    ------
    ConfigError
        If an argument can't be used, or there is no such file, or it is no trace of that format.
    SimulationError
        If the file can't be read to its end.
    """
    limit = whole_or_none("limit", limit)
    table, raised = _native.read_trace(os.fspath(path), format=format, devices=_devices(devices), limit=limit)
    if raised is not None:
        raise raised
    assert table is not None
    return Table(table)


def trace_info(
    path: str | os.PathLike[str], *, format: str | None = None, devices: Sequence[int] | None = None
) -> dict[str, Any]:
    """Computes statistics of a trace.

    Parameters
    ----------
    path
        The file.
    format
        The format; without it, it is found out from the content.
    devices
        Only the requests of these.

    Returns
    -------
    dict
        The document of ``flashraid trace info --json``.

    Raises
    ------
    ConfigError
        If an argument can't be used, or there is no such file, or it is no trace of that format.
    SimulationError
        If the file can't be read to its end.
    """
    text = _native.trace_info(os.fspath(path), format=format, devices=_devices(devices))
    document: dict[str, Any] = json.loads(text)
    return document


def _devices(devices: Sequence[int] | None) -> list[int] | None:
    return None if devices is None else [whole("devices", device, end=1 << 32) for device in devices]


def write_trace(requests: Columns | Workload, path: str | os.PathLike[str], *, format: str = "fio3") -> dict[str, int]:
    """Writes requests as a trace. The file appears only when it is complete.

    Parameters
    ----------
    requests
        As for :class:`Workload`.
    path
        The file, which is compressed if its name ends in ``.gz``, ``.zst`` or ``.bz2``.
    format
        The format, as of ``flashraid trace convert --to``.

    Returns
    -------
    dict
        The number of requests written, and how many lost something that the format can't hold, such as parts of a microsecond.

    Raises
    ------
    ConfigError
        If the requests or the format can't be used.
    SimulationError
        If the file can't be written.
    """
    workload = requests if isinstance(requests, Workload) else Workload(requests)
    written: dict[str, int] = json.loads(_native.write_trace(workload._native, os.fspath(path), format))
    return written
