"""Configurations: dicts, TOML texts or paths, as the native part takes them."""

from __future__ import annotations

import json
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
    baseline: Any = None,
    seeds: int = 1,
    shard: tuple[int, int] | None = None,
) -> str:
    """The JSON text that describes a simulation or a study to the native part."""
    document: dict[str, Any] = {"config": _config(config)}
    document["set"] = [[key, value] for key, value in (settings or {}).items()]
    document["vary"] = [[key, list(values)] for key, values in vary]
    document["seeds"] = seeds
    if seed is not None:
        document["seed"] = _seed(seed)
    if baseline is not None:
        document["baseline"] = baseline
    if shard is not None:
        document["shard"] = list(shard)
    try:
        return json.dumps(document, default=_plain, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the configuration can't be understood: {error}") from error


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


def _seed(seed: int) -> int:
    number = int(seed)
    if 0 <= number < 1 << 64:
        return number
    message = f"`seed` is {seed}, but must be a whole number from 0 to 2^64 - 1"
    raise ConfigError(message, [Problem("seed", str(seed), "a whole number from 0 to 2^64 - 1", None, message, None)])


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
