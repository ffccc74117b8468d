"""fio-plot, which draws results of fio, finds the figures of ours."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from fio_plot.fiolib import jsonimport, jsonparsing

from conftest import Program

CONFIGURATION = """
[array]
members = 2
stripe_unit = "16KiB"
[ssd.geometry]
dies = 2
blocks = 64
pages = 16
[workload]
preset = "hpc-w"
requests = 400
arrivals = { process = "closed", depth = 4 }
"""

DEPTHS = [1, 4, 16]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, program: Program) -> Path:
    """A folder of documents, one for each depth, and the reports of the same runs beside it."""
    folder = tmp_path_factory.mktemp("fio")
    (folder / "run.toml").write_text(CONFIGURATION)
    (folder / "documents").mkdir()
    for depth in DEPTHS:
        run = ["run", folder / "run.toml", "--set", f"workload.arrivals.depth={depth}"]
        (folder / "documents" / f"{depth}.json").write_text(program(*run, "--output-format", "fio+"))
        (folder / f"{depth}.report").write_text(program(*run, "--json"))
    return folder


@pytest.mark.parametrize("direction", ["read", "write"])
def test_its_reader_finds_the_figures(results: Path, direction: str) -> None:
    settings = {
        "input_directory": [str(results / "documents")],
        "rw": "randrw",
        "iodepth": DEPTHS,
        "numjobs": [1],
        "filter": [direction],
    }
    files = jsonimport.list_json_files(settings)
    rows = jsonparsing.parse_json_data(settings, jsonimport.import_json_dataset(settings, files))[0]["data"]
    assert [int(row["iodepth"]) for row in rows] == DEPTHS
    for row in rows:
        report = json.loads((results / f"{row['iodepth']}.report").read_text())
        assert row["iops"] == pytest.approx(report["iops"][direction], rel=1e-9)
        assert row["lat"] == pytest.approx(report["response_us"][direction]["mean"] * 1e3, rel=1e-9)
        assert row["lat_stddev"] == pytest.approx(report["response_us"][direction]["stddev"] * 1e3, rel=1e-9)
        assert int(row["bs"]) > 0


@pytest.mark.parametrize("kind", [["-l", "-n", "1", "-d", *map(str, DEPTHS)], ["-H", "-n", "1", "-d", "4"]])
def test_it_draws(results: Path, tmp_path: Path, kind: list[str]) -> None:
    picture = tmp_path / "picture.png"
    options = ["-i", str(results / "documents"), "-T", "depths", "-r", "randrw", "-f", "read", "-o", str(picture)]
    command = "import sys; from fio_plot import main; sys.exit(main())"
    done = subprocess.run([sys.executable, "-c", command, *kind, *options], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
