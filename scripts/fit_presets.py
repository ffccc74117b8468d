#!/usr/bin/env python3
"""Fits page_read and page_program of mlc-sata2 and slc-sata2 to the means of GGC Table 3; prints the best of a grid around the present values.

Usage: scripts/fit_presets.py target/release/flashraid
"""

import json
import math
import subprocess
import sys
import tempfile

TABLE_3 = {"mlc-sata2": {80: 176.4, 60: 184.8, 40: 207.4, 20: 249.9}, "slc-sata2": {80: 223.5, 60: 239.3, 40: 257.1, 20: 285.1}}
AROUND = {"mlc-sata2": (95, 112), "slc-sata2": (85, 70)}
CONFIGURATION = '[array]\nlevel = "single"\n[ssd]\npreset = "mlc-sata2"\n[workload]\nduration = "12s"\n[report]\nskip_time = "2s"\n'


def bandwidth(program, path, device, writes, read_us, program_us):
    settings = {
        "ssd.preset": device,
        "workload.preset": f"w1({writes})",
        "ssd.timing.page_read": f"{read_us}us",
        "ssd.timing.page_program": f"{program_us}us",
    }
    options = [part for key, value in settings.items() for part in ("--set", f"{key}={value}")]
    output = subprocess.run([program, "run", path, "--json", *options], capture_output=True, text=True, check=True).stdout
    return json.loads(output)["bandwidth_mb_s"]["mean"]


def main():
    program = sys.argv[1]
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(CONFIGURATION)
        file.flush()
        for device, means in TABLE_3.items():
            results = []
            read, write = AROUND[device]
            for read_us in (read - 5, read, read + 5):
                for program_us in (write - 5, write, write + 5):
                    measured = [bandwidth(program, file.name, device, writes, read_us, program_us) for writes in means]
                    error = math.sqrt(sum(math.log(ours / theirs) ** 2 for ours, theirs in zip(measured, means.values())) / len(means))
                    results.append((error, read_us, program_us, [round(value, 1) for value in measured]))
            for error, read_us, program_us, measured in sorted(results):
                print(f"{device}: read {read_us} us, program {program_us} us: {measured} MB/s, relative error {error:.3f}")


if __name__ == "__main__":
    main()
