"""Rows as Arrow."""

from __future__ import annotations

from typing import Any

from . import _native


class Table:
    """Rows and columns, which any library that knows Arrow takes without a copy.

    .. code-block:: python

        polars.DataFrame(table)          # or polars.from_arrow
        pyarrow.table(table)
        pandas.DataFrame.from_arrow(table)
        duckdb.sql("select avg(response_ns) from table")

    None of them is needed: :meth:`to_pydict` gives lists.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The rows as a stream of Arrow arrays, in a capsule."""
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The types of the columns, in a capsule."""
        return self._native.__arrow_c_schema__()

    @property
    def batches(self) -> list[_native.Rows]:
        """The rows in parts; each has ``__arrow_c_array__``, for what takes arrays rather than streams."""
        return self._native.batches()

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def to_pydict(self) -> dict[str, list[Any]]:
        """The columns as lists."""
        return self._native.to_pydict()

    def __len__(self) -> int:
        return len(self._native)

    def __repr__(self) -> str:
        return repr(self._native)
