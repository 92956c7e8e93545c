"""The documents say what is true: their examples are executed, their names and links exist, CI runs the README's line.

Conventions: a line `$ command` in a console block is executed; below it stands what it prints, where `…` stands for
anything (on a line of its own for any lines) and times do not count; `$ echo $?` shows its exit code, else that is 0.
"""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import aggmc
from aggmc.batch.suite import read_suite
from aggmc.checker import METHODS, ask, check
from aggmc.errors import InputError
from aggmc.model.core import reachable
from aggmc.model.load import LANGUAGES, load_model
from aggmc.symbolic.encode import Encoding
from aggmc.symbolic.kripke import SymbolicKripke

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md")), ROOT / "models" / "README.md"]


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    refused: bool
    text: str


@cache
def blocks_of(page: Path) -> list[Block]:
    text = page.read_text()
    return [
        Block(page, text[: m.start()].count("\n") + 1, m[1], bool(m[2]), m[3])
        for m in re.finditer(r"^```(\w*)( refused)?\n(.*?)^```$", text, re.M | re.S)
    ]


def blocks(*languages: str) -> list[Any]:
    """Of all pages, as parameters of a test."""
    found = [block for page in PAGES for block in blocks_of(page) if block.language in languages]
    return [pytest.param(b, id=f"{b.page.relative_to(ROOT)}-{b.line}") for b in found]


def test_pages() -> None:
    """Every page is there, every fence is closed, and every block is of a kind that is looked at."""
    assert {page.name for page in PAGES} == {
        "README.md",
        "benchmarks.md",
        "algorithms.md",
        "batch.md",
        "changelog.md",
        "development.md",
        "json.md",
        "language.md",
        "nets.md",
        "traces.md",
    }
    for page in PAGES:
        text = page.read_text()
        assert len(re.findall(r"^\s*```", text, re.M)) == 2 * len(blocks_of(page)), page
        languages = {block.language for block in blocks_of(page)}
        data = {"dve", "etf", "hoa", "pnml", "xml", "ltl", "toml", "csv"}
        assert languages <= data | {"sh", "text", "console", "python"}, page


# -- commands ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    """A folder with the models, in which `aggmc` is this interpreter's."""
    (tmp_path / "models").symlink_to(ROOT / "models")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "aggmc"
    script.write_text(f'#!/bin/sh\nPYTHONPATH={shlex.quote(str(ROOT))} exec {sys.executable} -m aggmc "$@"\n')
    script.chmod(0o755)
    return tmp_path


def shell(desk: Path, command: str) -> subprocess.CompletedProcess[str]:
    """What a terminal shows: both streams together."""
    return subprocess.run(
        ["bash", "-c", f'PATH="$PWD/bin:$PATH"; {command}'],
        cwd=desk,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
    )


def masked(text: str) -> str:
    """Without times."""
    text = re.sub(r'"seconds": [\d.e-]+', '"seconds": T', text)
    return re.sub(r"\b\d+\.\d{3} s\b", "T s", text)


def shows(shown: str, real: str) -> bool:
    """Whether the real output is the one shown."""
    pattern = ""
    for line in masked(shown).rstrip("\n").split("\n"):
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(map(re.escape, line.split("…"))) + r"\n"
    return re.fullmatch(pattern, masked(real).rstrip("\n") + "\n") is not None


def test_shows_can_say_no() -> None:
    assert shows("a\n  …\nd; 0.123 s", "a\nb\nc\nd; 9.999 s\n")
    assert shows("a…c\n", "abbc\n")
    assert shows('{"seconds": 0.1}', '{"seconds": 12e-05}')
    for shown in ("a\nd; 0.123 s", "a\n…\nd; 0.123", "a\nb\nc\nd; 0.123 s\ne", "", "…\nb"):
        assert not shows(shown, "a\nb\nc\nd; 9.999 s\n"), shown


class Command(NamedTuple):
    """A command of a console block, what is shown below it, and its exit code."""

    line: str
    shown: str
    code: int


def commands(text: str) -> Iterator[Command]:
    parts = [(p[0], p[2]) for p in (chunk.partition("\n") for chunk in re.split(r"^\$ ", text, flags=re.M)[1:])]
    assert re.match(r"\$ ", text), "a console block begins with a command"
    for i, (line, shown) in enumerate(parts):
        if line == "echo $?":
            assert i > 0
            continue
        follows = i + 1 < len(parts) and parts[i + 1][0] == "echo $?"
        yield Command(line, shown, int(parts[i + 1][1]) if follows else 0)


