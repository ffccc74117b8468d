"""Public names: what tracebacks, pickles and help() show."""

from __future__ import annotations

import importlib.metadata
import inspect
import pickle
import traceback
from typing import Any

import flashraid
import pytest

from conftest import SMALL

PUBLIC = [name for name in flashraid.__all__ if inspect.isclass(getattr(flashraid, name)) or inspect.isfunction(getattr(flashraid, name))]


@pytest.mark.parametrize("name", PUBLIC)
def test_what_is_public_has_its_public_name(name: str) -> None:
    thing = getattr(flashraid, name)
    assert (thing.__module__, thing.__qualname__) == ("flashraid", name)
    assert pickle.loads(pickle.dumps(thing)) is thing


def test_tracebacks_name_no_private_module() -> None:
    with pytest.raises(flashraid.ConfigError) as error:
        flashraid.run({"array": {"members": 0}})
    (line, *_) = traceback.format_exception_only(error.value)
    assert line.startswith("flashraid.ConfigError: ")
    assert repr(flashraid.ConfigError) == "<class 'flashraid.ConfigError'>"


def test_errors_can_be_pickled() -> None:
    with pytest.raises(flashraid.ConfigError) as error:
        flashraid.run({"array": {"members": 0}}, settings={"ssd.gc.victim": "gredy"})
    again = pickle.loads(pickle.dumps(error.value))
    assert type(again) is flashraid.ConfigError and str(again) == str(error.value)
    assert again.problems == error.value.problems and isinstance(again.problems[0], flashraid.Problem)
    report = flashraid.run(SMALL)
    stopped: Any = pickle.loads(pickle.dumps(flashraid.Interrupted("stopped", report)))
    assert str(stopped) == "stopped" and stopped.report.json() == report.json() and stopped.study is None
    failed = pickle.loads(pickle.dumps(flashraid.SimulationError("a disk failed")))
    assert type(failed) is flashraid.SimulationError and str(failed) == "a disk failed"


def test_the_metadata_have_an_address_for_each_question() -> None:
    found = importlib.metadata.metadata("flashraid").get_all("Project-URL") or []
    assert {url.partition(",")[0] for url in found} == {"Homepage", "Documentation", "Repository", "Issues", "Changelog"}
