"""What the tests share."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

# Never the user's own kept states.
os.environ["FLASHRAID_CACHE"] = "off"
os.environ["NO_COLOR"] = "1"

ROOT = Path(__file__).resolve().parents[2]

SMALL: dict[str, Any] = {
    "array": {"members": 2, "stripe_unit": "16KiB"},
    "ssd": {"geometry": {"dies": 2, "blocks": 64, "pages": 16}},
    "workload": {"preset": "hpc-w", "requests": 500},
}

# Settings with which many requests take little time: reads of a page, one after another.
QUICK: dict[str, Any] = {
    "workload.read_fraction": 1.0,
    "workload.size": "4KiB",
    "workload.arrivals": {"process": "closed", "depth": 1},
}


@pytest.fixture(scope="session", autouse=True)
def _ctrl_c_counts() -> None:
    """Processes in the background of a script are born deaf to Ctrl-C, and tests of it would wait for ever."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Program:
    """The program ``flashraid``, to compare with."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __call__(self, *arguments: object, cwd: Path | None = None) -> str:
        done = subprocess.run([self.path, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


@pytest.fixture(scope="session")
def program() -> Program:
    path = Path(os.environ.get("FLASHRAID_PROGRAM", ROOT / "target" / "debug" / "flashraid"))
    if not path.exists():
        pytest.skip(f"there is no program at {path}; cargo build, or FLASHRAID_PROGRAM")
    return Program(path)


class Figures:
    """What was measured, to be printed at the end."""

    def __init__(self) -> None:
        self.rows: list[tuple[str, str, str, str]] = []

    def note(self, what: str, value: float, bound: str = "", note: str = "") -> None:
        self.rows.append((what, f"{value:.3g}", bound, note))


_FIGURES = Figures()


@pytest.fixture(scope="session")
def figures() -> Figures:
    return _FIGURES


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Adds the processor time of a test to the times of a step (``scripts/timed``), if there is one."""
    before = sum(os.times()[:4])
    result = yield
    if "FLASHRAID_STEP" in os.environ:
        with (ROOT / "target" / "times.tsv").open("a") as times:
            times.write(f"test\t{sum(os.times()[:4]) - before:.2f}\tpython {item.nodeid}\n")
    return result


def pytest_terminal_summary(terminalreporter: Any) -> None:
    if _FIGURES.rows:
        terminalreporter.section("measured")
        for row in (("", "measured", "bound", ""), *_FIGURES.rows):
            terminalreporter.write_line("{:<62} {:>9} {:>13}  {}".format(*row))
