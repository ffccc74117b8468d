"""The licences of what is linked into the native part, as an installed wheel has them."""

import json
import re
from importlib.metadata import distribution
from pathlib import Path


def installed(name: str) -> str:
    found = [file for file in distribution("flashraid").files or [] if file.name == name and ".dist-info/" in str(file)]
    assert len(found) == 1, (name, found)
    return found[0].read_text()


def test_notices_of_other_projects_come_with_the_wheel() -> None:
    text = installed("THIRD-PARTY.txt")
    for notice in ("Leon Sorokin", "Meta Platforms", "Apache License", "The Rust Project Developers"):
        assert notice in text, notice
    assert "THIRD-PARTY.txt" in (distribution("flashraid").metadata.get_all("License-File") or [])


def test_the_bill_of_materials_names_every_library_and_no_folder() -> None:
    text = installed("flashraid-python.cdx.json")
    bill = json.loads(text)
    components = {component["name"]: component for component in bill["components"]}
    assert {"zstd-sys", "pyo3", "uPlot", "flashraid-model"} <= components.keys()
    # Programs that only run while others are built.
    assert not {"serde_derive", "cc", "proptest"} & components.keys()
    assert components["zstd-sys"]["licenses"] == [{"expression": "BSD-3-Clause"}]
    assert len(components["zstd-sys"]["hashes"][0]["content"]) == 64
    refs = {component["bom-ref"] for component in bill["components"]} | {bill["metadata"]["component"]["bom-ref"]}
    assert {other for row in bill["dependencies"] for other in row["dependsOn"]} <= refs == {row["ref"] for row in bill["dependencies"]}
    # No value is a path of whoever built the wheel.
    assert not re.search(r'"(file:|/)', text)
    for folder in (Path.home(), Path(__file__).resolve().parents[2]):
        assert str(folder) not in text, folder
