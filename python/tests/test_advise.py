"""Advice: the same answer as the program's, in Python's words, and in Optuna's."""

import json
from typing import Any

import flashraid
import pytest

LOAD: dict[str, Any] = {
    "array": {"level": "raid0", "members": 2},
    "ssd": {"geometry": {"dies": 2, "planes": 2, "blocks": 24, "pages": 16, "reserved": 0.4}},
    "workload": {"read_fraction": 1.0, "size": "4KiB", "arrivals": {"process": "poisson", "mean_gap": "100us"}},
}
SPACE = {"members": [2, 3], "chunk": ["16KiB", "64KiB"]}


def ask(**changed: Any) -> flashraid.Advice:
    question: dict[str, Any] = {"capacity": "1MB", "goals": ["read p99 <= 1s"], "space": SPACE, "requests": 200_000}
    return flashraid.advise(LOAD, **{**question, **changed})


def test_the_answer_can_be_read_and_run() -> None:
    advice = ask()
    assert advice.verb == "either" and advice.settings["members"] == 2
    assert advice.document["schema"] == "flashraid.advice/1" and advice.why[0].startswith("Either")
    assert {figure["figure"] for figure in advice.figures} >= {"read p99", "capacity", "cost"}
    taken = advice.take
    assert taken is not None
    taken["workload"]["requests"] = 100
    assert flashraid.run(taken).requests_done.all == 100
    points = advice.points
    assert len(points) == 4 and points["named"].count(True) == 2 and set(points["members"]) == {"2", "3"}
    assert "Either" in str(advice) and "front" in advice.charts and "All arrays" in advice.html()
    assert ask().json() == advice.json()


@pytest.mark.parametrize(
    ("changed", "part"),
    [
        ({"goals": ["speed <= 1ms"]}, "is no figure"),
        ({"space": {"memmbers": [2]}}, "there is no axis memmbers"),
        ({"capacity": "much"}, "capacity"),
        ({"prices": {"years": "5", "drives": {}}}, "years"),
        ({"sure": 2}, "sure is 2"),
        ({"capacity": "900TB"}, "offers as much"),
    ],
)
def test_what_makes_no_sense_is_refused(changed: dict[str, Any], part: str) -> None:
    with pytest.raises(flashraid.ConfigError, match=part):
        ask(**changed)


def test_optuna_takes_the_points() -> None:
    optuna = pytest.importorskip("optuna")
    study = ask().to_optuna()
    assert len(study.trials) == 4 and {trial.params["members"] for trial in study.trials} == {2, 3}
    assert all(trial.state == optuna.trial.TrialState.COMPLETE for trial in study.trials)
    assert json.dumps(study.trials[0].user_attrs)


def test_an_objective_reports_a_value_for_each_seed() -> None:
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    config = {**LOAD, "workload": {**LOAD["workload"], "requests": 200}}
    objective = flashraid.optuna_objective({"array.members": [2, 3]}, config, lambda report: report.response.read.mean_us, seeds=2)
    study = optuna.create_study()
    study.optimize(objective, n_trials=2)
    assert all(sorted(trial.intermediate_values) == [1, 2] for trial in study.trials)
