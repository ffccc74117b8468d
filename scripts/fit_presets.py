#!/usr/bin/env python3
"""Fits mlc-sata2 and slc-sata2 to GGC Table 3, and the controller of the measured arrays to GGC Table 4.

Of a drive page_read, page_program and how many blocks it collects at a time (gc.stop = "start+n") are fitted, to the means and the coefficients of variation of
Table 3; of the controller both of its numbers, to the means of Table 4, the drives being what they are then. Nothing else is looked at.
The error is the root of the mean square of ln(ours / paper) over the means, and for drives also of the differences of the coefficients of variation.

Usage: scripts/fit_presets.py target/release/flashraid [drives] [controller]
"""

import json
import math
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

WRITES = (80, 60, 40, 20)
TABLE_3 = {
    "mlc-sata2": ((176.4, 184.8, 207.4, 249.9), (6.37, 7.88, 6.73, 1.42)),
    "slc-sata2": ((223.5, 239.3, 257.1, 285.1), (7.96, 8.38, 5.86, 0.28)),
}
TABLE_4 = {"mlc-sata2": (601.2, 689.6, 751.2, 945.7), "slc-sata2": (851.5, 961.2, 1026.1, 1095.2)}
# Where the search begins: us, us, blocks.
START = {"mlc-sata2": (95, 112, 1), "slc-sata2": (85, 70, 1)}
BATCHES = (1, 2, 4, 8, 12, 16, 24, 32, 48)
# 64 are as many as W3 keeps in flight: no limit.
OUTSTANDING = (4, 8, 16, 32, 48, 64)
BANDWIDTHS = (750, 800, 850, 900, 1000, 1150)
ONE = '[array]\nlevel = "single"\n[workload]\nduration = "40s"\n[report]\nskip_time = "10s"\n'
SIX = '[array]\nlevel = "raid0"\nmembers = 6\nstripe_unit = "256KiB"\n[workload]\nduration = "30s"\n[report]\nskip_time = "10s"\n'


def run(program, path, settings):
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    result = subprocess.run([program, "run", path, "--json", *options], capture_output=True, text=True)
    if result.returncode:
        sys.exit(result.stderr)
    bandwidth = json.loads(result.stdout)["bandwidth_mb_s"]
    return bandwidth["mean"], bandwidth["cv"]


def rms(values):
    values = list(values)
    return math.sqrt(sum(value * value for value in values) / len(values))


def drive_settings(read_us, program_us, batch):
    return {"ssd.timing.page_read": f"{read_us}us", "ssd.timing.page_program": f"{program_us}us", "ssd.gc.stop": f"start+{batch}"}


def fit_drive(program, path, device, pool):
    means, deviations = TABLE_3[device]
    known = {}

    def error(candidate):
        if candidate not in known:
            settings = [{"ssd.preset": device, "workload.preset": f"w1({writes})", **drive_settings(*candidate)} for writes in WRITES]
            measured = list(pool.map(lambda setting: run(program, path, setting), settings))
            of_means = rms(math.log(ours / paper) for (ours, _), paper in zip(measured, means))
            of_cvs = rms(cv - deviation / mean for (_, cv), mean, deviation in zip(measured, means, deviations))
            known[candidate] = math.hypot(of_means, of_cvs), measured
        return known[candidate][0]

    best = START[device]
    while True:
        read_us, program_us, _ = best
        around = [best]
        around += [(*best[:2], batch) for batch in BATCHES]
        around += [(value, *best[1:]) for value in range(max(5, read_us - 15), read_us + 16, 5)]
        around += [(best[0], value, best[2]) for value in range(max(5, program_us - 15), program_us + 16, 5)]
        # What reads lose programs can gain.
        around += [(read_us + by, program_us - by, best[2]) for by in (-10, -5, 5, 10) if read_us + by > 0 < program_us - by]
        nearest = min(around, key=error)
        if error(nearest) >= error(best):
            break
        best = nearest
    for candidate in sorted(known, key=error)[:5]:
        (of_error, measured) = known[candidate]
        text = ", ".join(f"{mean:.1f} (CV {cv:.4f})" for mean, cv in measured)
        print(f"{device}: read {candidate[0]} us, program {candidate[1]} us, batch {candidate[2]}: {text}; error {of_error:.4f}", flush=True)
    return best


def fit_controller(program, path, pool):
    results = []
    for outstanding in OUTSTANDING:
        for bandwidth in BANDWIDTHS:
            settings = [
                {
                    "ssd.preset": device,
                    "workload.preset": f"w3({writes})",
                    "array.controller.outstanding": outstanding,
                    "array.controller.bandwidth": f"{bandwidth}MB/s",
                }
                for device in TABLE_4
                for writes in WRITES
            ]
            measured = [mean for mean, _ in pool.map(lambda setting: run(program, path, setting), settings)]
            paper = [mean for means in TABLE_4.values() for mean in means]
            error = rms(math.log(ours / theirs) for ours, theirs in zip(measured, paper))
            results.append((error, outstanding, bandwidth, [round(mean) for mean in measured]))
    for error, outstanding, bandwidth, measured in sorted(results)[:8]:
        print(f"controller: {outstanding} outstanding, {bandwidth} MB/s: {measured}; error {error:.4f}", flush=True)


def main():
    program, what = sys.argv[1], sys.argv[2:] or ["drives", "controller"]
    with ThreadPoolExecutor(2) as pool, tempfile.TemporaryDirectory() as folder:
        for name, text in (("one", ONE), ("six", SIX)):
            with open(f"{folder}/{name}.toml", "w", encoding="utf-8") as file:
                file.write(text)
        if "drives" in what:
            for device in TABLE_3:
                fit_drive(program, f"{folder}/one.toml", device, pool)
        if "controller" in what:
            fit_controller(program, f"{folder}/six.toml", pool)


if __name__ == "__main__":
    main()
