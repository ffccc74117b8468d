"""Advice: from a load and goals to an array."""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from . import _native
from ._config import Config, finite, plain_text, refuse_no_values, spec, whole, whole_or_none
from ._errors import ConfigError, Interrupted
from ._shown import Shown
from ._table import Table


def advise(
    load: Config,
    *,
    capacity: str | int,
    goals: Sequence[str] = (),
    space: Mapping[str, Any] | str | None = None,
    drives: Sequence[str] = ("nvme-tlc-read", "nvme-tlc-mixed"),
    bays: tuple[int, int] = (4, 12),
    prefer: Sequence[str] = ("cost", "tail"),
    allow: Sequence[str] = ("now", "application"),
    under: Sequence[str] = ("failed", "rebuild", "slow"),
    now: str | os.PathLike[str] | None = None,
    prices: Mapping[str, Any] | str | None = None,
    growth: float = 1.0,
    requests: int | None = None,
    effort_s: float = 120.0,
    sure: float = 0.95,
    seed: int = 1,
    workers: int | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Advice:
    """Goes from a load and goals to an array: which drive, how many, which level, how sure; as ``flashraid advise``.

    Parameters
    ----------
    load
        A dict, the text of a TOML file, or the path of one. Of its array and drive counts what no axis of the space sets.
    capacity
        Least capacity of the array, in bytes or as ``"60TB"``.
    goals
        Such as ``"read p99 <= 500us"``, ``"life >= 5y"`` or ``"rebuild hours <= 24"``.
    space
        The axes with their values: a dict, or a TOML text with a table ``[space]``. Without it ``drives``, ``bays`` and the usual choices.
    drives
        Drives of the usual choices.
    bays
        Least and greatest number of drives of the usual choices.
    prefer
        What decides between arrays that reach the goals, the first most.
    allow
        What a remedy may need, such as ``"application"``.
    under
        Circumstances in which goals must hold, too.
    now
        The configuration of the present array, a file.
    prices
        A dict or a TOML text: ``{"years": "5y", "drives": {"nvme-tlc-read": {"price": "900 EUR"}}}``.
    growth
        Factor by which the load grows.
    requests
        Requests that may be simulated, at least 1. The same number gives the same answer; without it ``effort_s`` seconds of this machine.
    effort_s
        Seconds of this machine, unless ``requests`` are given.
    sure
        Probability with which the answer is right, in the model.
    seed
        The seed of all random choices.
    workers
        Simulations at a time, at least 1; without it one for each processor.
    settings
        Keys that replace the load's, such as ``{"workload.rate_scale": 10}``.

    Returns
    -------
    Advice
        The answer, which prints as that of ``flashraid advise``.

    Raises
    ------
    ConfigError
        If an argument or the load can't be used, or the space has no array of this capacity.
    SimulationError
        If a simulation can't be finished.
    Interrupted
        If Ctrl-C ended the search; it has the answer so far.

    Examples
    --------
    >>> load = {
    ...     "array": {"level": "raid0", "members": 2},
    ...     "ssd": {"geometry": {"dies": 2, "blocks": 64}},
    ...     "workload": {"read_fraction": 1.0, "size": "4KiB", "arrivals": {"process": "poisson", "mean_gap": "100us"}},
    ... }
    >>> space = {"members": [2, 3]}
    >>> advice = advise(load, capacity="1MB", goals=["read p99 <= 1s"], space=space, requests=300_000)
    >>> advice.verb, advice.settings
    ('take', {'members': 2})
    """
    question = {
        "name": os.fspath(load) if isinstance(load, os.PathLike) else "the load",
        "capacity": capacity,
        "goals": list(goals),
        "space": dict(space) if isinstance(space, Mapping) else space,
        "drives": list(drives),
        "bays": [whole("bays", number, least=1, end=129) for number in bays],
        "prefer": list(prefer),
        "allow": list(allow),
        "under": list(under),
        "now": None if now is None else os.fspath(now),
        "prices": dict(prices) if isinstance(prices, Mapping) else prices,
        "growth": finite("growth", growth),
        "sure": finite("sure", sure),
        "seed": whole("seed", seed, end=1 << 62),
        "requests": whole_or_none("requests", requests, least=1),
        "effort_s": finite("effort_s", effort_s),
        "workers": whole_or_none("workers", workers, least=1),
    }
    text = plain_text("the question", question)
    read = json.loads(text)
    refuse_no_values([(key, read[key]) for key in ("capacity", "space", "prices") if read[key] is not None])
    native, raised = _native.advise(spec(load, settings=settings), text)
    advice = Advice(native)
    if isinstance(raised, KeyboardInterrupt):
        raise Interrupted("the search was stopped; the answer so far is in .advice", advice=advice) from raised
    if raised is not None:
        raise raised
    return advice


class Advice(Shown[_native.Advice]):
    """The answer to a question about arrays."""

    _chart = "front"

    def __init__(self, native: _native.Advice) -> None:
        self._native = native

    @cached_property
    def document(self) -> dict[str, Any]:
        """The document of ``flashraid advise --json``."""
        document: dict[str, Any] = json.loads(self.json())
        return document

    @property
    def verb(self) -> str:
        """``take``, ``either``, ``keep``, ``not-reachable``, ``cant-tell``, ``front`` or ``idle``."""
        verb: str = self.document["verb"]
        return verb

    @property
    def take(self) -> dict[str, Any] | None:
        """The configuration of the array to take, with its load, for :func:`run`; ``None`` if none is named."""
        configuration: dict[str, Any] | None = self.document.get("configuration")
        return None if configuration is None else _without_none(configuration)

    @property
    def settings(self) -> dict[str, Any]:
        """The values of the axes of the first array that is named; empty without one."""
        named = self.document["named"]
        return dict(self.document["points"][named[0]]["settings"]) if named else {}

    @property
    def figures(self) -> list[dict[str, Any]]:
        """The figures of this array, each with its value, intervals, goal and certainty."""
        named = self.document["named"]
        return list(self.document["points"][named[0]]["figures"]) if named else []

    @property
    def why(self) -> list[str]:
        """The sentences of the answer, and what each change from the present array is worth."""
        steps = [
            f"{step['change']}: {step['ratio'] - 1:+.1%} ({step['interval'][0] - 1:+.1%} to {step['interval'][1] - 1:+.1%})"
            for step in self.document["why"]
        ]
        return [*self.document["sentences"], *steps]

    @property
    def points(self) -> Table:
        """A row for each point of the space: its settings (keys with underscores), the stage that it reached, why it left, cost and score."""
        return Table(self._native.points())

    def to_optuna(self) -> Any:
        """Returns the arrays that were run as a study of Optuna (``pip install flashraid[optuna]``).

        Arrays that were not run are left out. Axes are categorical, and ``user_attrs`` have name, stage, reason and figures. An array that missed a goal has
        a constraint above 0.

        Returns
        -------
        optuna.Study
            A trial for each array, whose values are cost and the logarithm of the compared figure.

        Raises
        ------
        ConfigError
            If Optuna is not installed.
        """
        optuna = _optuna()
        run = [point for point in self.document["points"] if "score" in point and not point.get("now")]
        axes = list(dict.fromkeys(key for point in self.document["points"] for key in point["settings"]))
        values = {
            key: list(dict.fromkeys(point["settings"][key] for point in self.document["points"] if key in point["settings"]))
            for key in axes
        }
        distributions = {key: optuna.distributions.CategoricalDistribution(values[key]) for key in axes}
        # A study has one kind of score: that of most arrays.
        kinds = [point["score_of"] for point in run]
        kind = max(dict.fromkeys(kinds), key=kinds.count, default=None)
        study = optuna.create_study(directions=["minimize", "minimize"], study_name=f"flashraid advise: {kind}")
        trials = []
        for point in run:
            if point["score_of"] != kind:
                continue
            missed = any(figure.get("word") == "missed" for figure in point["figures"]) or point["reason"].startswith("misses")
            trials.append(
                optuna.trial.create_trial(
                    params={key: point["settings"][key] for key in axes},
                    distributions=distributions,
                    values=[point.get("cost", point["cost_bytes"]), point["score"]],
                    user_attrs={key: point[key] for key in ("name", "stage", "reason", "figures")},
                    system_attrs={"constraints": [1.0 if missed else -1.0]},
                )
            )
        study.add_trials(trials)
        return study


def optuna_objective(
    space: Mapping[str, Sequence[Any]],
    config: Config,
    figure: Callable[[Any], float],
    *,
    seeds: int = 5,
    settings: Mapping[str, Any] | None = None,
) -> Callable[[Any], float]:
    """Makes an objective for Optuna: a trial chooses a value for each key, and each seed reports one value with ``step=seed``, as ``WilcoxonPruner`` wants it.

    Parameters
    ----------
    space
        Keys of the configuration with their values.
    config
        As for :func:`run`.
    figure
        What is minimised of a report.
    seeds
        Runs of a trial, at least 1, unless it is pruned.
    settings
        Keys that replace the configuration's.

    Returns
    -------
    callable
        What ``study.optimize`` takes.

    Raises
    ------
    ConfigError
        If Optuna is not installed, or an argument can't be used.

    Examples
    --------
    .. code-block:: python

        objective = flashraid.optuna_objective({"array.members": [4, 6, 8]}, "array.toml", lambda report: report.response.read.p99)
        study = optuna.create_study(pruner=optuna.pruners.WilcoxonPruner())
        study.optimize(objective, n_trials=20)
    """
    from ._run import run

    optuna = _optuna()
    seeds = whole("seeds", seeds, least=1)

    def objective(trial: Any) -> float:
        chosen = {key: trial.suggest_categorical(key, list(values)) for key, values in space.items()}
        found: list[float] = []
        for seed in range(1, seeds + 1):
            found.append(float(figure(run(config, settings={**(settings or {}), **chosen}, seed=seed))))
            trial.report(found[-1], step=seed)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return sum(found) / len(found)

    return objective


def _optuna() -> Any:
    try:
        return importlib.import_module("optuna")
    except ImportError as error:
        raise ConfigError("optuna is not installed: pip install flashraid[optuna]") from error


def _without_none(value: Any) -> Any:
    """The same without keys that have no value, which a configuration leaves out."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_without_none(item) for item in value]
    return value
