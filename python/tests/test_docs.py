"""What the book, the README and docstrings show is run."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import flashraid
import pytest

from conftest import ROOT, Program

SMALL_SSD = {"ssd.geometry.blocks": 64, "ssd.geometry.pages": 16, "ssd.geometry.dies": 2, "ssd.geometry.planes": 1, "workload.requests": 500}


#: Names whose docstrings have examples that can be run.
EXAMPLES = ["flashraid", "Device", "Study", "Workload", "advise", "compare", "run"]


@pytest.mark.parametrize("name", EXAMPLES)
def test_docstrings(name: str) -> None:
    examples = examples_of(flashraid if name == "flashraid" else getattr(flashraid, name))
    assert examples
    for example in examples:
        assert doctest.DocTestRunner().run(example).failed == 0, example.name


def test_every_example_is_run() -> None:
    has_some = [name for name in flashraid.__all__ if name != "__version__" and examples_of(getattr(flashraid, name))]
    assert ["flashraid", *sorted(has_some)] == EXAMPLES


def examples_of(thing: Any) -> list[doctest.DocTest]:
    """The examples in the docstrings of a thing and of its members, as one sees them who has imported all names."""
    if inspect.ismodule(thing):
        found = [doctest.DocTestParser().get_doctest(thing.__doc__ or "", {}, "flashraid", None, None)]
    elif inspect.isclass(thing) or inspect.isfunction(thing):
        found = doctest.DocTestFinder().find(thing, thing.__name__, module=False, globs=dict(vars(flashraid)))  # type: ignore[arg-type]
    else:
        found = []
    return [test for test in found if test.examples]


def snippets(path: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```$", path.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays of the real size take minutes; what is shown is run on small ones."""
    run, study, device = flashraid.run, flashraid.Study, flashraid.Device

    def small_run(config: Any, *arguments: Any, settings: Any = None, **more: Any) -> flashraid.Report:
        return run(config, *arguments, settings={**SMALL_SSD, **(settings or {})}, **more)

    def small_study(config: Any) -> flashraid.Study:
        made = study(config)
        for key, value in SMALL_SSD.items():
            made = made.set(key, value)
        return made

    def small_device(config: Any, *, settings: Any = None, **more: Any) -> flashraid.Device:
        return device(config, settings={**SMALL_SSD, **(settings or {})}, **more)

    monkeypatch.setattr(flashraid, "Device", small_device)
    monkeypatch.setattr(flashraid, "run", small_run)
    monkeypatch.setattr(flashraid, "Study", small_study)


def test_the_chapter_of_the_book(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "array.toml").write_text("[array]\nmembers = 2\n")
    shown = snippets(ROOT / "docs" / "python.md")
    assert len(shown) >= 8
    # One after the other, as a reader would type them.
    names: dict[str, Any] = {}
    for snippet in shown:
        needed = re.search(r"^import (polars|numpy|ray)$", snippet, re.MULTILINE)
        if needed:
            pytest.importorskip(needed[1])
        exec(compile(snippet, "docs/python.md", "exec"), names)


