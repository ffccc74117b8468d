"""Runs the README's five lines of Python on small arrays: python five_lines.py README.md

It uses nothing but flashraid, so that it runs where only the wheel is installed.
"""

import re
import sys

import flashraid

SMALL = {"ssd.geometry.blocks": 64, "ssd.geometry.pages": 16, "ssd.geometry.dies": 2, "ssd.geometry.planes": 1, "workload.requests": 500}
study = flashraid.Study


def small_study(config):
    """A study of the same configuration on small SSDs: arrays of the real size take minutes in a program that was built for tests."""
    made = study(config)
    for key, value in SMALL.items():
        made = made.set(key, value)
    return made


with open(sys.argv[1], encoding="utf-8") as readme:
    (lines,) = re.findall(r"^```python\n(.*?)^```$", readme.read(), re.MULTILINE | re.DOTALL)
flashraid.Study = small_study
exec(compile(lines, sys.argv[1], "exec"), {})
