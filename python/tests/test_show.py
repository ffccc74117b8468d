"""Pages, charts and pictures."""

from __future__ import annotations

import html
import json
from pathlib import Path

import flashraid
import pytest

from conftest import SMALL

REPORT = flashraid.run(SMALL)
STUDY = flashraid.Study(SMALL).vary("coordination.scheme", ["local", "ideal"]).seeds(2).run()


@pytest.mark.parametrize("result", [REPORT, STUDY], ids=["report", "study"])
def test_a_notebook_shows_the_page(result: flashraid.Report | flashraid.StudyResult) -> None:
    frame = result._repr_html_()
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


@pytest.mark.parametrize("backend", ["altair", "matplotlib"])
def test_windows_of_time_are_drawn(backend: str) -> None:
    pytest.importorskip(backend)
    report = flashraid.run(SMALL, settings={"report.timeline": {"from": "0s", "to": "1s"}})
    assert "timeline" in report.charts
    assert report.plot("timeline", backend=backend) is not None


def test_without_a_name_the_first_chart_is_drawn() -> None:
    pytest.importorskip("altair")
    assert json.loads(REPORT.plot().to_json())["title"]
    assert json.loads(STUDY.plot().to_json())["title"]


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
