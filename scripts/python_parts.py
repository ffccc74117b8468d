"""The parts of a report as classes of the Python package, made of the schema of reports.

    flashraid schema --report | python3 scripts/python_parts.py            python/flashraid/_parts.py
    flashraid schema --report | python3 scripts/python_parts.py --check    fails if that is out of date
"""

from __future__ import annotations

import json
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PARTS = Path(__file__).resolve().parents[1] / "python" / "flashraid" / "_parts.py"

#: Parts of the schema and the names of their classes, each after those that it holds.
CLASSES = {
    "LostPagesReport": "Lost",
    "WearReport": "Wear",
    "Lifetime": "Lifetime",
    "ImpliedLife": "ImpliedLife",
    "FlashCountersReport": "Flash",
    "UncoordinatedCleans": "UncoordinatedCleans",
    "PredictableLatency": "PredictableLatency",
    "Gc": "Collection",
    "Member": "Member",
}
SIMPLE = {"integer": "int", "number": "float", "boolean": "bool", "string": "str", "null": "None"}

HEAD = '''\
"""Parts of a report. Made of its schema by scripts/python_parts.py: change the report, and run ``make pages``."""

from __future__ import annotations

from dataclasses import dataclass
'''


def class_name(figure: str) -> str:
    """The name of the class of a part that has no name of its own in the schema."""
    return figure.title().replace("_", "")


def kind(schema: dict[str, Any], name: str = "") -> str:
    """The Python type of a value with this name."""
    if "$ref" in schema:
        return CLASSES[schema["$ref"].removeprefix("#/$defs/")]
    if "anyOf" in schema:
        return " | ".join(kind(one) for one in schema["anyOf"])
    if "properties" in schema:
        return class_name(name)
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if kinds == ["array"]:
        return f"list[{kind(schema['items'])}]"
    if kinds == ["object"]:
        return f"dict[str, {kind(schema['additionalProperties'])}]"
    return " | ".join(SIMPLE[one] for one in kinds)


def docstring(text: str, indent: str) -> str:
    """A text as a docstring, wrapped."""
    text = " ".join(text.replace("[`", "`").replace("`]", "`").replace("`", "``").split())
    return textwrap.fill(f'"""{text}"""', 140, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False)


def lines(schema: dict[str, Any]) -> Iterator[str]:
    yield HEAD
    for part, name in CLASSES.items():
        definition = schema["$defs"][part]
        for figure, value in definition["properties"].items():
            if "properties" in value:
                yield from of_class(class_name(figure), value)
        yield from of_class(name, definition)


def of_class(name: str, definition: dict[str, Any]) -> Iterator[str]:
    """The class of a part."""
    yield f"\n\n@dataclass(frozen=True)\nclass {name}:\n{docstring(definition['description'], '    ')}\n\n"
    for figure, value in definition["properties"].items():
        of = kind(value, figure)
        if figure not in definition["required"] and "None" not in of:
            of += " | None"
        yield f"    {figure}: {of}\n{docstring(value['description'], '    ')}\n"


def main() -> None:
    text = "".join(lines(json.load(sys.stdin)))
    if sys.argv[1:] != ["--check"]:
        PARTS.write_text(text, encoding="utf-8")
    elif PARTS.read_text(encoding="utf-8") != text:
        raise SystemExit("python/flashraid/_parts.py is out of date: run `make pages`")


if __name__ == "__main__":
    main()
