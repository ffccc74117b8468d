"""``flashraid schema --report``: reports are valid by it, judged by a validator that is not ours, and nothing else is."""

from __future__ import annotations

import copy
import functools
import json
from pathlib import Path
from typing import Any

import pytest

from conftest import Program
from test_same_as_program import BASE, DRIVE, toml

jsonschema = pytest.importorskip("jsonschema")

RAID5 = {"array.level": "raid5", "array.members": 3}
CACHE = {"cache.policy": "lawc", "cache.size": "64KiB", "cache.room": "pages"}
FAILURE = {"array.failure": {"member": 1, "at": "100ms"}, "array.rebuild": {"delay": "20ms", "rate": "2MB/s", "spare": "blank"}}

#: A base, what is set in it, and further arguments.
SHAPES: list[tuple[str, dict[str, object], list[str]]] = [
    (BASE, {}, ["--timeline", "0s..100ms"]),
    (BASE, {"array.level": "single", "array.members": 1}, []),
    (BASE, {"array.level": "raid1", "array.members": 2, "workload.read_fraction": 0.9}, []),
    (BASE, {"array.level": "raid6", "array.members": 5}, []),
    (BASE, {"workload.read_fraction": 1}, []),
    (BASE, {"workload.requests": 3}, []),
    (BASE, {"workload.requests": 20000, "workload.arrivals": {"process": "poisson", "mean_gap": "4ms"}}, []),
    (BASE, {"workload.arrivals": {"process": "closed", "depth": 8}}, []),
    (BASE, {"ssd.gc.preemption": "semi", "ssd.gc.t_hard": 0.5}, ["--timeline", "0s..100ms"]),
    (BASE, {"coordination.scheme": "reactive-inclusive"}, []),
    (BASE, {"coordination.scheme": "ideal"}, []),
    (BASE, RAID5 | CACHE, ["--timeline", "0s..100ms"]),
    (BASE, RAID5 | FAILURE, []),
    (BASE, {"report.skip_requests": 100, "array.controller": {"outstanding": 4, "bandwidth": "50MB/s"}}, []),
    (DRIVE, {"ssd.preset": "nvme-gen5", "ssd.superblock.programs_at_once": 8}, []),
]


@functools.cache
def validator(program: Program) -> Any:
    return jsonschema.Draft202012Validator(json.loads(program("schema", "--report")))


def check(program: Program, report: object) -> None:
    faults = [f"{fault.json_path}: {fault.message}" for fault in validator(program).iter_errors(report)]
    assert not faults, faults[:5]


def run(program: Program, folder: Path, base: str, settings: dict[str, object], arguments: list[str]) -> Any:
    path = folder / "array.toml"
    path.write_text(base)
    return json.loads(program("run", path, "--json", *(f"--set={key}={toml(value)}" for key, value in settings.items()), *arguments))


@pytest.mark.parametrize(("base", "settings", "arguments"), SHAPES, ids=[",".join(settings) or "plain" for _, settings, _ in SHAPES])
def test_reports_of_all_shapes_are_valid(program: Program, tmp_path: Path, base: str, settings: dict[str, object], arguments: list[str]) -> None:
    check(program, run(program, tmp_path, base, settings, arguments))


def test_reports_of_traces_and_grids_are_valid(program: Program, tmp_path: Path) -> None:
    (tmp_path / "trace.csv").write_text("0,0,4096,r,0.1\n0,8,4096,w,0.2\n")
    (tmp_path / "trace.toml").write_text(BASE.split("[workload]")[0] + '[workload]\nkind = "trace"\npath = "trace.csv"\nformat = "spc"\n')
    check(program, json.loads(program("run", tmp_path / "trace.toml", "--json")))
    (tmp_path / "array.toml").write_text(BASE)
    grid = json.loads(program("compare", tmp_path / "array.toml", "--vary", "array.members=2,3", "--exactly", "--json"))
    for point in grid["points"]:
        check(program, point["report"])


def test_the_schema_is_one(program: Program) -> None:
    for arguments in (["schema"], ["schema", "--report"]):
        schema = json.loads(program(*arguments))
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["$schema"] and schema["description"]


def at(document: Any, pointer: str) -> Any:
    for part in pointer.split("/")[1:]:
        document = document[int(part) if isinstance(document, list) else part]
    return document


OBJECTS = ["", "/response_us/all", "/verdict", "/members/0", "/over_time/members/0", "/time_us/all", "/cache/occupancy", "/config/array"]
WRONG: list[tuple[str, str, object]] = [
    ("", "schema", 1),
    ("/verdict", "load", "busy"),
    ("/response_us/all", "count", -1),
    ("/requests", "read", "many"),
    ("/over_time", "iops", [None]),
    ("/cache/reads", "hit", 0.5),
    ("/config/array", "level", "raid7"),
]


def test_what_is_no_report_is_not_valid(program: Program, tmp_path: Path) -> None:
    valid = validator(program).is_valid
    report = run(program, tmp_path, BASE, CACHE | {"cache.policy": "wow"}, [])
    assert valid(report)
    for pointer in OBJECTS:
        changed = copy.deepcopy(report)
        at(changed, pointer)["another"] = 1
        assert not valid(changed), f"another key in {pointer!r}"
    for pointer, key, value in WRONG:
        changed = copy.deepcopy(report)
        at(changed, pointer)[key] = value
        assert not valid(changed), f"{pointer}/{key}"
        del at(changed, pointer)[key]
        assert pointer == "/config/array" or not valid(changed), f"without {pointer}/{key}"
