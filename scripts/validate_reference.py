#!/usr/bin/env python3
"""Holds flashraid against results of DiskSim 4.0 with the Microsoft Research SSD extension: `make validate`.

Writes each case's trace to a temporary folder, runs it and prints both results and their difference. Ends with status 1 if a
difference is larger than 2 % (5 % for the maximum).

Means and deviations of the reference's own generator are held against the workload `pgc-synthetic`, which draws other numbers by the same law: within
2 %, too, in the steady state.
"""
import json
import os
import subprocess
import sys
import tempfile

import reference_trace

# Preset, arguments of the trace, and the results of the reference simulator (times in ms).
CASES = {
    "r1": ("pgc2011", (1, 300_000, 877_464, 32, 3, 0.4, 0.4), (0.750464, 1.247284, 9.051938, 14_726, 212_843, 69_978.675)),
    "r2": ("pgc2011", (2, 1_500_000, 7_019_712, 4, 0.6, 0, 0), (1.512219, 3.312480, 16.999103, 54_970, 2_785_591, 709_212.975)),
    "r3": ("pgc2011", (3, 300_000, 7_019_712, 64, 8, 0.2, 0.2), (6.561141, 6.128706, 58.273734, 197_046, 9_267_427, 2_380_740.075)),
    "r4": ("ggc2014", (4, 600_000, 7_025_760, 32, 2, 0.4, 0.4), (3.429824, 5.269568, 13.852631, 173_819, 8_694_211, 2_216_925.975)),
    "r5": ("lawc2017", (5, 400_000, 439_488, 8, 8, 0.2, 0.3), (11.253347, 27.317228, 144.246800, 48_884, 2_417_459, 1_006_148.100)),
    "r6": ("pgc2011", (6, 600_000, 7_019_712, 32, 12, 0.3, 0.3), (21.548638, 36.589883, 119.319000, 188_294, 9_103_202, 4_037_720.473)),
    "r7": ("lawc2017", (7, 600_000, 109_872, 8, 3, 0, 0.2), (2.445923, 6.039685, 47.438822, 32_609, 886_421, 389_036.564)),
}
# Cases with copy-back disabled; the reference collects before reads, too.
NO_COPY_BACK = {"r5", "r6", "r7"}
PROCEDURE = """[ssd.gc]
procedure = "reference-no-copy-back"
trigger = "request"
"""
FIGURES = ("mean", "stddev", "max", "cleans", "pages moved", "cleaning time")
# Size in KiB, share of the footprint, requests, and the mean and deviation (ms) of the reference's generator with PGC Table III's parameters on `pgc2011`
# after the first third. The device starts without garbage, and requests of 8 KiB fill it so slowly that collection would begin in the middle of a
# million of them; as many as write the pages of a million of 32 KiB (2.54 and 8.51 pages each) are as far in the steady state.
GENERATOR = [
    (32, 1.0, 1_000_000, (5.896, 5.757)),
    (32, 0.125, 1_000_000, (1.061, 1.614)),
    (8, 1.0, 3_350_000, (2.242, 4.256)),
    (8, 0.125, 3_350_000, (0.420, 0.831)),
]
GENERATED = """[array]
level = "single"
members = 1
[ssd]
preset = "pgc2011"
[ssd.warm_up]
overwrites = 0
[workload]
preset = "pgc-synthetic"
requests = {requests}
size = {{ distribution = "exponential", mean = "{size}KiB" }}
address = {{ footprint = {footprint} }}
[report]
skip_requests = {skipped}
"""
CONFIGURATION = """[array]
level = "single"
[ssd]
preset = "{preset}"
[ssd.warm_up]
overwrites = 0
[workload]
kind = "trace"
path = "trace"
"""


def report_of(program, folder, text):
    """Runs a configuration."""
    configuration = os.path.join(folder, "case.toml")
    with open(configuration, "w", encoding="utf-8") as out:
        out.write(text)
    return json.loads(subprocess.run([program, "run", configuration, "--json"], check=True, stdout=subprocess.PIPE).stdout)


def simulate(program, folder, preset, case, more):
    """Runs one case; returns its figures in the order of FIGURES."""
    reference_trace.write(os.path.join(folder, "trace"), *case)
    report = report_of(program, folder, CONFIGURATION.format(preset=preset) + more)
    response, flash = report["response_us"]["all"], report["flash"]
    milliseconds = [response[name] / 1e3 for name in ("mean", "stddev", "max")]
    return (*milliseconds, flash["erases"], flash["gc_pages_moved"], report["gc"]["time_ms"])


def compare(name, figures, reference, measured):
    """Prints a line for each figure; whether all are near enough."""
    good = True
    for figure, expected, found in zip(figures, reference, measured):
        difference = found / expected - 1
        good &= abs(difference) <= (0.05 if figure == "max" else 0.02)
        print(f"{name:12} {figure:14} {expected:16,.6f} {found:16,.6f} {100 * difference:10.4f}%")
    return good


def main():
    """Runs all cases and prints the table."""
    program = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "target/release/flashraid")
    print(f"{'case':12} {'figure':14} {'reference':>16} {'flashraid':>16} {'difference':>11}")
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for name, (preset, case, reference) in CASES.items():
            measured = simulate(program, folder, preset, case, PROCEDURE if name in NO_COPY_BACK else "")
            good &= compare(name, FIGURES, reference, measured)
        for size, footprint, requests, reference in GENERATOR:
            text = GENERATED.format(size=size, footprint=footprint, requests=requests, skipped=requests // 3)
            response = report_of(program, folder, text)["response_us"]["all"]
            measured = [response[name] / 1e3 for name in ("mean", "stddev")]
            good &= compare(f"{size} KiB, {footprint}", FIGURES[:2], reference, measured)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
