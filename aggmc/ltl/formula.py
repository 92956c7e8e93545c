"""Reading an LTL formula.

Spot's parser reads the operators (`G F X U W R M ! & | -> <-> xor`, and the spellings of other tools, such as `[]`,
`<>` and `&&`). An atomic proposition is any text in double quotes, or a word as Spot's lexer cuts it: `GFa` is G F a,
`P_0.CS` is one atom. Quoted atoms never reach Spot: each is replaced by a word that does not occur in the formula, so
that `"pos[1] == 2"` needs no care, and errors are shown at their column of the text that the user wrote.

Spot reads `x=1` as `x`, `x=0` as `!x` and `P->v` as an implication. Such atoms come back as *unquoted*: a front-end
must refuse an unquoted atom that is not a proposition of its own right. `Atom.compared` says that `=0` or `=1` follows.

Spot's formulas and automata work recursively in C++, where running out of stack ends the process, so nesting is
bounded here before and after parsing: `MAX_LENGTH`, `MAX_NESTING`, `MAX_DEPTH`, `MAX_COUNT`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aggmc.errors import InputError, Location

MAX_LENGTH = 20_000  # characters of a formula
MAX_NESTING = 200  # parentheses
MAX_DEPTH = 300  # operators above one another
MAX_COUNT = 200  # the numbers in X[n], F[n:m], G[n:m], taken together


@dataclass(frozen=True, slots=True)
class Atom:
    """An atomic proposition as it was written.

    An atom that occurs both quoted and unquoted is one atom, and counts as unquoted: the stricter reading.
    """

    text: str
    quoted: bool
    column: int  # of the first character of `text` in the formula (of the first unquoted occurrence, if there is one)
    line: int = 1
    compared: bool = False  # somewhere `=0` or `=1` follows, which Spot reads as a negation or as nothing
    #: words with line and column that end with the atom, where operators stand right before it: `Foo` is F oo
    glued: tuple[tuple[str, int, int], ...] = ()


@dataclass(frozen=True)
class Parsed:
    """A formula over the atoms p0, p1, …, where p<i> stands for `atoms[i]`, in Spot's syntax."""

    text: str
    formula: str
    atoms: tuple[Atom, ...]
    where: Location | None = None

    def location(self, line: int, column: int) -> Location:
        """The place of a line and column of the formula's text."""
        return _place(self.text, self.where, line, column)


def parse(text: str, where: Location | None = None) -> Parsed:
    """Read an LTL formula; raises InputError with the line and column of what is wrong."""
    source = _Source(text, where)
    _check_text(source)
    chunks, quoted = _replace_quoted(source)
    placed = "".join(chunk for chunk, _ in chunks)
    origin = [start + (i if step else 0) for chunk, (start, step) in chunks for i in range(len(chunk))]
    origin.append(len(text.rstrip()))  # errors at the end are shown behind the last character
    _check_nesting(source, placed, origin)
    return _read(source, placed, origin, quoted)


# --- the text -------------------------------------------------------------------------------------------------------


def _place(text: str, where: Location | None, line: int, column: int) -> Location:
    file = where.file if where else None
    lines = text.split("\n")
    shown = lines[line - 1] if line <= len(lines) else ""
    if where is None or where.line is None:
        return Location(file, line, column, shown)
    if line == 1 and where.column is not None and where.text is not None:
        return Location(file, where.line, where.column + column - 1, where.text)
    return Location(file, where.line + line - 1, column, shown)


@dataclass(frozen=True, slots=True)
class _Source:
    text: str
    where: Location | None

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column, from 1, of an offset."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def error(self, message: str, offset: int) -> InputError:
        return InputError(message, _place(self.text, self.where, *self.position(offset)))


def _check_text(source: _Source) -> None:
    text = source.text
    if not text.strip():
        raise source.error("the formula is empty", 0)
    if len(text) > MAX_LENGTH:
        message = f"the formula is {len(text)} characters long; at most {MAX_LENGTH} are read"
        raise InputError(message, Location(source.where.file if source.where else None, 1))
    for offset, char in enumerate(text):
        if char in "\t\n\r ":
            continue
        if not char.isascii():
            raise source.error(f"{char!r} is not an ASCII character", offset)
        if not char.isprintable():
            raise source.error(f"the character with code {ord(char)} has no place in a formula", offset)


_Chunk = tuple[str, tuple[int, bool]]  # the text for Spot; its offset in the original, and whether offsets go on in it


