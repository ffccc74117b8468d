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

N = TypeVar("N", native.Report, native.Study)


class Shown(Generic[N]):
    """Something of the native part that has a page, charts, tables and a document."""

    _native: N

    def json(self) -> str:
        """The JSON document."""
        return self._native.json()

    def html(self, title: str = "flashraid") -> str:
        """The page with tables and interactive charts, which needs no network."""
        return self._native.html(title)

    def save(self, path: str | os.PathLike[str], title: str = "flashraid") -> None:
        """Writes the page (``.html``) or the document (``.json``)."""
        _save(path, {".html": lambda: self.html(title), ".json": self.json})

    def plot(self, chart: str = "response", *, backend: str | None = None) -> Any:
        """Draws one of the charts by Altair or Matplotlib, whichever is there; gives its chart or figure."""
        return plot(json.loads(self._native.charts()), chart, backend)

    @property
    def charts(self) -> list[str]:
        """The names of the charts that there are for :meth:`plot`."""
        return [chart["id"] for chart in json.loads(self._native.charts())]

    def _repr_html_(self) -> str:
        return _frame(self.html())

    def __str__(self) -> str:
        return self._native.text()


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
