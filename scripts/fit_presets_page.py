"""Makes the tables of docs/measured-drives.md and its picture of what scripts/fit_presets.py has kept."""

import json
import math
import sys
from html import escape
from pathlib import Path

from figures_pages import between_marks, table, three_digits

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "measured-drives.md"
PICTURE = ROOT / "docs" / "pictures" / "fit-measured-drives.svg"
# Values whose loss is within this of the least of all are a tie.
TIE = 1.0
COLUMNS, WIDTH, HEIGHT = 4, 240, 170
LEFT, TOP, PLOT_WIDTH, PLOT_HEIGHT = 44, 36, 176, 90


def parameters(document):
    rows = []
    for drive in document["drives"]:
        option = f"batches of {drive['value']} {'block' if drive['value'] == 1 else 'blocks'}" if drive["option"] == "batch" else f"from second {drive['value']} of a filled drive"
        rows.append([drive["device"], f"page_read {drive['read']} µs, page_program {drive['program']} µs, {option}"])
    controller = document["controller"]
    rows.append(["controller", f"{controller['outstanding']} requests in work, {controller['ceiling']} MB/s"])
    return table(["of", "fitted"], rows)


def fitted(document):
    rows = [[name, three_digits(ours), three_digits(paper), f"{ours / paper:.2f}", f"{apart:+.1f}".replace("-", "−")] for name, ours, paper, apart in document["fitted"]]
    rows.append(["the loss: their squares added up", "", "", "", three_digits(sum(apart**2 for *_, apart in document["fitted"]))])
    return table(["target, MB/s", "flashraid", "paper", "ratio", "apart, in standard deviations"], rows)


def least_of_all(document):
    return min(loss for profile in document["profiles"] for _, loss in profile["points"])


def ties(document):
    rows, whole = [], least_of_all(document)
    for profile in document["profiles"]:
        least = min(loss for _, loss in profile["points"])
        tied = ", ".join(str(value) for value, loss in profile["points"] if loss <= whole + TIE) or "none"
        tried = f"{profile['points'][0][0]} to {profile['points'][-1][0]}"
        chosen = "–" if profile["best"] is None else str(profile["best"])
        rows.append([f"{profile['of']}: {profile['parameter']}", tried, chosen, f"{least:.1f}", tied])
    return table(["parameter", "tried", "chosen", "least loss", f"values within {TIE:.0f} of the least of all"], rows)


def crossed(document):
    row = lambda of: [of["fitted"], f"{of['outstanding']} requests, {of['ceiling']} MB/s", f"{of['miss_fitted']:.3f}", of["predicted"], f"{of['miss_predicted']:.3f}"]
    return table(["controller fitted to", "is", "misses it by", "predicts", "misses that by"], [row(of) for of in document["crossed"]])


def held_out(document):
    rows = [[name, three_digits(ours), three_digits(paper), f"{ours / paper:.2f}"] for name, ours, paper in document["held_out"]]
    return table(["held out, MB/s", "flashraid", "paper", "ratio"], rows)


def picture(document):
    """The loss over each parameter, a panel for each, on a logarithmic scale that all share. Ties are filled."""
    panels = document["profiles"]
    losses = [math.log10(loss) for panel in panels for _, loss in panel["points"]]
    low, high = min(losses), max(losses)
    rows, low_loss = -(-len(panels) // COLUMNS), least_of_all(document)
    parts = [
        f'<svg width="{COLUMNS * WIDTH}" height="{rows * HEIGHT}" viewBox="0 0 {COLUMNS * WIDTH} {rows * HEIGHT}" xmlns="http://www.w3.org/2000/svg" font-family="sans-serif" font-size="10">',
        '<rect width="100%" height="100%" fill="#FFFFFF"/>',
    ]
    for index, panel in enumerate(panels):
        left, top = index % COLUMNS * WIDTH + LEFT, index // COLUMNS * HEIGHT + TOP
        across = lambda at: left + PLOT_WIDTH * at / max(1, len(panel["points"]) - 1)
        down = lambda loss: top + PLOT_HEIGHT * (high - math.log10(loss)) / (high - low)
        places = [(across(at), down(loss)) for at, (_, loss) in enumerate(panel["points"])]
        parts.append(f'<text x="{left}" y="{top - 20}" fill="#282C32">{escape(panel["of"])}</text>')
        parts.append(f'<text x="{left}" y="{top - 8}" fill="#282C32">{escape(panel["parameter"])}</text>')
        for loss in (10**low, 10**high):
            parts.append(f'<line x1="{left}" x2="{left + PLOT_WIDTH}" y1="{down(loss):.1f}" y2="{down(loss):.1f}" stroke="#E1E4E8"/>')
            parts.append(f'<text x="{left - 4}" y="{down(loss) + 3:.1f}" text-anchor="end" fill="#5A6068">{loss:.0f}</text>')
        parts.append(f'<polyline fill="none" stroke="#5A6068" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>')
        for (x, y), (value, loss) in zip(places, panel["points"], strict=True):
            fill = "#0072B2" if loss <= low_loss + TIE else "#FFFFFF"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{fill}" stroke="#0072B2"><title>{value}: loss {loss:.1f}</title></circle>')
            weight = ' font-weight="bold"' if value == panel["best"] else ""
            parts.append(f'<text x="{x:.1f}" y="{top + PLOT_HEIGHT + 16}" text-anchor="middle" fill="#282C32" font-size="8"{weight}>{value}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


PARTS = {"parameters": parameters, "fitted": fitted, "ties": ties, "crossed": crossed, "held out": held_out}


def make(check):
    document = json.loads((ROOT / "scripts" / "fit_presets.json").read_text(encoding="utf-8"))
    page = PAGE.read_text(encoding="utf-8")
    for mark, part in PARTS.items():
        page = between_marks(PAGE, page, mark, part(document))
    made = {PAGE: page, PICTURE: picture(document)}
    if check:
        stale = [path.name for path, text in made.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
        sys.exit(f"not as scripts/fit_presets.json has it: {', '.join(stale)}; scripts/fit_presets.py --page makes them anew" if stale else 0)
    for path, text in made.items():
        path.write_text(text, encoding="utf-8")
