"""One simulation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import _native
from ._config import Config, spec, whole_or_none
from ._errors import Interrupted
from ._report import Report
from ._requests import Columns, Workload


def run(
    config: Config,
    requests: bool = False,
    *,
    settings: Mapping[str, Any] | None = None,
    seed: int | None = None,
    workload: Workload | Columns | None = None,
    threads: int | None = None,
    keep_warm: bool = True,
    verify: bool = False,
    because: bool = False,
    progress: Callable[[str, float], object] | None = None,
) -> Report:
    """Runs one configuration to its report.

    The interpreter is free for other threads meanwhile.

    Parameters
    ----------
    config
        A dict, the text of a TOML file, or the path of one. Paths in a file are relative to its folder, others to the working folder.
    requests
        Keeps every request for :attr:`Report.requests`.
    settings
        Keys that replace the configuration's, such as ``{"ssd.gc.victim": "fifo"}``; as ``--set`` of the program.
    seed
        Replaces the configuration's seed, from which every random choice follows.
    workload
        Requests of your own in place of the configuration's ``[workload]``, of which then only ``requests`` and ``duration`` count.
    threads
        Threads for warm-ups and for open loops, at least 1; without it one for each processor. Changes no result.
    keep_warm
        Keeps the states after long warm-ups in the user's cache folder, and takes from there what an earlier run left. Changes no result.
    verify
        Looks through the whole state of every SSD at the end.
    because
        Runs the same requests again with one thing changed (no collection, no parity, reads alone, one at a time), for :attr:`Report.because`.
        Each of these up to four runs takes as long as the first.
    progress
        Called about twenty times a second with ``"warm-up"`` or ``"run"`` and the share that is done. What it raises ends the run.

    Returns
    -------
    Report
        What the run reports.

    Raises
    ------
    ConfigError
        If an argument or the configuration can't be used.
    SimulationError
        If the run can't be finished, for instance because a trace can't be read to its end.
    Interrupted
        If Ctrl-C ended the run; it has the report of what was done.

    Examples
    --------
    >>> report = run({"array": {"members": 2}, "ssd": {"geometry": {"dies": 1, "blocks": 64}}, "workload": {"requests": 100}})
    >>> report.requests_done.all, report.partial
    (100, False)
    """
    threads = whole_or_none("threads", threads, least=1)
    native, rows, raised = _native.run(
        spec(config, settings=settings, seed=seed),
        requests=requests,
        workload=_native_workload(workload),
        threads=threads,
        keep_warm=keep_warm,
        verify=verify,
        because=because,
        progress=progress,
    )
    report = Report(native, rows) if native is not None else None
    if isinstance(raised, KeyboardInterrupt):
        what = "before its first request" if report is None else "before its end; .report has what was done"
        raise Interrupted(f"the run was stopped {what}", report) from raised
    if raised is not None:
        raise raised
    assert report is not None
    return report


def _native_workload(workload: Workload | Columns | None) -> _native.Requests | None:
    if workload is None:
        return None
    return (workload if isinstance(workload, Workload) else Workload(workload))._native
