#!/usr/bin/env python3
"""Fits mlc-sata2, slc-sata2 and the controller of GGC's measured arrays together, to Tables 3 and 4 of the paper (docs/measured-drives.md).

Usage: scripts/fit_presets.py target/release/flashraid [--jobs N]    fits, and writes scripts/fit_presets.json, the page and its picture
       scripts/fit_presets.py --page [--check]                       makes only page and picture, or says whether they are those of the results

Finished runs are kept in target/fit, so that a fit goes on where it was stopped. The page has the rule of the fit.
"""

import json
import math
import statistics
import sys
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

import fit_presets_page
from kept_runs import KeptRuns

WRITES = (80, 60, 40, 20)
TABLE_3 = {
    "mlc-sata2": ((176.4, 184.8, 207.4, 249.9), (6.37, 7.88, 6.73, 1.42)),
    "slc-sata2": ((223.5, 239.3, 257.1, 285.1), (7.96, 8.38, 5.86, 0.28)),
}
TABLE_4 = {
    "mlc-sata2": ((601.2, 689.6, 751.2, 945.7), (72.32, 110.5, 113.94, 11.14)),
    "slc-sata2": ((851.5, 961.2, 1026.1, 1095.2), (34.98, 46.37, 40.38, 11.39)),
}
# Standard deviations of the logarithms: means of one drive, means of arrays, deviations.
ONE_SIGMA, ARRAY_SIGMA, DEVIATION_SIGMA = 0.03, 0.14, 0.37
SEEDS = (1, 2, 3)
# Blocks collected at a time, in a device that is overwritten before; or the second at which the measured half minute begins in a filled device that collects
# one block at a time.
OPTIONS = [("batch", batch) for batch in (1, 2, 4, 8, 16, 32)] + [("start", start) for start in (0, 30, 60)]
OUTSTANDING = (2, 3, 4, 5, 6, 8)
CEILINGS = (1000, 1250, 1500, 3000)
# Where the search begins: us of read and program, requests in work and MB/s.
FIRST_TIMES = {"mlc-sata2": (95, 112), "slc-sata2": (85, 72)}
FIRST_CONTROLLER = (4, 1500)
# Contenders whose loss is within this of the least are judged by three seeds.
NEAR = 4.0


@dataclass(frozen=True)
class Drive:
    """What is fitted of a drive."""

    device: str
    read: int
    program: int
    option: str
    value: int

    def settings(self):
        batch = self.value if self.option == "batch" else 1
        return {
            "ssd.preset": self.device,
            "ssd.timing.page_read": f"{self.read}us",
            "ssd.timing.page_program": f"{self.program}us",
            "ssd.gc.stop": f"start+{batch}",
        }

    def window(self, skipped, measured):
        """The measured time: after `skipped` seconds on a device that has been overwritten, else the half minute from the second that is tried."""
        if self.option == "batch":
            return {"report.skip_time": f"{skipped}s", "workload.duration": f"{skipped + measured}s"}
        return {"report.skip_time": f"{self.value}s", "workload.duration": f"{self.value + 30}s", "ssd.warm_up.overwrites": "0"}

    def with_option(self, option):
        return replace(self, option=option[0], value=option[1])


class Runs(KeptRuns):
    """Simulations of drives and arrays: means and deviations of their bandwidth in MB/s."""

    def __init__(self, program, jobs):
        super().__init__(program, Path("target/fit"), jobs, lambda report: [report["bandwidth_mb_s"][figure] for figure in ("mean", "stddev")])
        self.empty = self.folder / "empty.toml"
        self.empty.write_text("", encoding="utf-8")

    def all(self, settings):
        return super().all([(self.empty, of) for of in settings])

    def one(self, drive, seeds=SEEDS[:1]):
        """Means and deviations of one drive at each share of writes, as the averages over seeds."""
        setting = lambda writes, seed: {"array.level": "single", "workload.preset": f"w1({writes})", "seed": seed}
        measured = self.all([{**drive.settings(), **drive.window(10, 30), **setting(*of)} for of in product(WRITES, seeds)])
        return averages(measured, len(seeds))

    def array(self, drive, controller, shapes, window, seeds):
        outstanding, ceiling = controller
        limits = {"array.controller.outstanding": outstanding, "array.controller.bandwidth": f"{ceiling}MB/s", "array.stripe_unit": "256KiB"}
        shape = lambda level, members, workload: {"array.level": level, "array.members": members, "workload.preset": workload}
        settings = [{**drive.settings(), **drive.window(*window), **limits, **shape(*of), "seed": seed} for of, seed in product(shapes, seeds)]
        return averages(self.all(settings), len(seeds))

    def six(self, drive, controller, seeds=SEEDS[:1], window=(1, 6)):
        return self.array(drive, controller, [("raid0", 6, f"w3({writes})") for writes in WRITES], window, seeds)