def test_commands_are_cut_right() -> None:
    found = list(commands("$ aggmc a\nb\nc\n$ echo $?\n3\n$ aggmc d\n"))
    assert found == [Command("aggmc a", "b\nc\n", 3), Command("aggmc d", "", 0)]


@pytest.mark.parametrize("block", blocks("console"))
def test_console_blocks(block: Block, desk: Path) -> None:
    for command in commands(block.text):
        assert command.line.startswith("aggmc "), command.line
        real = shell(desk, command.line)
        assert real.returncode == command.code, f"{command.line}\n{real.stdout}"
        assert shows(command.shown, real.stdout), f"{command.line}\n{real.stdout}"


def test_some_commands_are_shown() -> None:
    found = [c for block in blocks("console") for c in commands(block.values[0].text)]
    shown = {"check", "batch", "info", "automaton", "replay", "simulate", "graph"}
    assert {c.line.split()[1] for c in found} == shown
    assert {c.code for c in found} == {0, 1, 2}


def test_indented_commands(desk: Path) -> None:
    """models/README.md has bare commands: they give verdicts."""
    found = re.findall(r"^    (aggmc .*)$", (ROOT / "models" / "README.md").read_text(), re.M)
    assert len(found) > 2
    for command in found:
        real = shell(desk, command)
        assert real.returncode in (0, 1), f"{command}\n{real.stdout}"


def test_exit_codes_of_the_readme() -> None:
    from aggmc.cli import codes

    listed = re.findall(r"^\| (\d+) \| ", README.read_text(), re.M)
    known = (codes.HOLDS, codes.VIOLATED, codes.BAD_INPUT, codes.UNKNOWN, codes.INTERNAL, codes.INTERRUPTED)
    assert listed == [str(code) for code in known]


# -- the README's two lines --------------------------------------------------------------------------------------------


def readme_lines() -> list[str]:
    """The two lines that do everything."""
    found = [block.text for block in blocks_of(README) if block.language == "sh"]
    assert all(text.count("\n") == 1 for text in found)
    return [text.strip() for text in found]


def test_first_line(desk: Path) -> None:
    """After the installation: a violation, exit code 1, and just the output that the README shows."""
    make, install, run = readme_lines()[0].split(" && ", 2)
    assert make == "python3 -m venv .venv"
    assert install == ".venv/bin/pip install ."
    assert run.startswith(".venv/bin/aggmc check models/")
    real = shell(desk, run.removeprefix(".venv/bin/"))
    shown = [block.text for block in blocks_of(README) if block.language == "text"]
    assert len(shown) == 1
    assert real.returncode == 1, real.stdout
    assert "…" not in shown[0]
    assert shows(shown[0], real.stdout), real.stdout
    assert "exit code 1" in README.read_text()


def test_second_line() -> None:
    first, second = readme_lines()
    assert first != second
    make, install, run = second.split(" && ")
    assert make == "python3 -m venv .venv-test"
    assert install == ".venv-test/bin/pip install -e '.[test]'"
    assert run.split()[0] == ".venv-test/bin/pytest"


