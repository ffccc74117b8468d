#!/usr/bin/env python3
"""Writes the traces of docs/validation.md: DiskSim ASCII (arrival in ms, device, first sector, sectors, 1 = read).

Exponential gaps and sizes (rounded up to pages of 4 KiB; a mean of 4 KiB gives one page exactly), a share of sequential
requests, a share of reads. Python's generator is the same on every machine, so the traces are, too.
"""
import argparse
import math
import random


def requests(seed, count, footprint_pages, mean_kib, mean_gap_ms, sequential, reads):
    """Yields (arrival in ms, first page, pages, is it a read)."""
    draw = random.Random(seed).random
    arrival_ms = 0.0
    following = 0
    for _ in range(count):
        arrival_ms += -mean_gap_ms * math.log(1.0 - draw())
        pages = 1 if mean_kib <= 4 else max(1, math.ceil(-mean_kib / 4 * math.log(1.0 - draw())))
        goes_on = draw() < sequential and following + pages <= footprint_pages
        first = following if goes_on else int(draw() * (footprint_pages - pages))
        is_read = draw() < reads
        following = first + pages
        yield arrival_ms, first, pages, is_read


def write(path, *case):
    """Writes the trace of one case to a file."""
    with open(path, "w", encoding="ascii") as out:
        for arrival_ms, first, pages, is_read in requests(*case):
            out.write(f"{arrival_ms:.6f} 0 {first * 8} {pages * 8} {int(is_read)}\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("output")
    for name in ("seed", "count", "footprint_pages"):
        parser.add_argument(name, type=int)
    for name in ("mean_kib", "mean_gap_ms", "sequential", "reads"):
        parser.add_argument(name, type=float)
    arguments = vars(parser.parse_args())
    write(arguments.pop("output"), *arguments.values())
