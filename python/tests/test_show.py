"""Pages, charts and pictures."""

from __future__ import annotations

import html
import json
import pickle
from pathlib import Path

import flashraid
import pytest

from conftest import SMALL

REPORT = flashraid.run(SMALL)
STUDY = flashraid.Study(SMALL).vary("coordination.scheme", ["local", "ideal"]).seeds(2).run()


@pytest.mark.parametrize("result", [REPORT, STUDY], ids=["report", "study"])
def test_a_notebook_shows_a_small_table_and_the_page_on_request(result: flashraid.Report | flashraid.StudyResult) -> None:
    shown = result._repr_html_()
    assert shown.startswith("<table>") and "script" not in shown and len(shown) < 10_000
    if isinstance(result, flashraid.Report):
        assert "500" in shown and f"{result.flash.write_amplification:.2f}" in shown
    else:
        assert "ideal" in shown and "×" in shown
    frame = result.show()._repr_html_()
    assert frame.startswith("<iframe srcdoc=") and frame.endswith("</iframe>")
    page = html.unescape(frame.split('srcdoc="', 1)[1].split('" style=', 1)[0])
    assert page == result.html() and "uPlot" in page and "<table>" in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize("result", [REPORT, STUDY], ids=["report", "study"])
@pytest.mark.parametrize("backend", ["altair", "matplotlib"])
def test_every_chart_is_drawn(result: flashraid.Report | flashraid.StudyResult, backend: str, tmp_path: Path) -> None:
    pytest.importorskip(backend)
    assert result.charts
    for name in result.charts:
        drawn = result.plot(name, backend=backend)
        if backend == "altair":
            assert json.loads(drawn.to_json())["title"]
        else:
            drawn.savefig(tmp_path / f"{name}.png")
            assert (tmp_path / f"{name}.png").stat().st_size > 1000


@pytest.mark.parametrize(("backend", "mime"), [("altair", "text/html"), ("matplotlib", "image/png")])
def test_a_notebook_shows_the_picture_of_a_chart(backend: str, mime: str) -> None:
    pytest.importorskip(backend)
    formatters = pytest.importorskip("IPython.core.formatters")
    # As in a cell that ends with the chart, in a notebook that never asked for pyplot.
    shown, _ = formatters.DisplayFormatter().format(REPORT.plot(backend=backend))
    if backend == "matplotlib":
        assert shown[mime].startswith(b"\x89PNG") and len(shown[mime]) > 5000
    else:
        assert "vega" in shown[mime]


def test_a_figure_of_matplotlib_is_pickled() -> None:
    pytest.importorskip("matplotlib")
    again = pickle.loads(pickle.dumps(REPORT.plot(backend="matplotlib")))
    assert again._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("backend", ["altair", "matplotlib"])
def test_windows_of_time_are_drawn(backend: str) -> None:
    pytest.importorskip(backend)
    report = flashraid.run(SMALL, settings={"report.timeline": {"from": "0s", "to": "1s"}})
    assert "timeline" in report.charts
    assert report.plot("timeline", backend=backend) is not None


def test_without_a_name_a_study_draws_its_means() -> None:
    pytest.importorskip("altair")
    pytest.importorskip("matplotlib")
    assert json.loads(REPORT.plot(backend="altair").to_json())["title"]
    drawn = json.loads(STUDY.plot(backend="altair").to_json())
    assert drawn["title"] == "Mean response time"
    # The intervals of two seeds are rules from low to high.
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["bar", "rule"]
    means = STUDY.summary.to_pydict()
    expected = [mean for figure, mean in zip(means["figure"], means["mean"]) if figure == "response_us_all_mean"]
    widths = [width for figure, width in zip(means["figure"], means["ci95"]) if figure == "response_us_all_mean"]
    axes = STUDY.plot(backend="matplotlib").axes[0]
    heights = [bar.get_height() for bar in axes.patches]
    scale = expected[0] / heights[0]
    assert [height * scale for height in heights] == pytest.approx(expected)
    (lines,) = [container.lines[2][0] for container in axes.containers if hasattr(container, "lines")]
    drawn_widths = [(high - low) / 2 * scale for (_, low), (_, high) in lines.get_segments()]
    assert drawn_widths == pytest.approx(widths)


@pytest.mark.parametrize("result", [REPORT, STUDY], ids=["report", "study"])
def test_parts_of_the_time_stand_on_each_other(result: flashraid.Report | flashraid.StudyResult) -> None:
    pytest.importorskip("altair")
    pytest.importorskip("matplotlib")
    axes = result.plot("time-parts", backend="matplotlib").axes[0]
    tops: dict[float, float] = {}
    for bar in axes.patches:
        assert bar.get_y() == pytest.approx(tops.get(bar.get_x(), 0.0))
        tops[bar.get_x()] = bar.get_y() + bar.get_height()
    reports = [result] if isinstance(result, flashraid.Report) else result.reports[::2]
    means = [report.response.all.mean_us for report in reports]
    first = tops[min(tops)]
    # Together they are the mean response, in the unit of the axis.
    scale = {"µs": 1.0, "ms": 1e3, "s": 1e6}[axes.get_ylabel().rsplit(", ", 1)[1]]
    assert first * scale == pytest.approx(means[0])
    drawn = json.loads(result.plot("time-parts", backend="altair").to_json())
    assert "xOffset" not in json.dumps(drawn)


def test_the_parts_of_the_time_add_up() -> None:
    parts = REPORT.time_us.all
    assert parts is not None
    names = ("queue", "collection", "parity", "cache", "transfer", "flash", "other")
    assert sum(getattr(parts, name) for name in names) == pytest.approx(REPORT.response.all.mean_us)
    assert parts.collection == REPORT.document["time_us"]["all"]["collection"]


def test_what_there_is_not_is_refused() -> None:
    with pytest.raises(flashraid.ConfigError, match="there are"):
        REPORT.plot("no-such-chart")
    with pytest.raises(flashraid.ConfigError, match="altair"):
        REPORT.plot(backend="gnuplot")


def test_pages_and_documents_are_saved(tmp_path: Path) -> None:
    for result in (REPORT, STUDY):
        result.save(tmp_path / "page.html", "A title")
        result.save(tmp_path / "document.json")
        assert "A title" in (tmp_path / "page.html").read_text()
        assert (tmp_path / "document.json").read_text() == result.json()
    with pytest.raises(flashraid.ConfigError, match="html"):
        REPORT.save(tmp_path / "page.pdf")
    with pytest.raises((flashraid.ConfigError, flashraid.SimulationError)):
        REPORT.save(tmp_path / "no" / "such" / "page.html")
