"""The pages of the book that are made of the Python package.

    python3 scripts/python_pages.py reference    docs/python-reference.md, of the docstrings; needs griffe
    python3 scripts/python_pages.py notebooks    docs/notebook-*.md, of the notebooks, which are run for it; needs the package and what they import

`make pages` and `make notebooks` bring what is needed.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
NOTEBOOKS = ROOT / "python" / "notebooks"

# --- Docstrings -----------------------------------------------------------------------------------------------------------------------------------

#: What there is, in the order in which one needs it; every public name stands in one of these.
CHAPTERS: dict[str, list[str]] = {
    "Simulations": ["run", "Config", "check", "Check", "presets", "Preset", "schema"],
    "Reports": ["Report"],
    "Requests": ["Workload", "Columns", "ArrowStream", "Table", "read_trace", "trace_info", "write_trace"],
    "Devices": ["Device", "Answer"],
    "Studies": ["Study", "StudyResult", "StudyCost", "compare", "merge"],
    "Advice": ["advise", "Advice", "optuna_objective"],
    "Errors": ["FlashraidError", "ConfigError", "Problem", "SimulationError", "Interrupted"],
}
INTRODUCTIONS = {
    "Reports": "[What the figures mean](figures.md) says how each is computed. `None` stands for what is not defined.",
    "Errors": "[Errors and Ctrl-C](python.md#errors-and-ctrl-c) says when which one is raised.",
}
#: Parts of a report; they are attributes' types and not made by users.
PARTS = [
    *["Response", "ResponseTime", "Time", "TimeParts"],
    *["Because", "PairedDifference", "PairedResponse", "PairedFigures", "PairedFigure", "WaitedAndCausedShares", "WaitedAndCaused"],
    *["Counts", "Rates", "Owed", "Lost", "Bandwidth", "Verdict", "Flash", "Collection", "Member", "Speed"],
]

REFERENCE_HEAD = """\
# Python: reference

