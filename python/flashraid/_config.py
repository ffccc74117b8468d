"""Configurations: dicts, TOML texts or paths, as the native part takes them."""

from __future__ import annotations

import json
import math
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from ._errors import ConfigError, Problem

Config: TypeAlias = Mapping[str, Any] | str | os.PathLike[str]
"""A configuration: a dict, the text of a TOML file, or the path of one.

A ``str`` is taken for a path unless something in it can only stand in a text: ``=``, ``[``, ``#``, the end of a line; an empty one is an empty text.
"""


def spec(
    config: Config,
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    vary: Sequence[tuple[str, Sequence[Any]]] = (),
    variants: Mapping[str, Mapping[str, Mapping[str, Any]]] | None = None,
    baseline: Any = None,
    seeds: int = 1,
    shard: tuple[int, int] | None = None,
) -> str:
    """The JSON text that describes a simulation or a study to the native part."""
    document: dict[str, Any] = {"config": _config(config)}
    document["set"] = [[key, value] for key, value in (settings or {}).items()]
    document["vary"] = [[key, list(values)] for key, values in vary]
    document["variants"] = [
        [name, [[value, list(map(list, changed.items()))] for value, changed in values.items()]]
        for name, values in (variants or {}).items()
    ]
    document["seeds"] = seeds
    if seed is not None:
        document["seed"] = _seed(seed)
    if baseline is not None:
        document["baseline"] = baseline
    if shard is not None:
        document["shard"] = list(shard)
    text = plain_text("the configuration", document)
    if any(word in text for word in ("null", "NaN", "Infinity")):
        read = json.loads(text)
        places = [("", read["config"].get("value")), *read["set"], *read["vary"], ("baseline", read.get("baseline"))]
        places += [setting for _, values in read["variants"] for _, settings in values for setting in settings]
        # A configuration in a text or a file has no value here, and a study may have no baseline.
        refuse_no_values([(key, value) for key, value in places if value is not None or key not in ("", "baseline")])
    return text


def _config(config: Config) -> dict[str, Any]:
    if isinstance(config, Mapping):
        return {"value": config if isinstance(config, dict) else dict(config)}
    if isinstance(config, str):
        is_text = not config.strip() or any(mark in config for mark in "=[#\n")
        return {"toml": config} if is_text else {"path": config}
    if isinstance(config, os.PathLike):
        return {"path": os.fspath(config)}
    found = type(config).__name__
    message = f"the configuration is a {found}, but must be a dict, a TOML text or a path"
    raise ConfigError(message, [Problem("", found, "a dict, a TOML text or a path", None, message, None)])


def plain_text(what: str, document: dict[str, Any]) -> str:
    """A document as JSON."""
    try:
        return json.dumps(document, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"{what} can't be understood: {error}") from error


def refuse_no_values(places: Sequence[tuple[str, Any]]) -> None:
    """Refuses ``None``, which stands for no default, and numbers that are not finite."""
    for key, value in places:
        found = _no_value_in(key, value)
        if found is None:
            continue
        name, wrong = found
        if wrong is None:
            fix = "leave the key out for its default"
            message = f"`{name}` is None, which is no value; {fix}"
            raise ConfigError(message, [Problem(name, "None", None, fix, message, None)])
        raise refused(name, wrong, "a finite number")


def _no_value_in(key: str, value: Any) -> tuple[str, float | None] | None:
    """The first ``None`` or number that is not finite in a value, with its key."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return key, value
    if isinstance(value, dict):
        inner = ((f"{key}.{name}" if key else name, item) for name, item in value.items())
    elif isinstance(value, list):
        inner = ((f"{key}[{index}]", item) for index, item in enumerate(value))
    else:
        return None
    return next((found for name, item in inner if (found := _no_value_in(name, item)) is not None), None)


def refused(key: str, found: Any, allowed: str, help: str | None = None) -> ConfigError:
    """The error about an argument or a key."""
    message = f"`{key}` is {found!r}, but must be {allowed}" + (f"; {help}" if help else "")
    return ConfigError(message, [Problem(key, repr(found), allowed, help, message, None)])


def whole(key: str, value: Any, least: int = 0, end: int = 1 << 64) -> int:
    """A whole number from ``least`` on and below ``end``; a fraction is refused rather than cut."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is not None and least <= number < end:
        return number
    most = "2^64 - 1" if end == 1 << 64 else str(end - 1)
    raise refused(key, value, f"a whole number from {least} to {most}")


def whole_or_none(key: str, value: Any, least: int = 0, end: int = 1 << 64) -> int | None:
    """The same of an argument that may be left out."""
    return None if value is None else whole(key, value, least, end)


def finite(key: str, value: Any) -> float:
    """A number that is finite."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise refused(key, value, "a finite number")
    return number


def _seed(seed: int) -> int:
    return whole("seed", seed)


def _plain(value: Any) -> Any:
    """What stands for values that JSON does not know: numbers of NumPy, paths, mappings and sequences of other kinds."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (Sequence, set, frozenset, range)) and not isinstance(value, (bytes, bytearray)):
        return list(value)
    raise TypeError(f"{value!r} is a {type(value).__name__}, which a configuration can't hold")
