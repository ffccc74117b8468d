"""Tables of the pages of mechanisms, made of the ledger (docs/reproduction.json).

A page has a mark for each: `<!-- NAME -->` before it and `<!-- end of NAME -->` behind it. `python3 scripts/figures_pages.py --check` says whether
all are those of the ledger.
"""

import json
import re
import sys
from pathlib import Path

MINUS = "\N{MINUS SIGN}"


def between_marks(path, text, mark, content):
    pattern = re.compile(rf"(<!-- {mark} -->\n).*?(<!-- end of {mark} -->)", re.DOTALL)
    text, count = pattern.subn(lambda found: found[1] + content + found[2], text)
    if count != 1:
        sys.exit(f"{path.name} has {count} parts called {mark}, not one")
    return text


def three_digits(value):
    if abs(value) >= 1000:
        return f"{value:,.0f}".replace(",", " ")
    return f"{value:#.3g}".rstrip(".").replace("-", MINUS)


def change(value, baseline):
    """How much more than the baseline, in per cent."""
    if baseline == 0:
        return "–"
    return per_cent(value / baseline - 1)


def per_cent(share):
    rounded = round(100 * share)
    return "0 %" if rounded == 0 else f"{rounded:+d} %".replace("-", MINUS)


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" + "|---:" * (len(head) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


class Ledger:
    def __init__(self, document):
        self.figures = {figure["id"]: figure for figure in document["figures"]}
        self.rows = {(figure["id"], row["point"]): row for figure in document["figures"] for row in figure["rows"]}

    def row(self, figure, point):
        return self.rows[figure, point]

    def claims(self, *prefixes):
        """The claims of some figures with the paper's values, ours and the verdict; statements without numbers of their own have none."""
        lines = []
        for name, figure in self.figures.items():
            if not name.startswith(prefixes):
                continue
            for claim in figure["claims"]:
                numbers = [part for part in claim["parts"] if part["paper"] is not None]
                written = lambda key: "; ".join(in_unit(part[key], claim["unit"]) for part in numbers) or "holds"
                ours = written("measured") if numbers else {"agrees": "holds", "unstable": "–"}.get(claim["verdict"], "does not hold in full")
                what = claim["what"].replace("|", "/")
                if numbers and len(numbers) > 1:
                    what += f" ({', '.join(part['name'] for part in numbers)})"
                lines.append([f"{claim['figure']}: {what}", written("paper"), ours, claim["verdict"]])
        return table(["claim", "paper", "measured", "verdict"], lines)


def in_unit(value, unit):
    if value is None:
        return "–"
    if unit == "reduction":
        return per_cent(-value)
    if unit == "fraction":
        return f"{100 * value:.3g} %".replace("-", MINUS)
    return three_digits(value) + ("" if unit in ("", "ratio") else f" {unit}")


SCHEMES = ["local", "reactive-inclusive", "reactive-selective", "proactive-idle", "ideal"]


def schemes(ledger):
    rows = []
    for workload in ["hpc-w", "hpc-w-skew", "hpc-w-burst-m", "hpc-w-burst-h", "financial", "tpc-c", "cello", "tpc-h", "openmail"]:
        points = [ledger.row("ggc.fig11", f"{workload} {scheme}") for scheme in SCHEMES]
        for name, key in [(f"{workload}: mean, ms", "mean_ms"), ("deviation, ms", "stddev_ms"), ("erases", "erases")]:
            rows.append([name, *(three_digits(point[key]) for point in points)])
    points = [ledger.row("ggc.fig6", f"hpc-r {scheme}") for scheme in SCHEMES[:2]]
    for name, key in [("hpc-r: mean, ms", "mean_ms"), ("deviation, ms", "stddev_ms"), ("erases", "erases")]:
        rows.append([name, *(three_digits(point[key]) for point in points), "", "", ""])
    return table(["workload", *SCHEMES], rows)


