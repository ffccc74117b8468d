"""Charts by Altair or Matplotlib, of the same data as the charts of the pages."""

from __future__ import annotations

import importlib.util
import io
from functools import partial
from typing import Any

from ._errors import ConfigError

_BACKENDS = ("altair", "matplotlib")


def plot(charts: list[dict[str, Any]], name: str, backend: str | None) -> Any:
    """Draws the chart of this name, or the first whose name begins so."""
    names = [chart["id"] for chart in charts]
    found = next((chart for chart in charts if chart["id"] == name), None)
    found = found or next((chart for chart in charts if chart["id"].startswith(name)), None)
    if found is None:
        raise ConfigError(f"there is no chart {name!r}; there are {', '.join(names) or 'none'}")
    if backend is None:
        backend = next((known for known in _BACKENDS if importlib.util.find_spec(known) is not None), None)
        if backend is None:
            raise ConfigError("neither altair nor matplotlib is installed; html() and a notebook's own display need neither")
    if backend not in _BACKENDS:
        raise ConfigError(f"backend is {backend!r}, but must be {' or '.join(map(repr, _BACKENDS))}")
    return (_altair if backend == "altair" else _matplotlib)(found)


def _line_rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for line in chart["series"]:
        widths = line.get("half_widths") or [None] * len(line["points"])
        for (x, y), width in zip(line["points"], widths):
            low, high = (y, y) if width is None else (y - width, y + width)
            rows.append({"x": x, "y": y, "low": low, "high": high, "series": line["name"]})
    return rows


def _bar_rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {
            "group": group,
            "series": series["name"],
            "value": value,
            # A logarithmic axis has no place for zero, and amounts are not below it.
            "low": max(value - (width or 0.0), value / 100 if chart["y"]["log"] else 0.0),
            "high": value + (width or 0.0),
        }
        for series in chart["series"]
        for group, value, width in zip(chart["groups"], series["values"], series["half_widths"])
        if value is not None
    ]


def _timeline_rows(chart: dict[str, Any]) -> list[dict[str, Any]]:
    # A panel has a name only where there are several.
    return [
        {"x": x, "y": y, "series": f"{panel['name']} {'write' if write else 'read'}".strip()}
        for panel in chart["panels"]
        for x, y, write in panel["requests"]
    ]


def _altair(chart: dict[str, Any]) -> Any:
    import altair as alt

    # Its own types do not say what it takes.
    data: Any = alt.Data

    def scale(axis: dict[str, Any]) -> Any:
        return alt.Scale(type="log" if axis["log"] else "linear", zero=False)

    if chart["kind"] == "bars":
        base = alt.Chart(data(values=_bar_rows(chart)))
        place: dict[str, Any] = {"x": alt.X("group:N", title=None, sort=None), "xOffset": alt.XOffset("series:N", sort=None)}
        is_stacked = chart["stacked"]
        if is_stacked:
            del place["xOffset"]
        # The length of a bar means nothing on a logarithmic axis.
        is_log = chart["y"]["log"]
        marks = base.mark_point(filled=True, size=60) if is_log else base.mark_bar()
        y: dict[str, Any] = {"scale": alt.Scale(type="log", zero=False)} if is_log else {}
        drawn = marks.encode(
            **place,
            y=alt.Y("value:Q", title=chart["y"]["label"], **y),
            color=alt.Color("series:N", title=None, sort=None),
        )
        # Of parts that stand on each other an interval would have no place.
        if not is_stacked and any(width for series in chart["series"] for width in series["half_widths"]):
            drawn = drawn + base.mark_rule().encode(**place, y=alt.Y("low:Q", **y), y2="high:Q")
    elif chart["kind"] == "lines":
        base = alt.Chart(data(values=_line_rows(chart)))
        x = alt.X("x:Q", title=chart["x"]["label"], scale=scale(chart["x"]))
        color = alt.Color("series:N", title=None, sort=None)
        drawn = base.mark_line(interpolate="step-after" if chart["steps"] else "linear").encode(
            x=x, y=alt.Y("y:Q", title=chart["y"]["label"], scale=scale(chart["y"])), color=color
        )
        if any(line.get("half_widths") for line in chart["series"]):
            drawn = drawn + base.mark_rule().encode(x=x, y="low:Q", y2="high:Q", color=color)
    else:
        base = alt.Chart(data(values=_timeline_rows(chart)))
        drawn = base.mark_point().encode(
            x=alt.X("x:Q", title="time, ms", scale=alt.Scale(zero=False)),
            y=alt.Y("y:Q", title=f"response, {chart['unit']}"),
            color=alt.Color("series:N", title=None),
        )
    return drawn.properties(title=chart["title"], width=560, height=300)


