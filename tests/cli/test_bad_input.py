"""Bad input: one paragraph that names the place, exit code 2, and nothing on stdout but, if asked, the same as JSON."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from cli_testing import RING, Run, Write, is_paragraph

from aggmc.model.load import MAX_BYTES


def refused(run: Run, *arguments: str | Path, file: str | Path | None, line: int | None, column: int | None) -> str:
    """Run it as text and as JSON; returns the message."""
    done = run(*arguments)
    assert (done.code, done.out) == (2, "")
    assert is_paragraph(done.err)
    place = ":".join(str(part) for part in (file, line, column) if part is not None)
    shown = run(*arguments, "--format", "json")
    assert shown.code == 2
    assert shown.err == done.err
    assert list(shown.json) == ["version", "error"]
    error = shown.json["error"]
    message: str = error["message"]
    assert error == {"message": message, "file": str(file) if file else None, "line": line, "column": column}
    lines = done.err.splitlines()
    assert lines[0] == (f"error: {place}: {message}" if place else f"error: {message}")
    if column is None:
        assert len(lines) == 1
    else:
        assert len(lines) == 3
        assert lines[2].strip() == "^"
    return message


def pointed(run: Run, *arguments: str | Path) -> str:
    """What of the line stands above the caret and to its right."""
    _, line, caret = run(*arguments).err.splitlines()
    return line[caret.index("^") :]


# --- files ------------------------------------------------------------------------------------------------------------

COMMANDS = [["info"], ["check", "--ltl", "G P.a"]]
both_commands = pytest.mark.parametrize("command", COMMANDS, ids=["info", "check"])


@both_commands
def test_missing_file(run: Run, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "none.dve"
    message = refused(run, *command, path, file=path, line=None, column=None)
    assert message == "cannot be read: No such file or directory"


@both_commands
def test_directory(run: Run, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "folder.dve"
    path.mkdir()
    assert refused(run, *command, path, file=path, line=None, column=None) == "cannot be read: Is a directory"


@pytest.fixture(name="forbidden")
def forbidden_fixture() -> Iterator[Path]:
    """A file that nobody may read, and no rights of root, who may read everything."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = Path(folder) / "model.dve"
        path.write_text(RING)
        path.chmod(0)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            yield path
        finally:
            os.seteuid(user)


@both_commands
def test_unreadable_file(run: Run, forbidden: Path, command: list[str]) -> None:
    message = refused(run, *command, forbidden, file=forbidden, line=None, column=None)
    assert message == "cannot be read: Permission denied"


