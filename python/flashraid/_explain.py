"""Configurations without running them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from . import _native
from ._config import Config, spec


class Check:
    """What can be said of a configuration without running it: the document of ``flashraid check --json``."""

    document: dict[str, Any]
    """The document as dicts and lists."""

    def __init__(self, document: dict[str, Any], text: str) -> None:
        self.document = document
        self._text = text

    @property
    def array_bytes(self) -> int:
        """Bytes that the array offers."""
        value: int = self.document["array_bytes"]
        return value

    @property
    def memory_bytes(self) -> int:
        """Memory that the state of all members needs, about."""
        value: int = self.document["memory_bytes"]
        return value

    @property
    def write_amplification(self) -> float:
        """What theory expects under uniformly random writes."""
        value: float = self.document["gc"]["write_amplification"]
        return value

    @property
    def warnings(self) -> list[str]:
        """What is allowed, but probably not meant."""
        warnings: list[str] = self.document["warnings"]
        return warnings

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"<flashraid check: {self.array_bytes} bytes, {len(self.warnings)} warnings>"


def check(config: Config, *, settings: Mapping[str, Any] | None = None, seed: int | None = None) -> Check:
    """Explains a configuration without running it: capacities, expected write amplification, whether collection will happen at all, memory, warnings.

    Parameters
    ----------
    config
        As for :func:`run`.
    settings
        Keys that replace the configuration's.
    seed
        Replaces the configuration's seed.

    Returns
    -------
    Check
        The explanation, which prints as that of ``flashraid check``.

    Raises
    ------
    ConfigError
        If the configuration can't be used.
    """
    document, text = _native.check(spec(config, settings=settings, seed=seed))
    return Check(json.loads(document), text)


@dataclass(frozen=True)
class Preset:
    """A device, an array or a workload that comes with flashraid."""

    kind: str
    """``device``, ``array`` or ``workload``."""
    name: str
    """The name that configurations use."""
    summary: str
    """What it is, in one line."""
    text: str
    """All of it as TOML."""


def presets() -> list[Preset]:
    """Lists every preset.

    Returns
    -------
    list of Preset
        Devices, then arrays, then workloads.
    """
    return [Preset(*preset) for preset in _native.presets()]


def schema() -> dict[str, Any]:
    """Returns the JSON Schema of the configuration.

    Returns
    -------
    dict
        The schema, with every key, its type, default and meaning.
    """
    schema: dict[str, Any] = json.loads(_native.schema())
    return schema
