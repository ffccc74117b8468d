"""What goes wrong, as exceptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._advise import Advice
    from ._report import Report
    from ._study import StudyResult


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong with what was given."""

    key: str
    """The key it is about, such as ``ssd.gc.victim``; empty if it is about everything."""
    found: str | None
    """What was found there, as it was written."""
    allowed: str | None
    """What is allowed in its place, if that can be said in a few words."""
    help: str | None
    """The likely fix."""
    message: str
    """All of it in a sentence."""
    place: str | None
    """Where it was written, as ``file:line:column``."""


class FlashraidError(Exception):
    """The base of every error of this package except :class:`Interrupted`."""


class ConfigError(FlashraidError, ValueError):
    """What was given can't be used: a configuration, a study, requests, a file that they name."""

    problems: list[Problem]
    """Everything that is wrong, in the order of places."""

    def __init__(self, message: str, problems: list[Problem] | None = None) -> None:
        super().__init__(message)
        self.problems = problems if problems is not None else [Problem("", None, None, None, message, None)]

    @classmethod
    def _of(
        cls, message: str, problems: list[tuple[str, str | None, str | None, str | None, str, str | None]]
    ) -> ConfigError:
        return cls(message, [Problem(*problem) for problem in problems])

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, list[Problem]]]:
        return (type(self), (str(self), self.problems))


class SimulationError(FlashraidError, RuntimeError):
    """A run or a study could not be finished: a disk failed, a worker was lost too often, time ended."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C ended a run, a study or a search. What was done until then is here."""

    report: Report | None
    """The report of the part of a run that was done, marked as partial; ``None`` if no request was done, and for a study."""
    study: StudyResult | None
    """The simulations of a study that were done; ``None`` for a run."""
    advice: Advice | None
    """The answer so far of a search; ``None`` for others."""

    def __init__(
        self,
        message: str,
        report: Report | None = None,
        study: StudyResult | None = None,
        advice: Advice | None = None,
    ) -> None:
        super().__init__(message)
        self.report = report
        self.study = study
        self.advice = advice