def averages(measured, seeds):
    groups = [measured[at : at + seeds] for at in range(0, len(measured), seeds)]
    return [tuple(statistics.fmean(values) for values in zip(*group)) for group in groups]


def squares(ours, paper, sigma):
    # A deviation below 10 kB/s is none.
    return sum((math.log(max(value, 0.01) / wanted) / sigma) ** 2 for value, wanted in zip(ours, paper, strict=True))


def loss_of_one(device, measured):
    """The seven targets of Table 3 for this drive; the deviation at 20 % writes is left out."""
    means, deviations = TABLE_3[device]
    ours = [deviation for _, deviation in measured]
    return squares([mean for mean, _ in measured], means, ONE_SIGMA) + squares(ours[:3], deviations[:3], DEVIATION_SIGMA)


def loss_of_six(device, measured):
    return squares([mean for mean, _ in measured], TABLE_4[device][0], ARRAY_SIGMA)


def least_squares(rows, wanted):
    """The one or two unknowns that come nearest to what is wanted, by the normal equations."""
    if len(rows[0]) == 1:
        return [sum(row[0] * value for row, value in zip(rows, wanted)) / sum(row[0] ** 2 for row in rows)]
    a, b, c = (sum(row[i] * row[j] for row in rows) for i, j in ((0, 0), (0, 1), (1, 1)))
    u, v = (sum(row[i] * value for row, value in zip(rows, wanted)) for i in (0, 1))
    return [(u * c - v * b) / (a * c - b * b), (v * a - u * b) / (a * c - b * b)]