LOADS = {
    "hpc-w": "even (hpc-w)",
    "hpc-w-skew": "skewed (hpc-w-skew)",
    "hpc-w-burst-m": "bursts (hpc-w-burst-m)",
    "hpc-w-burst-h": "strong bursts (hpc-w-burst-h)",
    "financial": "a small part of the array (financial)",
    "openmail": "a small part, short pauses (openmail)",
    "cello": "a small part, very popular pages (cello)",
}


def which_scheme(ledger):
    rows = []
    for workload, load in LOADS.items():
        local, *others = (ledger.row("ggc.fig11", f"{workload} {scheme}") for scheme in SCHEMES)
        cells = [f"{change(row['mean_ms'], local['mean_ms'])}, {row['erases'] / local['erases']:.2f}" for row in others]
        rows.append([load, *cells])
    return table(["load", *(f"{scheme}: response, erases" for scheme in SCHEMES[1:])], rows)


def rates(ledger):
    scales = ["0.5", "0.75", "1", "1.25", "1.5"]
    row = lambda workload, scheme, key: [three_digits(ledger.row("ggc.fig7", f"{workload} {scheme} × {scale}")[key]) for scale in scales]
    rows = [
        [f"{workload}, {scheme}: {name}, ms", *row(workload, scheme, key)]
        for workload in ("hpc-w", "hpc-r")
        for scheme in SCHEMES[:2]
        for name, key in (("mean", "mean_ms"), ("deviation", "stddev_ms"))
    ]
    return table(["arrival rate", *(f"× {scale}" for scale in scales)], rows)


def members(ledger):
    rows = []
    for count in (2, 4, 8, 12, 16, 18):
        local, coordinated = (ledger.row("ggc.fig8", f"{count} {scheme}")["mean_ms"] for scheme in SCHEMES[:2])
        rows.append([str(count), three_digits(local), three_digits(coordinated), three_digits(local / coordinated)])
    return table(["members", "local, ms", "reactive-inclusive, ms", "local over it"], rows)


def against(before, after):
    variance = lambda row: row["stddev_ms"] ** 2
    return [
        f"{three_digits(before['mean_ms'])} → {three_digits(after['mean_ms'])}",
        change(after["mean_ms"], before["mean_ms"]),
        change(variance(after), variance(before)),
        change(after["max_ms"], before["max_ms"]),
    ]


AGAINST = ["mean, ms: none → semi", "mean", "variance", "greatest"]


def synthetic(ledger):
    varied = ["size KiB 8", "size KiB 16", "size KiB 32", "size KiB 64", "gap ms 1", "gap ms 3", "gap ms 5", "gap ms 10"]
    varied += [f"{name} % {share}" for name in ("sequential", "writes") for share in (20, 40, 60, 80)]
    label = lambda name: re.sub(r"(.*) (KiB|ms|%) (\d+)", r"\1 \3 \2", name)
    rows = [[label(name), *against(*(ledger.row("pgc.fig8", f"{name} {kind}") for kind in ("npgc", "pgc")))] for name in varied]
    return table(["varied", *AGAINST], rows)


def traces(ledger):
    rows = []
    for workload in ("financial", "cello", "tpc-h", "openmail"):
        for scale in (1, 4, 16):
            pair = (ledger.row("pgc.fig10", f"{workload} × {scale} {kind}") for kind in ("npgc", "pgc"))
            rows.append([f"{workload} × {scale}", *against(*pair)])
    return table(["workload × rate", *AGAINST], rows)


POLICIES = {"wow": "wow", "ggc": "wow + GGC", "iwc": "iwc", "iwc-sync": "iwc-sync", "lawc": "lawc"}


