"""Arguments that can't be used: each is refused by an error that names it and says what is allowed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import flashraid
import pytest

from conftest import SMALL

LOAD = {"array": {"members": 2}, "workload": {"read_fraction": 1.0, "arrivals": {"process": "poisson", "mean_gap": "100us"}}}
COLUMNS = {"arrival_ns": [0], "offset_bytes": [0], "length_bytes": [4096], "direction": ["read"]}


def refused(call: Callable[[], object]) -> flashraid.Problem:
    with pytest.raises(flashraid.ConfigError) as error:
        call()
    (problem,) = error.value.problems
    assert problem.key in str(error.value) and problem.allowed is not None and problem.allowed in str(error.value)
    return problem


CALLS: dict[str, Callable[[Any], object]] = {
    "run-threads": lambda count: flashraid.run(SMALL, threads=count),
    "Device-threads": lambda count: flashraid.Device(SMALL, threads=count),
    "Study.run-threads": lambda count: flashraid.Study(SMALL).run(threads=count),
    "Study.run-workers": lambda count: flashraid.Study(SMALL).run(workers=count),
    "compare-workers": lambda count: flashraid.compare(SMALL, {"array.members": [2, 3]}, workers=count),
    "compare-seeds": lambda count: flashraid.compare(SMALL, {"array.members": [2, 3]}, seeds=count),
    "advise-workers": lambda count: flashraid.advise(LOAD, capacity="1MB", workers=count),
    "advise-requests": lambda count: flashraid.advise(LOAD, capacity="1MB", requests=count),
    "optuna_objective-seeds": lambda count: flashraid.optuna_objective({}, SMALL, lambda report: 0.0, seeds=count),
    "Workload-depth": lambda count: flashraid.Workload(COLUMNS, depth=count),
}


@pytest.mark.parametrize("count", [0, -1, 1.5, "2", 1 << 64], ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_a_number_of_threads_or_workers_is_one_or_more(name: str, count: Any) -> None:
    if name.startswith("optuna"):
        pytest.importorskip("optuna")
    problem = refused(lambda: CALLS[name](count))
    assert problem.key == name.split("-")[1] and problem.found == repr(count)
    assert problem.allowed is not None and problem.allowed.startswith("a whole number from 1 to ")


def test_other_numbers_are_not_negative(tmp_path: Path) -> None:
    path = tmp_path / "own.trace"
    flashraid.write_trace(COLUMNS, path)
    calls: dict[str, Callable[[], object]] = {
        "think_ns": lambda: flashraid.Workload(COLUMNS, depth=1, think_ns=-1),
        "limit": lambda: flashraid.read_trace(path, limit=-1),
        "devices": lambda: flashraid.trace_info(path, devices=[-1]),
        "retries": lambda: flashraid.Study(SMALL).run(retries=-1),
        "seed": lambda: flashraid.run(SMALL, seed=-1),
    }
    for key, call in calls.items():
        problem = refused(call)
        assert problem.key == key and problem.found is not None and problem.found.startswith("-1")
    assert refused(lambda: flashraid.read_trace(path, devices=[1 << 32])).key == "devices"


NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "key", "found"),
    [
        (lambda: flashraid.run({"array": {"members": NAN}}), "array.members", "nan"),
        (lambda: flashraid.check({"array": {"members": float("-inf")}}), "array.members", "-inf"),
        (lambda: flashraid.Device({"workload": {"arrivals": {"process": "poisson", "mean_gap": NAN}}}), "workload.arrivals.mean_gap", "nan"),
        (lambda: flashraid.run(SMALL, settings={"ssd.gc.start": NAN}), "ssd.gc.start", "nan"),
        (lambda: flashraid.Study(SMALL).vary("ssd.gc.start", [0.1, NAN]).run(), "ssd.gc.start[1]", "nan"),
        (lambda: flashraid.Study(SMALL).variants({"a": {"ssd.gc.start": NAN}}).run(), "ssd.gc.start", "nan"),
        (lambda: flashraid.Study(SMALL).vary("array.members", [2, 3]).baseline(NAN).run(), "baseline", "nan"),
        (lambda: flashraid.advise(LOAD, capacity=NAN), "capacity", "nan"),  # type: ignore[arg-type]
        (lambda: flashraid.advise(LOAD, capacity="1MB", space={"members": [2, NAN]}), "space.members[1]", "nan"),
        (lambda: flashraid.advise(LOAD, capacity="1MB", growth=NAN), "growth", "nan"),
        (lambda: flashraid.advise(LOAD, capacity="1MB", effort_s=float("inf")), "effort_s", "inf"),
        (lambda: flashraid.advise(LOAD, capacity="1MB", sure="much"), "sure", "'much'"),  # type: ignore[arg-type]
    ],
)
def test_what_is_no_number_is_refused_with_its_key(call: Callable[[], object], key: str, found: str) -> None:
    problem = refused(call)
    assert (problem.key, problem.found, problem.allowed) == (key, found, "a finite number")


def test_numbers_of_numpy_that_are_none_are_refused() -> None:
    numpy = pytest.importorskip("numpy")
    assert refused(lambda: flashraid.run({"array": {"members": numpy.float64("nan")}})).key == "array.members"
    study = flashraid.Study(SMALL).vary("ssd.gc.start", numpy.array([0.1, numpy.inf]))
    assert refused(lambda: study.run()).key == "ssd.gc.start[1]"


def test_nan_in_a_toml_text_is_refused_with_its_place() -> None:
    with pytest.raises(flashraid.ConfigError) as error:
        flashraid.run("array.members = nan")
    (problem,) = error.value.problems
    assert (problem.found, problem.place) == ("nan", "configuration:1:17")


def test_texts_that_look_like_no_numbers_are_texts() -> None:
    study = flashraid.Study(SMALL).variants({"NaN": {}, "null": {"coordination.scheme": "ideal"}, "Infinity": {"array.members": 3}})
    assert [settings["variant"] for settings in study.run().settings] == ["NaN", "null", "Infinity"]
