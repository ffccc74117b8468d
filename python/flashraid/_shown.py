"""What reports and studies have in common: they show, draw and save themselves."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from . import _native as native
from ._errors import ConfigError
from ._plot import plot

N = TypeVar("N", native.Report, native.Study, native.Advice)


class Shown(Generic[N]):
    """Something of the native part that has a page, charts, tables and a document."""

    _native: N

    def json(self) -> str:
        """Returns the JSON document.

        Returns
        -------
        str
            The text of the document.

        Raises
        ------
        SimulationError
            If it is a study of which only a part is there.
        """
        return self._native.json()

    def html(self, title: str = "flashraid") -> str:
        """Returns the page with tables and interactive charts, which needs no network.

        Parameters
        ----------
        title
            The title of the page.

        Returns
        -------
        str
            The text of the page.

        Raises
        ------
        SimulationError
            If it is a study of which only a part is there.
        """
        return self._native.html(title)

    def save(self, path: str | os.PathLike[str], title: str = "flashraid") -> None:
        """Writes the page or the document.

        Parameters
        ----------
        path
            The file, whose name ends in ``.html`` or ``.json``.
        title
            The title of the page.

        Raises
        ------
        ConfigError
            If the name ends otherwise.
        SimulationError
            If the file can't be written, or it is a study of which only a part is there.
        """
        _save(path, {".html": lambda: self.html(title), ".json": self.json})

    #: The chart that is drawn unless another is asked for.
    _chart = "response"

    def plot(self, chart: str | None = None, *, backend: str | None = None) -> Any:
        """Draws a chart by Altair or Matplotlib.

        Parameters
        ----------
        chart
            One of :attr:`charts`, such as ``"time-parts"``, what response times consist of. Without it the distribution of the response times of a run, the
            mean response times of a study, or the front of an advice.
        backend
            ``"altair"`` or ``"matplotlib"``; without it whichever is installed.

        Returns
        -------
        altair.Chart or matplotlib.figure.Figure
            The picture, which a notebook shows.

        Raises
        ------
        ConfigError
            If there is no such chart, or neither library is installed.
        SimulationError
            If it is a study of which only a part is there.
        """
        return plot(json.loads(self._native.charts()), chart or self._chart, backend)

    @property
    def charts(self) -> list[str]:
        """The names of the charts that there are for :meth:`plot`.

        Raises
        ------
        SimulationError
            If it is a study of which only a part is there.
        """
        return [chart["id"] for chart in json.loads(self._native.charts())]

    def show(self, title: str = "flashraid") -> Page:
        """Shows the whole page in a notebook. It stays in the notebook's file, of which it takes 400 KB.

        Parameters
        ----------
        title
            The title of the page.

        Returns
        -------
        Page
            What the notebook shows.

        Raises
        ------
        SimulationError
            If it is a study of which only a part is there.
        """
        return Page(self.html(title))

    def __str__(self) -> str:
        return self._native.text()


class Page:
    """A page inside of a notebook."""

    def __init__(self, page: str) -> None:
        self._page = page

    def _repr_html_(self) -> str:
        return _frame(self._page)


def duration(us: float | None) -> str:
    """A duration in the unit that reads best."""
    if us is None:
        return ""
    for unit, scale in (("s", 1e6), ("ms", 1e3)):
        if us >= scale:
            return f"{us / scale:.3g} {unit}"
    return f"{us:.3g} µs"


def table_html(title: str, names: list[str], rows: list[list[str]], notes: list[str]) -> str:
    """A small table for notebooks."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    below = "".join(f"<p>{html.escape(note)}</p>" for note in notes)
    return f"<table><caption>{html.escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{below}"


def _frame(page: str) -> str:
    """A page inside of another one."""
    style = "width: 100%; height: 640px; border: 0; resize: vertical; overflow: auto"
    return f'<iframe srcdoc="{html.escape(page)}" style="{style}" sandbox="allow-scripts" title="flashraid"></iframe>'


def _save(path: str | os.PathLike[str], kinds: Mapping[str, Any]) -> None:
    name = os.fspath(path)
    make = kinds.get(os.path.splitext(name)[1].lower())
    if make is None:
        raise ConfigError(f"{name}: the name must end in {' or '.join(kinds)}")
    native.write_file(name, make())