Every name of the package `flashraid`, made of its docstrings by `make pages`. [In Python](python.md) is the introduction.
"""


class Reference:
    """The page of all public names."""

    def __init__(self) -> None:
        import griffe

        self.package = griffe.load("flashraid", search_paths=[str(ROOT / "python")], docstring_parser="numpy")
        listed = [name for names in CHAPTERS.values() for name in names]
        public = [name for name in self.package.exports or [] if name != "__version__"]
        if sorted(map(str, public)) != sorted(listed):
            raise SystemExit(f"CHAPTERS and __all__ differ in {set(map(str, public)) ^ set(listed)}")
        # Parts of these parts.
        self.inner = [name for name, part in self.package["_parts"].members.items() if not part.is_alias and part.is_class and name not in PARTS]
        self.headings = {*listed, *PARTS, *self.inner}

    def page(self) -> str:
        # Blank lines that pieces leave between each other.
        return re.sub(r"\n{3,}", "\n\n", "".join(self._lines())).rstrip() + "\n"

    def _lines(self) -> Iterator[str]:
        yield REFERENCE_HEAD
        for chapter, names in CHAPTERS.items():
            yield f"\n## {chapter}\n\n{INTRODUCTIONS.get(chapter, '')}\n"
            for name in names:
                yield from self._thing(self._resolve(name))
            if chapter == "Reports":
                for name in PARTS:
                    yield from self._thing(self._final(self.package["_report"][name]))
                for name in self.inner:
                    yield from self._thing(self.package["_parts"][name])

    def _resolve(self, name: str) -> Any:
        return self._final(self.package[name])

    def _final(self, thing: Any) -> Any:
        return thing.final_target if thing.is_alias else thing

    def _thing(self, thing: Any) -> Iterator[str]:
        yield f"\n### {thing.name}\n\n"
        if thing.is_function:
            yield from self._function(thing, thing.name)
        elif thing.is_attribute:
            yield f"```python\n{thing.name} = {thing.value}\n```\n\n"
            yield from self._docstring(thing)
        else:
            yield from self._class(thing)

    def _class(self, thing: Any) -> Iterator[str]:
        bases = ", ".join(str(base).rsplit(".", 1)[-1].split("[")[0] for base in thing.bases)
        makes = thing.members.get("__init__")
        has_fields = "dataclass" in thing.labels
        is_exception = any("Error" in str(base) or "Exception" in str(base) or "Interrupt" in str(base) for base in thing.bases)
        if is_exception:
            yield f"```python\nclass {thing.name}({bases})\n```\n\n"
        elif makes is not None and not has_fields and not self._takes_native(makes):
            yield f"```python\n{_signature(makes, thing.name)}\n```\n\n"
        yield from self._docstring(thing)
        rows = list(self._attributes(thing))
        if any(text for _, _, text in rows):
            yield "| attribute | type | |\n|---|---|---|\n"
            yield from (f"| `{name}` | {kind} | {text} |\n" for name, kind, text in rows)
        elif rows:
            yield "| attribute | type |\n|---|---|\n"
            yield from (f"| `{name}` | {kind} |\n" for name, kind, _ in rows)
        yield "\n"
        for method in self._methods(thing):
            signature = _signature(method, f"{thing.name}.{method.name}")
            yield _fenced(signature) if "\n" in signature else f"**`{signature}`**\n\n"
            yield from self._docstring(method)

    def _function(self, thing: Any, name: str) -> Iterator[str]:
        yield f"```python\n{_signature(thing, name)}\n```\n\n"
        yield from self._docstring(thing)

    def _members(self, thing: Any) -> Iterator[Any]:
        """Public members in the order of the source, then what is inherited."""
        for member in (*thing.members.values(), *thing.inherited_members.values()):
            member = member.final_target if member.is_alias else member
            if not member.name.startswith("_") or member.name == "__len__":
                yield member

    def _attributes(self, thing: Any) -> Iterator[tuple[str, str, str]]:
        for member in self._members(thing):
            if member.is_attribute:
                sections = member.docstring.parse() if member.docstring else []
                text = " ".join(" ".join(map(self._sentence, sections)).split())
                yield member.name, self._type(str(member.annotation or "")), self._markdown(text).replace("|", "\\|")

    def _sentence(self, section: Any) -> str:
        """A section of a property, as the cell of a table holds it."""
        if section.kind.value == "text":
            return str(section.value)
        if section.kind.value == "raises":
            return " ".join(f"Raises :class:`{error.annotation}`: {error.description}" for error in section.value)
        raise SystemExit(f"a property with {section.kind.value} is not known here")

    def _methods(self, thing: Any) -> Iterator[Any]:
        # What exceptions and dataclasses are made of, nobody calls.
        return (member for member in self._members(thing) if member.is_function and member.docstring)

    def _takes_native(self, makes: Any) -> bool:
        return any("_native" in str(parameter.annotation) for parameter in makes.parameters) or any(
            parameter.name == "document" for parameter in makes.parameters
        )

    def _type(self, annotation: str) -> str:
        """A type, with links to what has a heading."""
        if annotation in self.headings:
            return f"[`{annotation}`](#{annotation.lower()})"
        inner = re.fullmatch(r"list(?:\[| of )(\w+)\]?", annotation)
        if inner and inner[1] in self.headings:
            return f"list of [`{inner[1]}`](#{inner[1].lower()})"
        return f"`{annotation}`".replace("|", "\\|") if annotation else ""

    def _docstring(self, thing: Any) -> Iterator[str]:
        if thing.docstring is None:
            raise SystemExit(f"{thing.path} has no docstring")
        for section in thing.docstring.parse():
            if section.kind.value == "text":
                yield self._markdown(section.value) + "\n\n"
            elif section.kind.value == "parameters":
                for parameter in section.value:
                    yield f"- `{parameter.name}`: " + self._markdown(parameter.description).replace("\n", "\n  ").replace("\n  \n", "\n\n") + "\n"
                yield "\n"
            elif section.kind.value == "returns":
                for given in section.value:
                    yield f"Returns {self._type(str(given.annotation))}: {self._markdown(given.description)}\n\n"
            elif section.kind.value == "raises":
                yield "Raises\n\n"
                yield from (f"- {self._type(str(error.annotation))}: {self._markdown(error.description)}\n" for error in section.value)
                yield "\n"
            elif section.kind.value == "examples":
                for _, text in section.value:
                    yield self._markdown(text) + "\n\n"
            else:
                raise SystemExit(f"{thing.path}: {section.kind.value} is not known here")

    def _markdown(self, text: str) -> str:
        """Docstrings are reStructuredText as far as it goes: roles, double backticks, code blocks, doctests."""
        text = re.sub(r"\.\. code-block:: python\n\n((?:    .*\n?|\n)+)", lambda code: _fenced(_dedent(code[1])), text)
        text = re.sub(r"(?:^>>> .*\n?(?:^(?!\n).+\n?)*)+", lambda code: _fenced(code[0]), text, flags=re.MULTILINE)
        parts = re.split(r"(^```.*?^```$)", text, flags=re.MULTILINE | re.DOTALL)
        return "".join(part if part.startswith("```") else self._inline(part) for part in parts)

    def _inline(self, text: str) -> str:
        text = text.replace("``", "`")
        return re.sub(r":(?:class|func|meth|attr):`([\w.]+)`", self._link, text)

    def _link(self, role: re.Match[str]) -> str:
        name = role[1]
        of = name.split(".")[0]
        return f"[`{name}`](#{of.lower()})" if of in self.headings else f"`{name}`"


def _signature(function: Any, name: str) -> str:
    """On one line if it is short, else a line for each parameter."""
    parameters: list[str] = []
    only_keywords = False
    for parameter in function.parameters:
        if parameter.name in ("self", "cls"):
            continue
        if parameter.kind is not None and parameter.kind.value == "keyword-only" and not only_keywords:
            only_keywords = True
            parameters.append("*")
        default = "" if parameter.default is None else f" = {parameter.default}"
        kind = "" if parameter.annotation is None else f": {parameter.annotation}"
        parameters.append(f"{parameter.name}{kind}{default}")
    gives = "" if function.returns is None or function.name == "__init__" else f" -> {function.returns}"
    line = f"{name}({', '.join(parameters)}){gives}"
    if len(line) <= 120:
        return line
    return f"{name}(\n" + "".join(f"    {parameter},\n" for parameter in parameters) + f"){gives}"


def _dedent(code: str) -> str:
    return re.sub(r"^    ", "", code, flags=re.MULTILINE)


def _fenced(code: str) -> str:
    return f"```python\n{code.rstrip()}\n```\n\n"


# --- Notebooks ------------------------------------------------------------------------------------------------------------------------------------


def notebook_page(path: Path, cells: list[dict[str, Any]]) -> str:
    """A notebook as a page, with what its cells print as far as it is text."""
    link = f"https://github.com/flashraid/flashraid/blob/main/python/notebooks/{path.name}"
    parts: list[str] = []
    for cell in cells:
        source = "".join(cell["source"]).rstrip()
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        printed = _printed(cell.get("outputs", [])).rstrip()
        if printed:
            parts.append(f"```text\n{printed}\n```")
    title, _, rest = "\n\n".join(parts).partition("\n")
    return f"{title}\n\nThis page is the notebook [{path.name}]({link}), and what it prints; `make notebooks` makes it.\n{rest}\n"


def _printed(outputs: list[dict[str, Any]]) -> str:
    """What a cell wrote to standard output, and then what it gave; not what libraries told the terminal on standard error."""
    written = "".join("".join(output["text"]) for output in outputs if output["output_type"] == "stream" and output["name"] == "stdout")
    # As a terminal shows it: of a line that is written over, the last.
    lines = [line.rsplit("\r", 1)[-1] for line in written.removesuffix("\n").split("\n")] if written else []
    values = ["".join(output.get("data", {}).get("text/plain", "")) for output in outputs if output["output_type"] != "stream"]
    return "\n".join([*lines, *filter(None, values)])


def notebooks() -> None:
    import nbclient
    import nbformat

    for path in sorted(NOTEBOOKS.glob("*.ipynb")):
        notebook = nbformat.read(path, as_version=4)
        with tempfile.TemporaryDirectory() as work:
            nbclient.NotebookClient(notebook, timeout=1800, resources={"metadata": {"path": work}}).execute()
        page_of(path).write_text(notebook_page(path, notebook.cells), encoding="utf-8")
        print(path.stem, file=sys.stderr)


def page_of(path: Path) -> Path:
    return DOCS / f"notebook-{path.stem}.md"


def is_fresh(path: Path) -> bool:
    """Whether the page has the text and the code of its notebook, whatever it shows as printed."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    page = page_of(path).read_text(encoding="utf-8")
    return re.sub(r"\n```text\n.*?^```\n", "", page, flags=re.MULTILINE | re.DOTALL) == notebook_page(path, cells)


def main(arguments: list[str]) -> None:
    match arguments:
        case ["reference"]:
            (DOCS / "python-reference.md").write_text(Reference().page(), encoding="utf-8")
        case ["notebooks"]:
            notebooks()
        case _:
            print(__doc__, file=sys.stderr)
            raise SystemExit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