def _matplotlib(chart: dict[str, Any]) -> Any:
    from matplotlib.figure import Figure

    # Not by pyplot, which would keep every figure and show it twice in notebooks.
    figure = Figure(figsize=(7.5, 4.2), layout="constrained")
    axes = figure.subplots()
    axes.set_title(chart["title"])
    if chart["kind"] == "bars":
        is_stacked = chart["stacked"]
        count = 1 if is_stacked else max(len(chart["series"]), 1)
        bottoms = [0.0] * len(chart["groups"])
        for number, series in enumerate(chart["series"]):
            if is_stacked:
                parts = [value or 0.0 for value in series["values"]]
                axes.bar(range(len(parts)), parts, 0.8, bottom=bottoms, label=series["name"])
                bottoms = [bottom + part for bottom, part in zip(bottoms, parts)]
                continue
            places = [group + (number - (count - 1) / 2) * 0.8 / count for group in range(len(chart["groups"]))]
            heights = [float("nan") if value is None else value for value in series["values"]]
            widths = [0.0 if width is None else width for width in series["half_widths"]]
            errors = widths if any(widths) else None
            # The length of a bar means nothing on a logarithmic axis.
            if chart["y"]["log"]:
                axes.errorbar(places, heights, yerr=errors, fmt="o", label=series["name"])
            else:
                axes.bar(places, heights, 0.8 / count, label=series["name"], yerr=errors)
        if chart["y"]["log"]:
            axes.set_yscale("log", nonpositive="clip")
        axes.set_xticks(range(len(chart["groups"])), chart["groups"])
        axes.set_ylabel(chart["y"]["label"])
    elif chart["kind"] == "lines":
        for line in chart["series"]:
            xs, ys = [point[0] for point in line["points"]], [point[1] for point in line["points"]]
            axes.plot(xs, ys, drawstyle="steps-post" if chart["steps"] else "default", label=line["name"])
            if line.get("half_widths"):
                axes.errorbar(xs, ys, yerr=line["half_widths"], fmt="none", ecolor=axes.lines[-1].get_color())
        axes.set_xlabel(chart["x"]["label"])
        axes.set_ylabel(chart["y"]["label"])
        axes.set_xscale("log" if chart["x"]["log"] else "linear")
        axes.set_yscale("log" if chart["y"]["log"] else "linear")
    else:
        rows = _timeline_rows(chart)
        for series in dict.fromkeys(row["series"] for row in rows):
            own = [row for row in rows if row["series"] == series]
            axes.plot([row["x"] for row in own], [row["y"] for row in own], ".", label=series)
        axes.set_xlabel("time, ms")
        axes.set_ylabel(f"response, {chart['unit']}")
    if chart["kind"] == "timeline" or len(chart["series"]) > 1:
        axes.legend()
    # Outside of pyplot notebooks draw no figure: this one brings its picture.
    setattr(figure, "_repr_png_", partial(_png, figure))
    return figure


def _png(figure: Any) -> bytes:
    picture = io.BytesIO()
    figure.savefig(picture, format="png")
    return picture.getvalue()