@both_commands
def test_huge_file(run: Run, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "huge.dve"
    with path.open("wb") as file:
        file.truncate(MAX_BYTES + 1)  # takes no place on the disk
    message = refused(run, *command, path, file=path, line=None, column=None)
    assert message == f"the file has {MAX_BYTES + 1} bytes; at most {MAX_BYTES} are read"


def test_file_without_end(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "zero.dve"
    path.symlink_to("/dev/zero")
    assert "more than" in refused(run, "info", path, file=path, line=None, column=None)


@both_commands
@pytest.mark.parametrize("data", [b"\x7fELF\0\0\0", RING.encode() + b"\0", RING.encode("utf-16")])
def test_binary_file(run: Run, write: Write, command: list[str], data: bytes) -> None:
    path = write(data)
    assert refused(run, *command, path, file=path, line=None, column=None) == "this is a binary file"


def test_random_bytes(run: Run, write: Write) -> None:
    """The line of the file is shown; what it has to say to a terminal is not."""
    path = write(b"byte x;\n\x1b[31m\x07\x9b\xe9 \xff\n")
    done = run("info", path)
    assert done.code == 2
    assert is_paragraph(done.err)
    assert done.err.startswith(f"error: {path}:2:1: ")
    assert all(c.isprintable() or c == "\n" for c in done.err)


def test_file_of_another_language(run: Run, write: Write) -> None:
    path = write(RING, "model.txt")
    assert ".dve, .pnml, .etf" in refused(run, "info", path, file=path, line=None, column=None)


def test_files_of_other_systems(run: Run, write: Write) -> None:
    """Line ends, a byte order mark, and letters of old code pages in comments are no reason to refuse."""
    for data in (
        RING.replace("\n", "\r\n").encode(),
        RING.replace("\n", "\r").encode(),
        b"\xef\xbb\xbf" + RING.encode(),
        b"// caf\xe9\n" + RING.encode(),
        RING.encode().rstrip(),
    ):
        assert run("check", write(data), "--ltl", "G F P.a").code == 0


# --- models -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "line", "above", "said"),
    [
        ("byte x;", "byte x", 2, "process", "`;` was expected"),
        ("byte x;", "byte x; /* no end", 1, "/* no end", "never closed"),
        ("byte x;", "byte x; byte x;", 1, "x;", "`x`"),
        ("byte x;", "byte x = y;", 1, "y;", "`y` is not declared"),
        ("byte x;", "byte x[0];", 1, "x[0]", "size"),
        ("init a;", "", 2, "P {", "init"),
        ("a -> b", "a -> d", 6, "d {", "has no location `d`"),
        ("a -> b", "aa -> b", 6, "aa ->", "did you mean `a`?"),
        ("x = 2", "xx = 2", 7, "xx =", "did you mean `x`?"),
        ("x = 2", "x = y + 1", 7, "y +", "`y` is not declared"),
        ("x = 2", "x = P", 7, "P;", "is a process"),
        ("x = 2", "x[1] = 2", 7, "x[1]", "no array"),
        ("x = 2", "x == 2", 7, "== 2", "expected"),
        ("x = 2", "guard", 7, "guard", "expected"),
        ("b -> c {", "b -> c { guard Q.a;", 7, "Q.a", "no process `Q`"),
        ("b -> c {", "b -> c { sync c!;", 7, "c!", "`c`"),
        ("system async;", "", 9, "", "`system`"),
        ("system async;", "system async property P;", 10, "property", "property"),
        ("system async;", "system async; $", 10, "$", "'$'"),
    ],
)
def test_malformed_model(run: Run, write: Write, old: str, new: str, line: int, above: str, said: str) -> None:
    assert old in RING
    text = RING.replace(old, new, 1)
    path = write(text)
    error = run("info", path, "--format", "json").json["error"]
    assert error["line"] == line
    message = refused(run, "check", path, "--ltl", "G P.a", file=path, line=line, column=error["column"])
    assert said in message
    assert pointed(run, "info", path).startswith(above)


@pytest.mark.parametrize("text", ["", "\n", " // nothing\n", "system"])
def test_no_model(run: Run, write: Write, text: str) -> None:
    path = write(text)
    done = run("info", path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith(f"error: {path}:1:")


def test_tabs_and_long_lines(run: Run, write: Write) -> None:
    """The caret stands where it should on a terminal."""
    path = write(RING.replace("    b -> c", "\t\tb -> d"))
    _, line, caret = run("info", path).err.splitlines()
    assert line.startswith("    \t\tb -> d {")
    assert caret == "    \t\t     ^"
    path = write(RING.replace("b -> c {", "b -> c {" + " " * 5000 + "guard yy;"))
    _, line, caret = run("info", path).err.splitlines()
    assert len(line) < 200
    assert line[caret.index("^") :].startswith("yy;")


def test_deep_nesting(run: Run, write: Write) -> None:
    for inner in ("!" * 5000 + "x", "-" * 5000 + "x", "1 + (" * 3000 + "x" + ")" * 3000):
        path = write(RING.replace("x = 1", f"x = {inner}"))
        done = run("info", path)
        assert done.code == 2
        assert is_paragraph(done.err)
        assert done.err.startswith(f"error: {path}:6:")


def test_malformed_structure(run: Run, write: Write) -> None:
    good = (
        'HOA: v1\nStates: 2\nStart: 0\nAP: 1 "a"\nAcceptance: 0 t\n--BODY--\n'
        "State: [0] 0\n1\nState: [!0] 1\n0\n--END--\n"
    )
    assert run("check", write(good, "k.hoa"), "--ltl", "G F a").code == 0
    for old, new, line, said in [
        ("[!0]", "[]", 9, "unexpected"),
        ("[!0]", "[1]", 9, "1"),
        ("Start: 0", "Start: 7", 3, "7"),
        ("0 t", "1 Inf(0)", 5, "acceptance"),
    ]:
        path = write(good.replace(old, new, 1), "k.hoa")
        done = run("check", path, "--ltl", "G F a")
        assert done.code == 2
        assert is_paragraph(done.err)
        assert done.err.startswith(f"error: {path}:{line}:"), done.err
        assert said in done.err.lower()
    done = run("check", write(good, "k.hoa"), "--ltl", "G aa")
    assert done.code == 2
    assert "did you mean `a`?" in done.err


# --- formulas ---------------------------------------------------------------------------------------------------------

VARIABLES = RING.replace("byte x;", "byte x, count[2];").replace("process P {", "process P {\n  int level; byte b;")


@pytest.mark.parametrize(
    ("formula", "column", "said"),
    [
        # without quotes: a variable, a process
        ("G x=1", 3, '"x == 1"'),
        ("G x=0", 3, '"x == 1"'),
        ("G x", 3, '"x == 1"'),
        ("G !(P.a && x)", 12, '"x == 1"'),
        ("G count", 3, '"count[0] == 1"'),
        ("G P", 3, '"P.a"'),
        ("G(P->level)", 3, '"P.a"'),
        ("G(P->b)", 3, '"P.a"'),
        ("G P=a", 4, "double quotes"),
        ("G P.level", 3, '"P.level == 1"'),
        ("G P.a=1", 3, "write the comparison in quotes"),
        # unknown names
        ("G P.aa", 3, "did you mean `a`?"),
        ("G P.lvel", 3, "did you mean `level`?"),
        ("G Q.a", 3, "no process `Q`"),
        ('G "coun[0] == 1"', 4, "did you mean `count`?"),
        ('G "P->leve == 1"', 4, "did you mean `level`?"),
        ('F G "x == 0 && Q.a"', 16, "no process `Q`"),
        ("G(P.a -> F P.cc)", 12, "did you mean `c`?"),
        ('G "level == 1"', 4, "`P->level`"),
        ('G "P=aa"', 4, "did you mean `a`?"),
        ("G cont", 3, "did you mean `count`?"),
        # wrong types
        ('G "x"', 4, '"x != 0"'),
        ('G "x + 1"', 6, '"(x + 1) != 0"'),
        ('G "x[0] == 1"', 4, "no array"),
        ('G "count == 1"', 4, "is an array"),
        ('G "count[2] == 1"', 4, "outside"),
        ('G "x = 1"', 6, "=="),
        ('G "P == 1"', 4, "is a process"),
        # no formulas
        ("", 1, "empty"),
        ("   ", 1, "empty"),
        ("G (P.a", 3, "never closed"),
        ("G P.a)", 6, "unexpected closing parenthesis"),
        ("G(P.a -> )", 7, "no right operand"),
        ("P.a P.b", 5, "operator is missing"),
        ('G "x == 1', 3, "never closed"),
        ('G ""', 3, "nothing between"),
        ("G é", 3, "ASCII"),
        ("G x<1", 4, "double quotes"),
        ("{P.a}[]-> P.b", 1, "PSL"),
        ('G "x ==== 1"', 8, "expected"),
        ("(" * 250 + "P.a" + ")" * 250, 201, "nested"),
        ("G F[999] P.a", 4, "numbers in brackets"),
    ],
)
def test_formula(run: Run, write: Write, formula: str, column: int, said: str) -> None:
    path = write(VARIABLES)
    asked = ["check", path, "--ltl", "G F P.a", "--ltl", formula]
    message = refused(run, *asked, file="--ltl", line=1, column=column)
    assert said in message
    if formula.strip() and len(formula) < 100:
        assert pointed(run, *asked) == formula[column - 1 :].rstrip("\n")


def test_long_formula(run: Run, write: Write) -> None:
    done = run("check", write(RING), "--ltl", "G P.a || " * 3000 + "P.a")
    assert done.code == 2
    assert is_paragraph(done.err)
    assert len(done.err) < 300


def test_formula_of_several_lines(run: Run, write: Write) -> None:
    asked = ["check", write(RING), "--ltl", "G(P.a ->\n  F P.dd)"]
    refused(run, *asked, file="--ltl", line=2, column=5)
    assert pointed(run, *asked) == "P.dd)"


@pytest.mark.parametrize(
    ("text", "line", "column", "above", "said"),
    [
        ("G P.a\n\n# c\n  second : G P.aa  // c\n", 4, 14, "P.aa  // c", "did you mean `a`?"),
        ("one:\n", 1, 5, "", "empty"),
        ("one: # nothing\n", 1, 5, "", "empty"),
        ('one: G "x == 1\n', 1, 8, '"x == 1', "never closed"),
        ("one: two: G P.a\n", 1, 9, ": G P.a", ""),
        ("\tone:\tG x=1\n", 1, 9, "x=1", '"x == 1"'),
        ("G P.a\r\nG (P.a\r\n", 2, 3, "(P.a", "never closed"),
    ],
)
def test_property_file(
    run: Run, write: Write, text: str, line: int, column: int, above: str, said: str
) -> None:
    path = write(text, "some.properties")
    asked = ["check", write(RING), "--properties", path]
    message = refused(run, *asked, file=path, line=line, column=column)
    assert said in message
    assert pointed(run, *asked).rstrip().startswith(above)


def test_property_files_that_are_none(run: Run, write: Write, tmp_path: Path) -> None:
    model = write(RING)
    for path, said in [
        (tmp_path / "none", "No such file"),
        (tmp_path, "Is a directory"),
        (write(b"G P.a\0", "binary"), "binary"),
    ]:
        assert said in refused(run, "check", model, "--properties", path, file=path, line=None, column=None)
    empty = write("# nothing\n\n", "empty")
    message = refused(run, "check", model, "--properties", empty, file=None, line=None, column=None)
    assert "nothing to check" in message


def test_bad_formula_of_automaton(run: Run) -> None:
    refused(run, "automaton", "G(a -> F b", file="FORMULA", line=1, column=2)
    assert "double quotes" in refused(run, "automaton", "G a<1", file="FORMULA", line=1, column=4)


def test_all_is_read_before_anything_is_checked(run: Run, write: Write) -> None:
    """No half of an answer: a bad property at the end is told at once."""
    done = run("check", write(RING), "--ltl", "G F P.a", "--ltl", "G P.q")
    assert (done.code, done.out) == (2, "")


# --- names with two meanings ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["G F P.b", 'G F "P.b"'])
def test_location_wins(run: Run, write: Write, formula: str) -> None:
    """`b` is a location of P and a variable, which is always 0."""
    done = run("check", write(VARIABLES), "--ltl", formula, "--ltl", formula)
    assert done.code == 0
    assert done.err.count("warning: ") == 1  # said once
    assert "`P.b` is read as the location; the variable of that name is `P->b`" in done.err
    assert done.err.endswith("^\n")
    done = run("check", write(VARIABLES), "--ltl", 'G "P->b == 0"')
    assert (done.code, done.err) == (0, "")


def test_warnings_of_the_model(run: Run, write: Write) -> None:
    path = write(RING.replace("byte x;", "byte x = 256;"))
    for arguments in (["info", path], ["check", path, "--ltl", "G F P.a"]):
        done = run(*arguments)
        assert done.code == 0
        assert done.err.startswith(f"warning: {path}:1:")
        assert "warning:" not in done.out


def test_a_word_that_begins_with_an_operator(run: Run, write: Write) -> None:
    """`Foo.b` is F oo.b to Spot: not silently, where the model has a Foo.b."""
    process = "process {} {{ state a, b; init {}; trans a -> a {{ }}, b -> b {{ }}; }}\n"
    model = write(process.format("Foo", "a") + process.format("oo", "b") + "system async;")
    refused = run("check", model, "--ltl", "F Foo.b")
    assert refused.code == 2
    assert refused.err == (
        'error: --ltl:1:3: `Foo.b` is read as F oo.b: write "Foo.b" in quotes, or a space after the operator\n'
        "    F Foo.b\n      ^\n"
    )
    assert run("check", model, "--ltl", "F oo.b").code == 0
    assert run("check", model, "--ltl", "Foo.a").code == 2
    assert run("check", model, "--ltl", 'F "Foo.b"').code == 1
    unknown = run("check", model, "--ltl", "Goo.b & Gop.b")
    assert "there is no process `op`" in unknown.err
    assert "`Gop.b` is read as G op.b" in unknown.err
    assert run("automaton", "G x=1").code == 2
    assert run("check", "").err == "error: the name of the file is empty\n"
    assert run("simulate", model, "--seed", "-2").code == 2