@pytest.mark.parametrize("command", [["run"], ["compare", "--vary", "coordination.scheme=local,ideal"]])
def test_the_guide_reads_what_the_program_writes(
    command: list[str], program: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for library in ("matplotlib", "pandas", "polars", "pyarrow"):
        pytest.importorskip(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    (tmp_path / "array.toml").write_text("[array]\nmembers = 2\n")
    small = [word for key, value in SMALL_SSD.items() for word in ("--set", f"{key}={value}")]
    program(command[0], "array.toml", *command[1:], "--out", "results", *small, cwd=tmp_path)
    shown = snippets(ROOT / "docs" / "guide.md")
    assert len(shown) == 2
    for snippet in shown:
        # A comparison keeps no single requests.
        if "requests.parquet" in snippet and command[0] == "compare":
            continue
        exec(compile(snippet, "docs/guide.md", "exec"), {})
    assert (tmp_path / "cdf.pdf").stat().st_size > 1000
    assert ("response_ns" in capsys.readouterr().out) == (command[0] == "run")


def test_every_snippet_is_run_by_a_test() -> None:
    """Notebooks have tests of their own, and docstrings, of which the reference is made."""
    run = {"README.md", "python.md", "guide.md"}
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    shown = {path.name for path in pages if snippets(path)}
    assert {name for name in shown if not name.startswith("notebook-")} - {"python-reference.md"} == run


def test_the_page_of_the_package_index(small: None, capsys: pytest.CaptureFixture[str]) -> None:
    """What a package index shows has links that lead somewhere from there, to files that are here."""
    text = (ROOT / "python" / "README.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)]*)\)", text)
    home = "https://github.com/flashraid/flashraid/blob/main/"
    assert len(links) >= 4
    for link in links:
        assert link.startswith(home) and (ROOT / link.removeprefix(home)).is_file(), link
    (lines,) = snippets(ROOT / "python" / "README.md")
    exec(compile(lines, "python/README.md", "exec"), {})
    assert "reactive-inclusive" in capsys.readouterr().out


def test_the_five_lines_of_the_readme(small: None, capsys: pytest.CaptureFixture[str]) -> None:
    (lines,) = snippets(ROOT / "README.md")
    assert len([line for line in lines.splitlines() if line.strip()]) == 5
    exec(compile(lines, "README.md", "exec"), {})
    table = capsys.readouterr().out
    for scheme in ("local", "reactive-inclusive", "reactive-selective", "proactive-idle", "proactive-soft-limit", "(ideal)"):
        assert re.search(rf"^ *{re.escape(scheme)}", table, re.MULTILINE), table
    assert "Mean response time" in table


def test_the_five_lines_are_the_main_job() -> None:
    """What they configure is what the program runs."""
    (lines,) = snippets(ROOT / "README.md")
    names: dict[str, Any] = {}
    exec(compile("\n".join(line for line in lines.splitlines() if line.startswith("array = ")), "README.md", "exec"), names)
    job = ROOT / "crates" / "flashraid-cli" / "src" / "cmd" / "demo.toml"
    mine, theirs = flashraid.check(names["array"]), flashraid.check(job)
    assert mine.document == theirs.document


def sections(docstring: str | None) -> dict[str, str]:
    """The sections of a docstring in the style of numpydoc, without their headings."""
    parts = re.split(r"^(\w+)\n-+$", inspect.cleandoc(docstring or ""), flags=re.MULTILINE)
    for name, line in re.findall(r"^(\w+)\n(-+)$", inspect.cleandoc(docstring or ""), flags=re.MULTILINE):
        assert len(name) == len(line), f"{name}: the line below must be as long"
    return dict(zip(parts[1::2], parts[2::2]))


class Source:
    """What the source of the package says of its functions: which of them can raise an error of the package."""

    #: Functions of the native part that take nothing which could be wrong.
    SAFE = {"presets", "schema"}
    #: Methods of the native part that refuse a part of a study.
    OF_WHOLE_STUDIES = {"json", "html", "charts", "summary"}

    def __init__(self) -> None:
        self.functions: dict[str, ast.FunctionDef] = {}
        for path in (ROOT / "python" / "flashraid").glob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.FunctionDef):
                    self.functions[node.name] = node
                elif isinstance(node, ast.ClassDef):
                    self.functions |= {f"{node.name}.{inner.name}": inner for inner in node.body if isinstance(inner, ast.FunctionDef)}
        self.raising = {name for name, node in self.functions.items() if self._raises_itself(name, node)}
        while new := {name for name, node in self.functions.items() if name not in self.raising and self._calls_one(name, node)}:
            self.raising |= new

    def _raises_itself(self, name: str, node: ast.FunctionDef) -> bool:
        of = name.split(".")[0]
        for inner in ast.walk(node):
            if isinstance(inner, ast.Raise):
                return True
            if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Attribute):
                owner = ast.unparse(inner.func.value)
                if owner in ("_native", "native") and inner.func.attr not in self.SAFE:
                    return True
                if owner == "self._native" and of in ("Shown", "StudyResult") and inner.func.attr in self.OF_WHOLE_STUDIES:
                    return True
        return False

    def _calls_one(self, name: str, node: ast.FunctionDef) -> bool:
        of = name.split(".")[0]
        for inner in ast.walk(node):
            if isinstance(inner, ast.Call):
                called = ast.unparse(inner.func)
                if {called, f"{called}.__init__", called.replace("self.", f"{of}.")} & self.raising:
                    return True
        return False