def _replace_quoted(source: _Source) -> tuple[list[_Chunk], list[tuple[str, int, str]]]:
    """The text for Spot in pieces, without comments; and the quoted atoms: text, offset of the text, placeholder."""
    text = source.text
    prefix = "q_"
    while prefix in text:
        prefix = "q" + prefix
    chunks: list[_Chunk] = []
    quoted: list[tuple[str, int, str]] = []
    numbers: dict[str, int] = {}  # equal atoms get the same placeholder
    at = 0
    while found := re.compile(r'"|/\*').search(text, at):
        start = found.start()
        chunks.append((text[at:start], (at, True)))
        if found[0] == "/*":
            at = text.find("*/", start + 2) + 2
            if at < 2:
                raise source.error("this comment is never closed", start)
            chunks.append((" " * (at - start), (start, True)))
            continue
        inside, offset, at = _quoted(source, start)
        number = numbers.setdefault(inside, len(numbers))
        chunks.append((f" {prefix}{number} ", (start, False)))
        quoted.append((inside, offset, f"{prefix}{number}"))
    chunks.append((text[at:], (at, True)))
    return chunks, quoted


def _quoted(source: _Source, start: int) -> tuple[str, int, int]:
    """The atom in the double quotes that open at `start`; its offset; and the offset behind the closing quote."""
    text = source.text
    end = start + 1
    raw: list[str] = []
    while end < len(text) and text[end] != '"':
        if text[end] == "\\" and text[end + 1 : end + 2] in ('"', "\\"):
            end += 1
        raw.append(text[end])
        end += 1
    if end >= len(text):
        raise source.error("this double quote is never closed", start)
    inside = "".join(raw)
    if not inside.strip():
        raise source.error("there is nothing between these double quotes", start)
    follows = re.match(r"\s*=", text[end + 1 :])
    if follows:
        message = "a comparison belongs inside the double quotes of an atomic proposition"
        raise source.error(message, end + follows.end())
    return inside.strip(), start + 1 + len(inside) - len(inside.lstrip()), end + 1


def _check_nesting(source: _Source, placed: str, origin: Sequence[int]) -> None:
    depth = 0
    for i, char in enumerate(placed):
        if char in "([{":
            depth += 1
            if depth > MAX_NESTING:
                raise source.error(f"parentheses are nested more than {MAX_NESTING} deep", origin[i])
        elif char in ")]}":
            depth -= 1
    total = 0
    for group in re.finditer(r"\[([\d:.,\s!to$]*)\]", placed):
        if "!" in group[1]:
            raise source.error("X[!] speaks of finite runs; runs are infinite here: write X", origin[group.start()])
        total += sum(min(int(number[:9]), 10 * MAX_COUNT) for number in re.findall(r"\d+", group[1]))
        if total > MAX_COUNT:
            raise source.error(f"the numbers in brackets sum to more than {MAX_COUNT}", origin[group.start()])


# --- Spot -----------------------------------------------------------------------------------------------------------

_WORDS = (
    (r"syntax error, unexpected end of (?:formula|file).*", "the formula ends too early"),
    (r"syntax error, unexpected invalid token.*", "this character is not part of the language of formulas"),
    (r"syntax error, unexpected atomic proposition.*", "an operator is missing before this atomic proposition"),
    (r"syntax error, unexpected (.*?)(?:, expecting .*)?", r"unexpected \1"),
    (r'missing right operand for "(.*)"', r"the \1 has no right operand"),
    (r"missing closing (\w+)", r"this \1 is never closed"),
    (r"empty input", "the formula is empty"),
    (r"ignoring trailing garbage", "the formula should end here"),
)


def _plain(message: str) -> str:
    for pattern, words in _WORDS:
        found = re.fullmatch(pattern, message)
        if found:
            return found.expand(words)
    return message


