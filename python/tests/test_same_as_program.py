"""Results are the program's, byte for byte."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import flashraid
import pytest

from conftest import ROOT, Program

BASE = """
seed = 3
[array]
members = 4
stripe_unit = "16KiB"
[ssd.geometry]
dies = 2
blocks = 64
pages = 16
[workload]
preset = "hpc-w"
requests = 400
"""

CONFIGURATIONS: list[dict[str, object]] = [
    {},
    {"seed": 99},
    {"array.level": "raid10"},
    {"array.level": "raid5"},
    {"array.level": "raid6"},
    {"array.level": "single", "array.members": 1},
    {"coordination.scheme": "reactive-inclusive"},
    {"coordination.scheme": "reactive-selective"},
    {"coordination.scheme": "proactive-idle"},
    {"coordination.scheme": "ideal"},
    {"ssd.gc.preemption": "semi"},
    {"ssd.gc.preemption": "semi", "ssd.gc.pipeline": True, "ssd.gc.merge": True, "ssd.gc.reorder": True},
    {"ssd.gc.victim": "fifo"},
    {"ssd.gc.victim": {"policy": "d-choices", "d": 8}},
    {"workload.preset": "hpc-r"},
    {"workload.preset": "financial"},
    {"workload.arrivals": {"process": "closed", "depth": 16}},
    {"cache.policy": "wow", "cache.size": "1MiB"},
    {"cache.policy": "iwc", "cache.size": "1MiB"},
    {"ssd.warm_up.overwrites": 0.5, "ssd.warm_up.pattern": "workload"},
    {"array.level": "raid5", "cache.policy": "lawc", "cache.size": "1MiB"},
    {"array.level": "raid5", "cache.policy": "stow", "cache.size": "1MiB"},
    {"cache.policy": "lawc", "cache.size": "1MiB", "coordination.scheme": "reactive-inclusive"},
]

#: Drives of today with all that their presets have, in small.
DRIVE = """
seed = 3
array.members = 3
ssd.geometry = { dies = 8, blocks = 64, pages = 96, reserved = 0.3 }
workload = { preset = "hpc-w", requests = 400 }
"""

OF_DRIVES: list[dict[str, object]] = [
    {"ssd.preset": "nvme-simple"},
    {"ssd.preset": "nvme-simple", "array.level": "raid5", "cache.policy": "wow", "cache.size": "16MiB"},
    {"ssd.preset": "nvme-gen5", "ssd.superblock.programs_at_once": 8},
    {"ssd.preset": "nvme-gen5", "ssd.superblock.programs_at_once": 8, "coordination.scheme": "reactive-inclusive", "coordination.across_dies": False},
    {"ssd.preset": "nvme-tlc-gen3", "ssd.superblock.programs_at_once": 8, "workload.arrivals": {"process": "closed", "depth": 32}},
]

ALL = [*((BASE, settings) for settings in CONFIGURATIONS), *((DRIVE, settings) for settings in OF_DRIVES)]


def comparable(text: str) -> str:
    """The text without the two values that the wall clock decides, everything else as it stands."""
    document = json.loads(text)
    document["wall_s"] = 0
    document["perf"] = None
    return json.dumps(document, ensure_ascii=False)


def toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


@pytest.mark.parametrize(("base", "settings"), ALL, ids=[",".join(settings) or "plain" for _, settings in ALL])
def test_a_report_is_the_programs(program: Program, tmp_path: Path, base: str, settings: dict[str, object]) -> None:
    path = tmp_path / "array.toml"
    path.write_text(base)
    sets = [f"--set={key}={toml(value)}" for key, value in settings.items()]
    expected = program("run", path, "--json", "--no-cache", *sets)
    report = flashraid.run(path, settings=settings)
    assert comparable(report.json()) == comparable(expected)
    # The same lines, so that the layout is the same, too.
    drop = ("wall_s", "_per_s", "warm_up_s", "run_s", "peak_rss_bytes")
    lines = [[line for line in text.splitlines() if not any(word in line for word in drop)] for text in (report.json(), expected)]
    assert lines[0] == lines[1]


def test_there_are_twenty() -> None:
    assert len(ALL) >= 20


def test_a_trace_of_the_examples(program: Program, tmp_path: Path) -> None:
    rows = "".join(f"{index * 1_000_000} 0 {index * 8 % 4096} 8 {index % 2}\n" for index in range(500))
    (tmp_path / "trace.mqsim").write_text(rows)
    path = tmp_path / "array.toml"
    path.write_text(BASE.split("[workload]")[0] + '[workload]\nkind = "trace"\npath = "trace.mqsim"\nformat = "mqsim"\n')
    assert comparable(flashraid.run(path).json()) == comparable(program("run", path, "--json", "--no-cache"))


def test_schema_and_presets_are_the_programs(program: Program) -> None:
    assert flashraid.schema() == json.loads(program("schema"))
    for preset in flashraid.presets():
        if preset.kind == "device":
            # The program shows a configuration, with the section and the name of the preset.
            shown = tomllib.loads(program("preset", "show", preset.name))["ssd"]
            assert shown.pop("preset") == preset.name
            assert shown == tomllib.loads(preset.text)


def test_requests_are_those_of_the_parquet_file(program: Program, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    pyarrow = pytest.importorskip("pyarrow")
    path = tmp_path / "array.toml"
    path.write_text(BASE)
    program("run", path, "--no-cache", "--out", tmp_path / "out")
    expected = parquet.read_table(tmp_path / "out" / "requests.parquet")
    table = pyarrow.table(flashraid.run(path, requests=True).requests)
    assert table.column_names == expected.column_names
    assert table.to_pydict() == expected.to_pydict()
    assert table.schema.types == expected.schema.types


def test_the_examples_are_understood() -> None:
    for path in sorted((ROOT / "examples").glob("*.toml")):
        if "trace" not in path.read_text():
            assert flashraid.check(path).array_bytes > 0