def public_members() -> list[tuple[str, str, Any]]:
    """Every public function, method and property: its name, that in the source, and itself; a class stands for its ``__init__``."""
    found: list[tuple[str, str, Any]] = []
    for name in flashraid.__all__:
        thing = getattr(flashraid, name)
        if inspect.isfunction(thing):
            found.append((name, name, thing))
        if not inspect.isclass(thing):
            continue
        if not issubclass(thing, BaseException):
            found.append((name, f"{name}.__init__", thing))
        for member, value in inspect.getmembers_static(thing):
            value = value.__func__ if isinstance(value, classmethod) else value
            function = getattr(value, "fget", None) or getattr(value, "func", None) or value
            if not member.startswith("_") and inspect.isfunction(function):
                found.append((f"{name}.{member}", function.__qualname__, value))
    return found


def test_docstrings_say_what_is_taken_given_and_raised() -> None:
    source = Source()
    errors = {name for name in flashraid.__all__ if "Error" in name or name == "Interrupted"}
    members = public_members()
    assert len(members) > 90 and {"run", "Device.submit", "Study.vary", "StudyResult.summary", "Report.requests"} <= source.raising | {"run"}
    for name, in_source, thing in members:
        node = source.functions.get(in_source)
        if node is None:
            continue  # A dataclass has no function of ours.
        parts = sections(inspect.getdoc(thing))
        assert ":param" not in (inspect.getdoc(thing) or ""), name
        taken = [one.arg for one in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs) if one.arg not in ("self", "cls")]
        # Users do not make what the package alone makes.
        is_ours = inspect.isclass(thing) and ("_native" in ast.unparse(node.args) or name == "Check")
        if taken and not is_ours:
            described = re.findall(r"^(\w+)$", parts.get("Parameters", ""), re.MULTILINE)
            assert described == taken, f"{name}: Parameters are {described}, but must be {taken}"
        gives = node.returns is not None and ast.unparse(node.returns) != "None"
        is_called = inspect.isfunction(thing)
        assert ("Returns" in parts) == (gives and is_called), f"{name}: {'no ' if gives else ''}Returns"
        if in_source in source.raising and not is_ours:
            assert "Raises" in parts, f"{name} can raise: Raises is missing"
        raised = re.findall(r"^(\S+)$", parts.get("Raises", ""), re.MULTILINE)
        assert set(raised) <= errors and ("Raises" not in parts or raised), f"{name}: {raised}"


def test_everything_public_is_documented() -> None:
    for name in flashraid.__all__:
        thing = getattr(flashraid, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
            for member, value in vars(thing).items() if inspect.isclass(thing) else ():
                if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
                    assert inspect.getdoc(value), f"{name}.{member}"


def test_the_chapter_names_everything() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    for name in flashraid.__all__:
        assert name == "__version__" or f"`{name}" in text or f"flashraid.{name}" in text or f".{name}(" in text, name


def test_pages_made_of_the_package_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("griffe")
    monkeypatch.syspath_prepend(ROOT / "scripts")
    pages = importlib.import_module("python_pages")
    kept = (ROOT / "docs" / "python-reference.md").read_text(encoding="utf-8")
    assert pages.Reference().page() == kept, "docs/python-reference.md is out of date: run `make pages` and read the diff"
    notebooks = sorted(pages.NOTEBOOKS.glob("*.ipynb"))
    stale = [path.name for path in notebooks if not pages.is_fresh(path)]
    assert notebooks and not stale, f"the pages of {stale} are out of date: run `make notebooks` and read the diff"
