"""An array that a program drives."""

from __future__ import annotations

import csv
import random
import runpy
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import flashraid
import pytest

from conftest import ROOT, SMALL, Program


def test_a_replayed_workload_has_the_response_times_of_a_run() -> None:
    run = flashraid.run(SMALL, requests=True)
    requests = run.requests.to_pydict()
    by_arrival = sorted(zip(requests["index"], requests["arrival_ns"], requests["direction"], requests["offset_bytes"], requests["length_bytes"]))
    device = flashraid.Device(SMALL)
    answers = []
    for index, arrival_ns, direction, offset, length in by_arrival:
        while (next_ns := device.next_time()) is not None and next_ns < arrival_ns:
            answers += device.advance(next_ns)
        device.submit(arrival_ns, direction, offset, length, tag=index)
    answers += device.advance()
    assert [answer.tag for answer in answers] == requests["index"]
    assert [answer.response_ns for answer in answers] == requests["response_ns"]
    for part in ("queue", "collection", "parity", "cache", "transfer", "flash", "other"):
        assert [getattr(answer, f"{part}_ns") for answer in answers] == requests[f"{part}_ns"]
    assert device.report().response == run.response and device.report().flash == run.flash
    assert len(device) == 0


def recorded(path: Path) -> None:
    """A trace in which requests come in bursts, some of them in the same microsecond, and meet collections."""
    draw = random.Random(7)
    with path.open("w", encoding="utf-8") as lines:
        at_us = 0
        for _ in range(2000):
            at_us += draw.choice([0, 0, 1, 50, 400, 5000])
            sector = draw.randrange(3500) * 8
            lines.write(f"0,{sector},{draw.choice([512, 4096, 16384])},{draw.choice('rwww')},{at_us / 1e6:.6f}\n")


@pytest.mark.parametrize("level", ["raid0", "raid5"])
def test_a_model_of_simpy_that_replays_a_trace_has_the_response_times_of_the_program(
    level: str, program: Program, tmp_path: Path
) -> None:
    pytest.importorskip("simpy")
    example: dict[str, Any] = runpy.run_path(str(ROOT / "python" / "examples" / "simpy_lock.py"))
    recorded(tmp_path / "trace.spc")
    (tmp_path / "array.toml").write_text(
        f"""
        array = {{ level = "{level}", members = 4, stripe_unit = "16KiB" }}
        ssd.geometry = {{ dies = 2, blocks = 64, pages = 16 }}
        workload = {{ kind = "trace", path = "trace.spc" }}
        """
    )
    program("run", tmp_path / "array.toml", "--out", tmp_path / "out", "--csv")
    with (tmp_path / "out" / "requests.csv").open(encoding="utf-8") as table:
        rows = sorted(csv.DictReader(table), key=lambda row: int(row["index"]))
    expected = [int(row["response_ns"]) for row in rows]
    assert len(expected) == 2000 and len({int(row["arrival_ns"]) for row in rows}) < 1800
    assert sum(int(row["gc_members_met"]) > 0 for row in rows) > 20, "some requests meet collections"
    trace = flashraid.read_trace(tmp_path / "trace.spc")
    assert example["replay"](tmp_path / "array.toml", trace) == expected


def test_the_example_with_a_lock_runs() -> None:
    pytest.importorskip("simpy")
    example = runpy.run_path(str(ROOT / "python" / "examples" / "simpy_lock.py"))
    one, many = example["transactions"](SMALL, writers=1, count=50), example["transactions"](SMALL, writers=8, count=50)
    assert len(one) == 50 and len(many) == 400
    # The lock is what writers wait for: a commit of eight writers takes longer, though the array serves as before.
    assert sum(many) / len(many) > 3 * sum(one) / len(one)
    assert example["transactions"](SMALL, writers=8, count=50) == many


def test_what_can_not_be_is_refused_and_changes_nothing() -> None:
    device = flashraid.Device(SMALL)
    device.submit(1000, "read", 0, 4096, tag="first")
    for arguments in [
        (999, "read", 0, 512),
        (1000, "erase", 0, 512),
        (1000, "read", device.capacity_bytes, 512),
        (1000, "read", 0, 0),
        (1000, "read", -1, 512),
        (1000.5, "read", 0, 512),
        (1 << 63, "read", 0, 512),
        (1 << 70, "read", 0, 512),
        (1000, "read", 0, 512, 256),
    ]:
        with pytest.raises(flashraid.ConfigError):
            device.submit(*arguments)  # type: ignore[arg-type]
    for wrong in ({"until_ns": 10}, {"room": 0}, {"until_ns": 1 << 63}):
        with pytest.raises(flashraid.ConfigError):
            device.advance(**wrong)
    assert len(device) == 1 and device.now_ns == 1000
    (answer,) = device.advance(room=5)
    assert answer.tag == "first" and device.next_time() is None
    with pytest.raises(flashraid.ConfigError):
        flashraid.Device({"array": {"members": 0}})


def test_a_device_is_closed_by_hand_or_by_its_block() -> None:
    with flashraid.Device(SMALL) as device:
        device.submit(0, "read", 0, 4096)
        assert len(device) == 1 and device.capacity_bytes > 0
    calls: list[Callable[[], object]] = [
        lambda: device.submit(0, "read", 0, 4096),
        lambda: device.next_time(),
        lambda: device.advance(),
        lambda: device.report(),
        lambda: device.now_ns,
        lambda: device.capacity_bytes,
        lambda: device.__enter__(),
    ]
    for call in calls:
        with pytest.raises(flashraid.ConfigError, match="this device is closed"):
            call()
    device.close()
    assert len(device) == 0 and repr(device) == "<flashraid device, closed>"
    # An error in the block is the caller's.
    other = flashraid.Device(SMALL)
    with pytest.raises(ZeroDivisionError), other:
        1 / 0
    with pytest.raises(flashraid.ConfigError, match="closed"):
        other.next_time()


def test_a_closed_device_gives_its_memory_back() -> None:
    device = flashraid.Device(SMALL)

    class Tag:
        pass

    tag = Tag()
    gone, native = weakref.ref(tag), device._native
    held = sys.getrefcount(native)
    device.submit(0, "read", 0, 4096, tag=tag)
    del tag
    assert gone() is not None
    device.close()
    assert gone() is None and sys.getrefcount(native) == held - 1