class Fit:
    def __init__(self, runs):
        self.runs, self.known_slopes = runs, {}

    def one(self, drive, seeds=SEEDS[:1]):
        return loss_of_one(drive.device, self.runs.one(drive, seeds))

    def six(self, drive, controller, seeds=SEEDS[:1]):
        return loss_of_six(drive.device, self.runs.six(drive, controller, seeds))

    def descend(self, best, error, step):
        """Moves read and program times by steps while that lowers the error. `error` may stop counting at the error to beat."""
        least, moved = error(best, math.inf), True
        while moved:
            moved = False
            for read, program in ((step, 0), (-step, 0), (0, step), (0, -step), (step, -step), (-step, step)):
                tried = replace(best, read=best.read + read, program=best.program + program)
                if min(tried.read, tried.program) > 0 and (of_tried := error(tried, least)) < least:
                    best, least, moved = tried, of_tried, True
        return best, least

    def slopes(self, device):
        """Changes of the logarithms of one drive's means by a microsecond more of read and of program."""
        if device not in self.known_slopes:
            first = Drive(device, *FIRST_TIMES[device], "batch", 1)
            base, read, program = (self.runs.one(drive) for drive in (first, replace(first, read=first.read + 10), replace(first, program=first.program + 10)))
            self.known_slopes[device] = [[math.log(of[at][0] / base[at][0]) / 10 for of in (read, program)] for at in range(len(WRITES))]
        return self.known_slopes[device]

    def suit(self, drive, free=("read", "program")):
        """Fits the free times to the drive alone: least squares along the slopes, to whole microseconds, for as long as the loss falls."""
        axes = [("read", "program").index(name) for name in free]
        slopes = [[row[axis] for axis in axes] for row in self.slopes(drive.device)]
        least = self.one(drive)
        while True:
            apart = [math.log(mean / paper) for (mean, _), paper in zip(self.runs.one(drive), TABLE_3[drive.device][0])]
            steps = least_squares(slopes, [-value for value in apart])
            moved = replace(drive, **{name: max(1, getattr(drive, name) + round(step)) for name, step in zip(free, steps)})
            if moved == drive or (loss := self.one(moved)) >= least:
                return drive, least
            drive, least = moved, loss

    def joint(self, controller):
        def error(drive, to_beat):
            alone = self.one(drive)
            return alone if alone >= to_beat else alone + self.six(drive, controller)

        return error

    def search(self):
        """Batches first: a start whose loss without arrays is greater than the whole loss of a batch need not be run in arrays."""
        options = {device: self.alone(device, "batch") for device in FIRST_TIMES}
        # Few requests in work suit small batches, and many large ones: both are begun with.
        beginnings = [{device: min(of, key=lambda pair: pair[0])[1] for device, of in options.items()}, {device: of[0][1] for device, of in options.items()}]
        ends = [self.in_turn(options, drives, FIRST_CONTROLLER) for drives in beginnings]
        drives, controller = min(ends, key=lambda end: sum(self.one(drive) + self.six(drive, end[1]) for drive in end[0].values()))
        options = {device: of + self.alone(device, "start") for device, of in options.items()}
        drives, controller = self.in_turn(options, drives, controller)
        drives = {device: self.descend(drive, self.joint(controller), 2)[0] for device, drive in drives.items()}
        return options, drives, controller

    def alone(self, device, kind):
        """The times that suit the drive alone for each option of a kind, each with its loss."""
        tried, nearest = [], Drive(device, *FIRST_TIMES[device], "batch", 1)
        for option in OPTIONS:
            if option[0] == kind:
                # The neighbour's times are a good start.
                nearest, loss = self.suit(nearest.with_option(option))
                tried.append((loss, nearest))
                say(f"{nearest}: {loss:.1f} without arrays")
        return tried

    def in_turn(self, options, drives, controller):
        """Controller and drives in turn, until neither changes."""
        before = None
        while before != (drives, controller):
            before = (dict(drives), controller)
            controller = self.controller(drives, controller)
            say(f"controller {controller}")
            for device, of in options.items():
                error = self.joint(controller)
                best, least = drives[device], error(drives[device], math.inf)
                for _, drive in sorted(of, key=lambda pair: pair[0]):
                    if (loss := error(drive, least)) < least:
                        best, least = drive, loss
                drives[device] = best
                say(f"{best} with {controller}: {least:.1f}")
        return drives, controller

    def controller(self, drives, start):
        best, error = start, lambda pair: sum(self.six(drive, pair) for drive in drives.values())
        moved = True
        while moved:
            moved = False
            for axis, values in enumerate((OUTSTANDING, CEILINGS)):
                tried = [tuple(value if of == axis else best[of] for of in (0, 1)) for value in values]
                nearest = min(tried, key=error)
                if error(nearest) < error(best):
                    best, moved = nearest, True
        return best

    def by_three_seeds(self, options, drives, controller):
        """Chooses among what is near by the averages of three seeds. First the drives, then the controller."""
        chosen = {}
        for device, drive in drives.items():
            error = self.joint(controller)
            least = error(drive, math.inf)
            near = {drive} | {other for alone, other in options[device] if alone < least + NEAR and error(other, least + NEAR) < least + NEAR}
            of_three = lambda drive: self.one(drive, SEEDS) + self.six(drive, controller, SEEDS)
            chosen[device] = min(sorted(near, key=str), key=of_three)
        error = lambda pair, seeds: sum(self.six(drive, pair, seeds) for drive in chosen.values())
        grid = list(product(OUTSTANDING, CEILINGS))
        least = min(error(pair, SEEDS[:1]) for pair in grid)
        near = [pair for pair in grid if error(pair, SEEDS[:1]) < least + NEAR]
        return chosen, min(near, key=lambda pair: error(pair, SEEDS))

    def profiles(self, options, drives, controller):
        """The loss over each parameter, with the first seed. Of a drive's two times the other one is fitted again to the drive alone; so are both for each
        batch or start, of which that kind that is not chosen leaves out the arrays of this drive: a lower bound. For each limit of the controller the other one is the best of the grid."""
        profiles = []
        alone = {device: self.one(drive) for device, drive in drives.items()}
        six = {device: self.six(drive, controller) for device, drive in drives.items()}
        whole = sum(alone.values()) + sum(six.values())
        for device, drive in drives.items():
            others = whole - alone[device] - six[device]
            total = lambda drive: others + self.one(drive) + self.six(drive, controller)
            for axis, other in (("read", "program"), ("program", "read")):
                points = []
                for by in (-8, 0, 8):
                    tried = drive
                    if by:
                        tried, _ = self.suit(replace(drive, **{axis: getattr(drive, axis) + by}), (other,))
                    points.append([getattr(drive, axis) + by, total(tried)])
                profiles.append({"of": device, "parameter": f"page_{axis}, µs", "points": points, "best": getattr(drive, axis)})
            for option, title in (("batch", "blocks at a time"), ("start", "start of the half minute, s")):
                tried = [(alone, other) for alone, other in options[device] if other.option == option]
                best = drive.value if drive.option == option else None
                points = [[other.value, others + alone if best is None else whole if other.value == best else total(other)] for alone, other in tried]
                profiles.append({"of": device, "parameter": title, "points": points, "best": best})
        grid = {pair: {device: self.six(drive, pair) for device, drive in drives.items()} for pair in product(OUTSTANDING, CEILINGS)}
        for axis, (title, values) in enumerate((("requests in work", OUTSTANDING), ("ceiling, MB/s", CEILINGS))):
            least = lambda value: min(sum(of.values()) for pair, of in grid.items() if pair[axis] == value)
            points = [[value, sum(alone.values()) + least(value)] for value in values]
            profiles.append({"of": "controller", "parameter": title, "points": points, "best": controller[axis]})
        return profiles, grid

    def crossed(self, drives, grid):
        """A controller that is fitted to one kind of drive, and what it predicts of the other."""
        rows = []
        for fitted, predicted in (tuple(drives), tuple(reversed(drives))):
            pair = min(grid, key=lambda pair: grid[pair][fitted])
            miss = {device: math.sqrt(grid[pair][device] / len(WRITES)) * ARRAY_SIGMA for device in drives}
            rows.append({
                "fitted": fitted, "predicted": predicted, "outstanding": pair[0], "ceiling": pair[1],
                "miss_fitted": miss[fitted], "miss_predicted": miss[predicted],
            })  # fmt: skip
        return rows

    def held_out(self, drives, controller):
        """What was not looked at, with the first seed and the ledger's length of runs: name, ours, the paper's."""
        rows = []
        for device, drive in drives.items():
            kind = device.split("-")[0]
            arrays = self.runs.six(drive, controller, SEEDS[:1], (10, 30))
            rows += [
                [f"Table 4: deviation, {kind}, {writes} %", deviation, paper]
                for writes, (_, deviation), paper in zip(WRITES, arrays, TABLE_4[device][1])
            ]
            shapes = [("raid0", 4, "w2(60)"), ("raid5", 6, "w3(60)"), ("raid6", 6, "w3(60)")]
            four, five, six = self.runs.array(drive, controller, shapes, (10, 30), SEEDS[:1])
            paper = {"mlc": (689.7, 847.4, 60.5, 644.1, 56.16, 479.8, 45.53), "slc": (None, 1147.1, 72.02, 793.7, 53.14, 686.7, 49.44)}[kind]
            ours = (four[0], *arrays[1], *five, *six)
            names = ["Fig. 3: mean of four", *(f"Table 6: {what}, {level}" for level in ("RAID-0", "RAID-5", "RAID-6") for what in ("mean", "deviation"))]
            rows += [[f"{name}, {kind}", value, wanted] for name, value, wanted in zip(names, ours, paper, strict=True) if wanted]
        return rows

    def fitted(self, drives, controller):
        """The targets: name, ours as averages over seeds, the paper's, the difference in standard deviations."""
        rows = []
        row = lambda name, ours, paper, sigma: rows.append([name, ours, paper, math.log(ours / paper) / sigma])
        for device, drive in drives.items():
            kind, one, six = device.split("-")[0], self.runs.one(drive, SEEDS), self.runs.six(drive, controller, SEEDS)
            for at, writes in enumerate(WRITES):
                row(f"Table 3: mean, {kind}, {writes} %", one[at][0], TABLE_3[device][0][at], ONE_SIGMA)
            for at, writes in enumerate(WRITES[:3]):
                row(f"Table 3: deviation, {kind}, {writes} %", max(one[at][1], 0.01), TABLE_3[device][1][at], DEVIATION_SIGMA)
            for at, writes in enumerate(WRITES):
                row(f"Table 4: mean, {kind}, {writes} %", six[at][0], TABLE_4[device][0][at], ARRAY_SIGMA)
        return rows


def say(text):
    print(text, flush=True)


def main():
    arguments = sys.argv[1:]
    if arguments[:1] == ["--page"] and arguments[1:] in ([], ["--check"]):
        return fit_presets_page.make(check=bool(arguments[1:]))
    if len(arguments) not in (1, 3) or arguments[0].startswith("-") or arguments[1:2] not in ([], ["--jobs"]):
        sys.exit(__doc__)
    fit = Fit(Runs(str(Path(arguments[0]).resolve()), int(arguments[2]) if len(arguments) == 3 else 2))
    options, drives, controller = fit.search()
    drives, controller = fit.by_three_seeds(options, drives, controller)
    say(f"{list(drives.values())} with {controller}")
    profiles, grid = fit.profiles(options, drives, controller)
    document = {
        "drives": [asdict(drive) for drive in drives.values()],
        "controller": dict(zip(("outstanding", "ceiling"), controller)),
        "fitted": fit.fitted(drives, controller),
        "profiles": profiles,
        "crossed": fit.crossed(drives, grid),
        "held_out": fit.held_out(drives, controller),
    }
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    Path(__file__).with_suffix(".json").write_text(text, encoding="utf-8")
    fit_presets_page.make(check=False)


if __name__ == "__main__":
    main()