@dataclass
class FakeClone:
    """A folder with .ci/run and a README, and tools that write down that they were called."""

    root: Path
    readme: str = "python3 -m venv .venv-test && mkdir -p .venv-test/bin && cp fake/* .venv-test/bin"
    codes: Mapping[str, int] = field(default_factory=dict)

    def run(self, cwd: Path) -> tuple[int, list[str]]:
        (self.root / ".ci").mkdir(parents=True)
        (self.root / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
        (self.root / "README.md").write_text(f"# x\n\n```sh\n{self.readme}\n```\n")
        (self.root / "fake").mkdir()
        for tool in ("python3", "ruff", "mypy"):
            path = self.root / "fake" / tool
            path.write_text(f'#!/bin/sh\necho {tool} "$@" >> "{self.root}/log"\nexit {self.codes.get(tool, 0)}\n')
            path.chmod(0o755)
        script = f'PATH="{self.root}/fake:$PATH" bash "{self.root}/.ci/run"'
        done = subprocess.run(["bash", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=60)
        log = self.root / "log"
        return done.returncode, log.read_text().splitlines() if log.exists() else []


def test_ci_runs_the_readmes_line(tmp_path: Path) -> None:
    code, log = FakeClone(tmp_path / "a b").run(tmp_path)
    assert code == 0
    assert log == ["python3 -m venv .venv-test", "ruff check aggmc tests", "mypy"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111
    assert len(re.findall(r"^python3 -m venv \.venv-test && ", README.read_text(), re.M)) == 1


@pytest.mark.parametrize("tool", ["python3", "ruff", "mypy"])
def test_ci_fails_if_a_part_fails(tmp_path: Path, tool: str) -> None:
    code, log = FakeClone(tmp_path / "clone", codes={tool: 1}).run(tmp_path)
    assert code != 0
    assert log[-1].split()[0] == tool


@pytest.mark.parametrize("line", ["python3 -m venv .venv", "{0}\n{0}", "{0} && false"])
def test_ci_fails_without_the_line(tmp_path: Path, line: str) -> None:
    clone = FakeClone(tmp_path / "clone", readme=line.format(FakeClone.readme))
    code, log = clone.run(tmp_path)
    assert code != 0
    assert "mypy" not in log


# -- Python ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", blocks("python"))
def test_python_blocks(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    test = doctest.DocTestParser().get_doctest(block.text, {}, str(block.page), str(block.page), block.line)
    assert test.examples, "a block of Python is a session"
    said: list[str] = []
    result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
    assert result.failed == 0, "".join(said)


def test_python_is_shown() -> None:
    text = "".join(block.text for block in blocks_of(README) if block.language == "python")
    for name in ("load_model", "check", "PRODUCTS", "product="):
        assert name in text


def test_products_of_the_readme() -> None:
    rows = dict(re.findall(r"^\| `(\w[\w-]*)` \|.*\| (.*) \|$", README.read_text(), re.M))
    assert set(rows) == set(aggmc.PRODUCTS)
    for name, method in METHODS.items():
        assert ("stutter-invariant" in rows[name]) == method.stutter_invariant_only, name
        assert ("at most 10" in rows[name]) == method.change_sets, name


def test_changelog_has_this_version() -> None:
    assert f"## {aggmc.__version__}\n" in (ROOT / "docs" / "changelog.md").read_text()


@pytest.mark.parametrize("block", blocks("toml", "csv"))
def test_suites(block: Block, tmp_path: Path) -> None:
    """They can be read, beside the models of the project."""
    for path in (ROOT / "models").iterdir():
        (tmp_path / path.name).symlink_to(path)
    (tmp_path / f"shown.{block.language}").write_text(block.text)
    checks = read_suite(tmp_path / f"shown.{block.language}")
    for one in checks:
        if one.formula is not None:
            ask(load_model(one.model), one.formula)
    assert len(checks) > 1


# -- languages ---------------------------------------------------------------------------------------------------------


def with_models() -> list[Any]:
    """The blocks of models and formulas; with each the model before it."""
    found: list[Any] = []
    for page in PAGES:
        before: Block | None = None
        for block in blocks_of(page):
            if f".{block.language}" in LANGUAGES and not block.refused:
                before = block
            if f".{block.language}" in LANGUAGES or block.language == "ltl":
                found.append(pytest.param(block, before, id=f"{page.relative_to(ROOT)}-{block.line}"))
    return found


def written(folder: Path, block: Block) -> Path:
    path = folder / f"example.{block.language}"
    path.write_text(block.text)
    return path


@pytest.mark.parametrize(("block", "before"), with_models())
def test_examples_of_languages(desk: Path, block: Block, before: Block | None) -> None:
    if block.language == "ltl":
        assert before is not None
        path = written(desk, before)
        read = load_model(path)
        for line in block.text.splitlines():
            formula, _, comment = line.partition("#")
            assert comment, "each formula says what becomes of it"
            if block.refused:
                with pytest.raises(InputError):
                    ask(read, formula)
            elif comment.strip() == "error":
                real = shell(desk, f"aggmc check {path.name} --ltl {shlex.quote(formula)}")
                assert real.returncode == 2
                assert "error of the model" in real.stdout
            else:
                assert check(read, formula).verdict == comment.strip(), formula
    elif block.refused:
        with pytest.raises(InputError):
            load_model(written(desk, block))
    else:
        read = load_model(written(desk, block))
        assert all("accept" in warning.message for warning in read.warnings)
        states = list(reachable(read.frontend.interpreter()))
        encoding = Encoding(read)
        assert encoding.count(SymbolicKripke(encoding).reachable()) == len(states)


def test_the_language_has_examples() -> None:
    kinds = {(b.language, b.refused) for b in blocks_of(ROOT / "docs" / "language.md")}
    assert kinds == {(language, refused) for language in ("dve", "hoa", "ltl") for refused in (False, True)}


# -- links and names ---------------------------------------------------------------------------------------------------


def anchors(page: Path) -> set[str]:
    without_blocks = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S)
    titles = re.findall(r"^#+ (.*)", without_blocks, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        there = page.parent / path if path else page
        assert there.exists(), target
        assert not anchor or anchor in anchors(there), target


def test_every_page_is_linked() -> None:
    linked = set(re.findall(r"\]\((docs/[\w.]+\.md)\)", README.read_text()))
    assert linked == {str(page.relative_to(ROOT)) for page in PAGES if page.parent.name == "docs"}


@pytest.mark.parametrize("page", [ROOT / "docs" / "algorithms.md", ROOT / "docs" / "development.md"])
def test_the_map_names_what_exists(page: Path) -> None:
    """Every file and name in backquotes with a path is there."""
    text = page.read_text()
    paths = re.findall(r"`((?:aggmc|tests|models|docs)/[\w./-]*)`", text)
    assert len(paths) > 15
    for path in paths:
        assert (ROOT / path).exists(), path
    names = re.findall(r"`(aggmc(?:\.\w+)+):(\w+)`", text)
    assert names or page.name != "algorithms.md"
    for module, name in names:
        assert hasattr(import_module(module), name), f"{module}:{name}"


def test_the_map_is_complete() -> None:
    """Every product, and every module of the symbolic layer that has an algorithm, is on the map."""
    text = (ROOT / "docs" / "algorithms.md").read_text()
    packages = ("products", "emptiness", "trace")
    modules = [path for package in packages for path in (ROOT / "aggmc" / package).glob("[!_]*.py")]
    assert len(modules) > 5
    for path in modules:
        assert f"`{path.relative_to(ROOT)}`" in text, path


# -- JSON --------------------------------------------------------------------------------------------------------------


class Field(NamedTuple):
    """A row of a table of docs/json.md."""

    optional: bool
    types: frozenset[str]


TYPES: dict[type, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    type(None): "null",
}
#: where the objects of a kind have objects of another one
PARTS = {
    "check": {"results": "result", "error": "error"},
    "result": {"stats": "stats", "trace": "trace", "race": "entrant"},
    "trace": {"prefix": "step", "cycle": "step", "parts": "part"},
    "replay": {"trace": "trace"},
    "simulation": {"trace": "trace"},
    "graph": {"nodes": "graph node", "edges": "graph edge"},
    "step": {"event": "event", "partner": "partner"},
    "batch": {"results": "batch result", "summary": "summary"},
    "batch result": {"stats": "stats", "trace": "trace", "race": "entrant", "error": "error"},
    "failure": {"error": "error"},
    "error": {"trace": "trace"},
    "info": {"variables": "variable", "events": "declared event"},
    "property": {"automaton": "automaton"},
    "automaton": {"initial": "initial state", "edges": "edge"},
}
ERRING = "byte a[2], i; process P { state q; init q; trans q -> q { effect a[i] = 1, i = i + 1; }; } system async;"
#: to write down what a step does takes longer than anybody waits
HARD = "int x = 1, y = 3; process P { state q; init q; trans q -> q { effect x = x * y, y = y * x; }; } system async;"
STRUCTURE = 'HOA: v1\nStart: 0\nAP: 1 "a"\n--BODY--\nState: [0] 0\n1\nState: [!0] 1\n--END--\n'
SUITE = """
[[check]]
model = "erring.dve"
ltl = "G P.q"
name = "a name"
expected = "holds"

[[check]]
model = "models/mutex.dve"
ltl = "G F P_0.CS"
race = "slap,tgba"
timeout = 60
memory = "2G"

[[check]]
model = "models/mutex.dve"
deadlocks = true
"""
#: commands that together write every field that there is
WRITING = [
    ("check", "check models/readers_writers.dve --properties models/readers_writers.properties"),
    ("check", "check models/philosophers.dve --deadlock error"),
    ("check", "check models/mutex.dve --ltl 'X P_0.CS' --product sog"),
    ("check", "check models/mutex.dve --ltl 'G F P_0.CS' --product tgba"),
    ("check", "check models/mutex.dve --ltl 'X P_0.CS' --race sog,slap,tgba --jobs 1"),
    ("check", "check erring.dve --ltl 'G P.q'"),
    ("check", "check structure.hoa --ltl 'G F a'"),
    ("check", "check models/mutex.dve --ltl 'G !P_0.CS'"),
    ("replay", "replay models/mutex.dve run.json"),
    ("replay", "replay models/mutex.dve run.json --ltl 'F P_1.CS'"),
    ("replay", "replay models/mutex_naive.dve run.json --ltl 'F P_1.CS'"),
    ("replay", "replay models/mutex.dve walk.json"),
    ("simulation", "simulate models/mutex.dve"),
    ("simulation", "simulate erring.dve"),
    ("graph", "graph models/mutex.dve --ltl 'G F P_0.CS' --product sog"),
    ("graph", "graph models/mutex.dve --ltl 'G(P_0.wait -> F P_0.CS)'"),
    ("batch", "batch suite.toml"),
    ("failure", "check models/mutex.dve --ltl 'G'"),
    ("failure", "check models/mutex.dve --nonsense"),
    ("failure", "check nothing.dve --ltl 'G a'"),
    ("info", "info models/mutex.dve"),
    ("info", "info structure.hoa"),
    ("info", "info hard.dve --timeout 2"),
    ("property", "automaton 'G(a -> F b)'"),
    ("property", "automaton 'G(a -> F b)' --tgta"),
    ("property", "automaton 'X a' --tgta"),
]


def tables() -> dict[str, dict[str, Field]]:
    """Of docs/json.md: for each kind of object its fields."""
    found: dict[str, dict[str, Field]] = {}
    for section in re.split(r"^### ", (ROOT / "docs" / "json.md").read_text(), flags=re.M)[1:]:
        rows = re.findall(r"^\| `(\w+)`( \(optional\))? \| ([\w ]+) \| \S.* \|$", section, re.M)
        title = section.partition("\n")[0]
        found[title] = {name: Field(bool(optional), frozenset(types.split(" or "))) for name, optional, types in rows}
        assert len(found[title]) == len(rows) == len(re.findall(r"^\| `", section, re.M)), title
    return found


def objects(kind: str, value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """An object and all the objects in it, each with its kind."""
    yield kind, value
    for name, part in PARTS.get(kind, {}).items():
        inner = value.get(name)
        for item in inner if isinstance(inner, list) else [inner] if inner is not None else []:
            yield from objects(part, item)


def faults(documented: Mapping[str, Mapping[str, Field]], seen: Sequence[tuple[str, dict[str, Any]]]) -> list[str]:
    """Where the tables and the objects differ."""
    found = [f"no such object was seen: {kind}" for kind in documented.keys() - {kind for kind, _ in seen}]
    for kind in {kind for kind, _ in seen}:
        own = [value for k, value in seen if k == kind]
        fields = documented.get(kind, {})
        for name in fields.keys() | {name for value in own for name in value}:
            if name not in fields:
                found.append(f"{kind}.{name} is not documented")
                continue
            there = [value[name] for value in own if name in value]
            if fields[name].optional != (len(there) < len(own)) or not there:
                found.append(f"{kind}.{name} is there in {len(there)} of {len(own)}")
            types = {TYPES[type(value)] for value in there}
            if not types <= fields[name].types or ("null" in fields[name].types) != ("null" in types):
                found.append(f"{kind}.{name} is {' or '.join(sorted(types))}")
    return found


def test_the_tables_of_json_are_what_is_written(desk: Path) -> None:
    (desk / "erring.dve").write_text(ERRING)
    (desk / "hard.dve").write_text(HARD)
    (desk / "suite.toml").write_text(SUITE)
    (desk / "structure.hoa").write_text(STRUCTURE)
    shell(desk, "aggmc check models/mutex.dve --ltl 'G F P_0.CS' --trace run.json")
    shell(desk, "aggmc simulate models/mutex.dve --trace walk.json")
    seen: list[tuple[str, dict[str, Any]]] = []
    for kind, arguments in WRITING:
        document = json.loads(shell(desk, f"aggmc {arguments} --format json 2> /dev/null").stdout)
        assert document["version"] == 1
        assert next(iter(document)) == "version"
        seen += objects(kind, document)
    documented = tables()
    assert faults(documented, seen) == []
    # and this would have been seen:
    for kind, fields in documented.items():
        for name, was in fields.items():
            for wrong in (None, Field(not was.optional, was.types), Field(was.optional, frozenset({"imaginary"}))):
                changed = {n: f for n, f in {**fields, name: wrong}.items() if f is not None}
                assert faults({**documented, kind: changed}, seen), f"{kind}.{name}"
        assert faults({**documented, kind: {**fields, "more": Field(True, frozenset({"string"}))}}, seen), kind


def test_the_version_of_json() -> None:
    from aggmc.report import JSON_VERSION

    assert f"It is {JSON_VERSION}," in (ROOT / "docs" / "json.md").read_text()
