"""Writes the licences of all that is linked into a program or library: THIRD-PARTY.txt, and the same as a bill of materials (CycloneDX).

    python3 scripts/third_party.py PACKAGE TARGET FOLDER

PACKAGE is a crate of this workspace, such as `flashraid-cli`. The texts come from the sources that cargo has fetched. The same sources and toolchain
give the same bytes, which name no folder of the builder.
"""

import html
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LICENCE = re.compile(r"(licen[sc]e|copying|copyright|notice|unlicense)", re.IGNORECASE)
# Crates that are listed with the standard library, but are for other systems or for building and testing it.
ELSEWHERE = re.compile(r"(cc|fortanix|getopts|hermit|moto|r-efi|shlex|unwinding|vex|wasi|windows|wit)[-_]")
# Licences in which nothing but the holder differs from crate to crate; for crates that come without their text.
MIT = re.sub(r"Copyright .*", "Copyright (c) {}", (ROOT / "LICENSE-MIT").read_text())


def output(*command):
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


def linked(package, target):
    """The crates that are linked into `package`, as cargo describes them, and the edges between them."""
    cargo = os.environ.get("CARGO", "cargo")
    tree = output(cargo, "tree", "--locked", "--package", package, "--target", target, "--edges", "normal,no-proc-macro", "--prefix", "none")
    wanted = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    metadata = json.loads(output(cargo, "metadata", "--locked", "--format-version", "1", "--filter-platform", target))
    crates = {crate["id"]: crate for crate in metadata["packages"] if (crate["name"], "v" + crate["version"]) in wanted}
    edges = {
        node["id"]: [other["pkg"] for other in node["deps"] if other["pkg"] in crates and any(kind["kind"] is None for kind in other["dep_kinds"])]
        for node in metadata["resolve"]["nodes"]
        if node["id"] in crates
    }
    return crates, edges


def name(crate):
    return f"{crate['name']} {crate['version']}"


def licence(crate):
    return (crate["license"] or "").replace("/", " OR ")


def is_ours(crate):
    return crate["source"] is None


def texts_below(folder):
    files = sorted(file for pattern in ("*", "*/*") for file in folder.glob(pattern) if file.is_file() and LICENCE.match(file.name))
    texts = [file.read_text(encoding="utf-8", errors="replace") for file in files if file.suffix not in (".rs", ".html")]
    # zstd's sources are also under the GPL, at the choice of whoever passes them on; that choice is the other licence.
    return [text for text in texts if "GNU GENERAL PUBLIC LICENSE" not in text.upper()]


def texts(crate, crates):
    folder = Path(crate["manifest_path"]).parent
    found = texts_below(folder)
    if not found:
        # Crates of one repository often have the text in one of them only.
        siblings = [other for other in crates if other["repository"] and other["repository"] == crate["repository"]]
        found = next((below for below in (texts_below(Path(other["manifest_path"]).parent) for other in siblings) if below), [])
    if not found and licence(crate) == "MIT":
        found = [MIT.format(", ".join(crate["authors"]) or f"the authors of {crate['name']} ({crate['repository']})")]
    if not found:
        sys.exit(f"{name(crate)} ({licence(crate)}) has no text of its licence: {folder}")
    return found


def embedded(crate):
    """Other projects' files in a crate of ours: each has a folder with its licence, and names such as `uPlot-1.6.32.min.css`."""
    for file in sorted(Path(crate["manifest_path"]).parent.glob("src/**/LICENSE")):
        part = next(filter(None, (re.match(r"(.+?)-(\d[\d.]*\d)\.", beside.name) for beside in sorted(file.parent.iterdir()))))
        text = file.read_text()
        if "The MIT License" not in text:
            sys.exit(f"the licence of {part[1]} is not known to this script: {file}")
        yield {"name": part[1], "version": part[2], "license": "MIT", "repository": "", "text": text}