def _read(source: _Source, placed: str, origin: Sequence[int], quoted: Sequence[tuple[str, int, str]]) -> Parsed:
    import spot

    # one line for Spot, so that its error columns are offsets
    result = spot.parse_infix_psl(re.sub(r"[\n\r\t]", " ", placed))
    stream = spot.ostringstream()
    if result.format_errors(stream):
        raise _syntax_error(source, stream.str(), placed, origin)
    formula = result.f
    _check_depth(source, formula)
    if not formula.is_ltl_formula() or "{" in placed:  # Spot reads {b} as b
        at = max(placed.find("{"), 0)
        raise source.error("this is a PSL formula; only LTL is understood (no SERE, that is no {…})", origin[at])

    names = sorted(str(ap.ap_name()) for ap in spot.atomic_prop_collect(formula))
    found: dict[str, list[tuple[int, bool, bool]]] = {}  # text -> (offset, quoted, compared)
    glued: dict[str, list[tuple[str, int, int]]] = {}
    placeholders: dict[str, str] = {}  # Spot's name -> text
    for text, offset, placeholder in quoted:
        found.setdefault(text, []).append((offset, True, False))
        placeholders[placeholder] = text
    for name in names:
        if name not in placeholders:
            places = []
            for start, i in _occurrences(name, placed):
                places.append(i)
                words = (placed[k : i + len(name)] for k in range(start, i))
                glued.setdefault(name, []).extend(
                    (word, *source.position(origin[start + k])) for k, word in enumerate(words)
                )
            found.setdefault(name, []).extend(
                (origin[i], False, re.match(r"\s*=", placed[i + len(name) :]) is not None) for i in places
            )
            placeholders[name] = name

    atoms: list[Atom] = []
    for text, places_ in found.items():
        unquoted = [place for place in places_ if not place[1]]
        offset = min(unquoted or places_)[0]
        line, column = source.position(offset)
        compared = any(place[2] for place in places_)
        atoms.append(Atom(text, not unquoted, column, line, compared, tuple(glued.get(text, ()))))
    first = {text: min(places_)[0] for text, places_ in found.items()}
    atoms.sort(key=lambda atom: (first[atom.text], atom.text))
    number_of = {atom.text: i for i, atom in enumerate(atoms)}

    relabeling = spot.relabeling_map()
    renamed = spot.relabel(formula, spot.Pnn, relabeling)
    numbers = {str(new): number_of[placeholders[str(old.ap_name())]] for new, old in relabeling.items()}
    return Parsed(source.text, renumber(str(renamed), numbers), tuple(atoms), source.where)


def renumber(formula: str, numbers: dict[str, int]) -> str:
    """A formula over p<i> with each atom p<i> replaced by p<numbers["p<i>"]>, all at once."""
    return re.sub(r"p\d+", lambda atom: f"p{numbers[atom[0]]}", formula)


def _occurrences(name: str, placed: str) -> list[tuple[int, int]]:
    """Where an unquoted atom stands, and where its word begins: with G, F and X in front of it without a space."""
    pattern = rf"(?<![\w.])[GFX]*?({re.escape(name)})(?![\w.])"
    places = [(match.start(), match.start(1)) for match in re.finditer(pattern, placed)]
    return places or [(max(placed.find(name), 0),) * 2]


def _check_depth(source: _Source, formula: Any) -> None:
    """Refuse a formula that is too deep; with no recursion, and shared subformulas once."""
    depth: dict[int, int] = {}
    stack: list[tuple[Any, bool]] = [(formula, False)]
    while stack:
        node, done = stack.pop()
        if node.id() in depth:
            continue
        if done:
            depth[node.id()] = 1 + max((depth[child.id()] for child in node), default=0)
            if depth[node.id()] > MAX_DEPTH:
                raise source.error(f"operators are nested more than {MAX_DEPTH} deep", 0)
        else:
            stack.append((node, True))
            stack.extend((child, False) for child in node)


def _syntax_error(source: _Source, report: str, placed: str, origin: Sequence[int]) -> InputError:
    """The first of Spot's errors, in plain words; the second says more if the formula ends too early."""
    errors: list[tuple[int, str]] = []
    for block in report.split(">>> ")[1:]:
        lines = block.split("\n")
        caret = next((i for i, line in enumerate(lines) if i and re.fullmatch(r" *\^+", line)), None)
        if caret is not None and caret + 1 < len(lines):
            errors.append((lines[caret].index("^") - len(">>> "), lines[caret + 1]))
    if not errors:
        return source.error("this formula cannot be read", 0)
    at, message = errors[0]
    for later_at, later in errors[1:]:
        if later.startswith("missing right operand"):
            at, message = later_at, later
            break
    at = min(max(at, 0), len(origin) - 1)
    if at < len(placed) and message.startswith("syntax error, unexpected atomic proposition"):
        while at < len(placed) - 1 and placed[at] == " ":
            at += 1
    words = _plain(message)
    if "invalid token" in message and placed[at : at + 1] in "=<>+-*/%[.'":
        words = f"{placed[at]!r} cannot stand here; write an expression of the model in double quotes"
    return source.error(words, origin[at])