def policies(ledger, level):
    workloads = ["exchange", "lawc-cello", "lawc-financial", "lawc-tpc-h", "fiu-vm", "fiu-mail", "ms-ec", "ms-ft", "ms-ecft", "lawc-skewed"]
    rows = []
    for workload in workloads:
        points = {policy: ledger.row("lawc.fig7", f"{level} {workload} {policy}") for policy in POLICIES}
        wow, lawc = points["wow"], points["lawc"]
        rows.append([
            f"`{workload}`",
            *(three_digits(point["mean_ms"]) for point in points.values()),
            change(lawc["mean_ms"], wow["mean_ms"]),
            change(lawc["stddev_ms"], wow["stddev_ms"]),
            # Nothing collects at the same time where hardly anything is written.
            f"{lawc['synchronised_gc'] / wow['synchronised_gc']:.2f}" if wow["synchronised_gc"] else "",
        ])
    return table(["", *POLICIES.values(), "lawc against wow: mean", "deviation", "members collecting together, lawc over wow"], rows)


def spider(ledger):
    loads = ["1024, 20, 60", "4096, 20, 60", "1024, 10, 60", "4, 20, 60", "512, 20, 60", "1024, 40, 60", "1024, 20, 20", "1024, 20, 80"]
    cells = lambda load: [three_digits(ledger.row("lawc.fig9", f"{level} {load} {policy}")["mean_ms"]) for level in LEVELS for policy in THREE]
    return table(["W(R, I, W)", *THREE_ON_BOTH], [[f"({load})", *cells(load)] for load in loads])


LEVELS = {"raid0": "RAID-0", "raid5": "RAID-5"}
THREE = ["wow", "ggc", "lawc"]
THREE_ON_BOTH = [f"{name}: {POLICIES[policy]}" for name in LEVELS.values() for policy in THREE]


def sizes(ledger):
    rows = []
    for workload in ("exchange", "lawc-financial"):
        for size in (64, 256, 1024):
            cells = (ledger.row("lawc.fig10", f"{level} {workload} {size} KiB {policy}")["mean_ms"] for level in LEVELS for policy in THREE)
            rows.append([f"`{workload}`, {size} KiB", *map(three_digits, cells)])
    return table(["", *THREE_ON_BOTH], rows)


def first_level(ledger):
    shares = ["0.09375", "0.25", "0.5", "0.75"]
    cells = lambda workload: [three_digits(ledger.row("lawc.fig6", f"{workload} {share}")["mean_ms"]) for share in shares]
    return table(["share of the first level", *shares], [[f"`{workload}`", *cells(workload)] for workload in ("exchange", "lawc-financial")])


PAGES = {
    "choosing.md": {"which scheme": which_scheme},
    "coordination.md": {"schemes": schemes, "rates": rates, "members": members, "claims": lambda ledger: ledger.claims(
        "ggc.fig6", "ggc.fig7", "ggc.fig8", "ggc.fig9", "ggc.fig10", "ggc.fig11", "ggc.fig12", "ggc.fig13", "ggc.proactive", "ggc.table10", "ggc.subset", "ggc.packages")},
    "preemption.md": {"synthetic": synthetic, "traces": traces, "claims": lambda ledger: ledger.claims("pgc.")},
    "caches.md": {
        "policies on RAID-0": lambda ledger: policies(ledger, "raid0"),
        "policies on RAID-5": lambda ledger: policies(ledger, "raid5"),
        "first level": first_level,
        "spider": spider,
        "sizes": sizes,
        "claims": lambda ledger: ledger.claims("lawc."),
    },
}


def pages(docs):
    """The pages as they should be."""
    ledger = Ledger(json.loads((docs / "reproduction.json").read_text(encoding="utf-8")))
    for name, parts in PAGES.items():
        path = docs / name
        text = path.read_text(encoding="utf-8")
        for mark, make in parts.items():
            text = between_marks(path, text, mark, make(ledger))
        yield path, text


def write(docs):
    for path, text in pages(docs):
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    DOCS = Path(__file__).resolve().parent.parent / "docs"
    if sys.argv[1:] == ["--check"]:
        stale = [path.name for path, text in pages(DOCS) if path.read_text(encoding="utf-8") != text]
        sys.exit(f"not as the ledger has it: {', '.join(stale)}; scripts/figures PROGRAM pages makes them anew" if stale else 0)
    sys.exit(__doc__)