def standard_library():
    """Name and texts of each crate of Rust's standard library, as the toolchain tells them."""
    page = Path(output("rustc", "--print", "sysroot").strip()) / "share/doc/rust/COPYRIGHT-library.html"
    for part in page.read_text().split("<h3>\N{PACKAGE} ")[1:]:
        crate = part.split("<", 1)[0]
        if not ELSEWHERE.match(crate):
            yield f"{crate} (Rust's standard library)", [html.unescape(text) for text in re.findall(r"<pre>(.*?)</pre>", part, re.DOTALL)]
    yield "Rust's standard library", [(ROOT / "LICENSE-APACHE").read_text(), MIT.format("The Rust Project Developers (https://thanks.rust-lang.org)")]


def listing(package, target, parts, texts_of):
    """THIRD-PARTY.txt: the list, and each text once, below those that it is of."""
    groups = {}
    for owner, found in texts_of:
        for text in found:
            owners = groups.setdefault("".join(text.split()), ([], text))[0]
            if owner not in owners:
                owners.append(owner)
    rule = "\n" + 80 * "-" + "\n"
    rows = "".join(f"{part['name']} {part['version']}: {licence(part)}. {part['repository'] or ''}".rstrip() + "\n" for part in parts)
    head = f"Other projects' work in {package} for {target}. Of licences with OR between them, each is offered.\n"
    blocks = [", ".join(owners) + ":\n\n" + text.strip("\n") + "\n" for owners, text in groups.values()]
    return rule.join([head, rows, *blocks])


def bill(package, crates, edges, parts):
    """The bill of materials, by CycloneDX 1.6."""
    sums = {(entry["name"], entry["version"]): entry.get("checksum") for entry in tomllib.loads((ROOT / "Cargo.lock").read_text())["package"]}

    def reference(part):
        return f"pkg:{'npm' if 'text' in part else 'cargo'}/{part['name'].lower()}@{part['version'].replace('+', '%2B')}"

    def component(part, kind="library"):
        entry = {"type": kind, "bom-ref": reference(part), "name": part["name"], "version": part["version"], "licenses": [{"expression": licence(part)}]}
        entry["purl"] = entry["bom-ref"]
        if checksum := sums.get((part["name"], part["version"])):
            entry["hashes"] = [{"alg": "SHA-256", "content": checksum}]
        if part["repository"]:
            entry["externalReferences"] = [{"type": "vcs", "url": part["repository"]}]
        return entry

    whole = next(crate for crate in crates.values() if crate["name"] == package)
    ours = [crate for crate in crates.values() if is_ours(crate) and crate is not whole]
    dependencies = {reference(part): [] for part in parts} | {
        reference(crates[id]): [reference(crates[other]) for other in others] for id, others in edges.items()
    }
    for crate in crates.values():
        if is_ours(crate):
            dependencies[reference(crate)] += [reference(part) for part in embedded(crate)]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": component(whole, "application" if package == "flashraid-cli" else "library")},
        "components": sorted((component(part) for part in ours + parts), key=lambda entry: entry["bom-ref"]),
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(others))} for ref, others in sorted(dependencies.items())],
    }


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    package, target, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
    crates, edges = linked(package, target)
    others = sorted((crate for crate in crates.values() if not is_ours(crate)), key=name)
    parts = [part for crate in crates.values() if is_ours(crate) for part in embedded(crate)]
    texts_of = [(name(part), [part["text"]]) for part in parts] + [(name(crate), texts(crate, others)) for crate in others]
    texts_of += standard_library()
    if target.endswith("-musl"):
        texts_of.append(("musl", [MIT.format("2005-2020 Rich Felker, et al. (https://musl.libc.org)")]))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "THIRD-PARTY.txt").write_text(listing(package, target, parts + others, texts_of), encoding="utf-8")
    (folder / f"{package}.cdx.json").write_text(json.dumps(bill(package, crates, edges, others + parts), indent=1) + "\n", encoding="utf-8")


main()
