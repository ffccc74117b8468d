"""Simulates garbage collection in arrays of SSDs, and the remedies against it.

>>> import flashraid
>>> report = flashraid.run({"ssd": {"geometry": {"dies": 1, "blocks": 64}}, "workload": {"requests": 100}})
>>> report.response.all.count
100
"""

from types import FunctionType

from ._advise import Advice, advise, optuna_objective
from ._config import Config
from ._device import Answer, Device
from ._errors import ConfigError, FlashraidError, Interrupted, Problem, SimulationError
from ._explain import Check, Preset, check, presets, schema
from ._native import __version__
from ._report import Report
from ._requests import ArrowStream, Columns, Workload, read_trace, trace_info, write_trace
from ._run import run
from ._study import Study, StudyCost, StudyResult, compare, merge
from ._table import Table

__all__ = [
    "Advice",
    "Answer",
    "ArrowStream",
    "Check",
    "Columns",
    "Config",
    "ConfigError",
    "Device",
    "FlashraidError",
    "Interrupted",
    "Preset",
    "Problem",
    "Report",
    "SimulationError",
    "Study",
    "StudyCost",
    "StudyResult",
    "Table",
    "Workload",
    "__version__",
    "advise",
    "check",
    "compare",
    "merge",
    "optuna_objective",
    "presets",
    "read_trace",
    "run",
    "schema",
    "trace_info",
    "write_trace",
]

# Tracebacks, help() and pickles name what is public by the name under which users import it.
for _name in __all__:
    if isinstance(globals()[_name], (type, FunctionType)):
        globals()[_name].__module__ = __name__
del _name
