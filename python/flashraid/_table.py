"""Rows as Arrow."""

from __future__ import annotations

import html
import importlib
from collections.abc import Iterator
from typing import Any, NoReturn

from . import _native
from ._errors import ConfigError


#: Rows that a notebook shows.
_SHOWN_ROWS = 20


class Table:
    """Rows and columns, which any library that knows Arrow takes without a copy.

    .. code-block:: python

        table.to_polars()                # polars.DataFrame(table)
        table.to_pandas()                # pandas.DataFrame.from_arrow(table)
        pyarrow.table(table)
        duckdb.sql("select avg(response_ns) from table")

    None of them is needed: :meth:`to_pydict` gives lists, and ``table["response_ns"]`` one of them.
    """

    __slots__ = ("_native",)

    def __init__(self, native: _native.Table) -> None:
        self._native = native

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns the rows.

        Parameters
        ----------
        requested_schema
            Not looked at: whoever wants other types converts.

        Returns
        -------
        object
            A capsule with an Arrow stream.
        """
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """The types of the columns, in a capsule."""
        return self._native.__arrow_c_schema__()

    def __array__(self, dtype: object | None = None, copy: bool | None = None) -> NoReturn:
        """Refuses: columns have different types. Without it ``pandas.DataFrame(table)`` would be one column of names."""
        raise TypeError(
            "a table is no array: pandas.DataFrame.from_arrow(table) or table.to_pandas() gives its rows, table[name] a column"
        )

    @property
    def batches(self) -> list[_native.Rows]:
        """The rows in parts; each has ``__arrow_c_array__``, for what takes arrays rather than streams."""
        return self._native.batches()

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return self._native.column_names

    def to_pydict(self) -> dict[str, list[Any]]:
        """Returns the columns as lists.

        Returns
        -------
        dict
            A list for each name.
        """
        return self._native.to_pydict()

    def to_polars(self) -> Any:
        """Returns the rows as a data frame of polars, without a copy.

        Returns
        -------
        polars.DataFrame
            The rows.

        Raises
        ------
        ConfigError
            If polars is not installed.
        """
        return _import("polars").DataFrame(self)

    def to_pandas(self) -> Any:
        """Returns the rows as a data frame of pandas.

        Returns
        -------
        pandas.DataFrame
            The rows.

        Raises
        ------
        ConfigError
            If pandas is not installed.
        """
        return _import("pandas").DataFrame.from_arrow(self)

    def __getitem__(self, name: str) -> list[Any]:
        """A column as a list."""
        column = self._native.column(name)
        if column is None:
            raise KeyError(f"there is no column {name!r}; there are {', '.join(self.column_names)}")
        return column

    def __contains__(self, name: object) -> bool:
        return name in self.column_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.column_names)

    def __len__(self) -> int:
        return len(self._native)

    def _repr_html_(self) -> str:
        """The first rows, for notebooks."""
        columns = {name: self[name][:_SHOWN_ROWS] for name in self.column_names}
        names = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
        rows = "".join(
            "<tr>" + "".join(f"<td>{'' if value is None else html.escape(str(value))}</td>" for value in row) + "</tr>"
            for row in zip(*columns.values(), strict=True)
        )
        more = f"<p>{len(self):,} rows, of which the first {_SHOWN_ROWS}</p>" if len(self) > _SHOWN_ROWS else ""
        return f"<table><thead><tr>{names}</tr></thead><tbody>{rows}</tbody></table>{more}"

    def __reduce__(self) -> tuple[Any, tuple[Any]]:
        return (_of_state, (self._native.state(),))

    def __repr__(self) -> str:
        return repr(self._native)


def _of_state(columns: list[tuple[str, str, list[Any]]]) -> Table:
    """A table that was pickled."""
    return Table(_native.Table.of_state(columns))


def _import(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ConfigError(f"{name} is not installed: pip install {name}; to_pydict() needs nothing") from error
