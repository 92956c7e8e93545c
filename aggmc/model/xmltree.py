"""XML as a tree that knows its lines; nothing outside of the text is ever read.

Documents that declare entities are refused (an entity can be made of entities, and so be larger than any memory), as
are those that are nested too deeply. Names are local names: the prefix of a namespace is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.parsers import expat

from aggmc.errors import InputError, Location

_DEEPEST = 2000
_CHUNK = 1 << 16  # so that a time limit comes through
_MOST_ELEMENTS = 8_000_000


@dataclass(slots=True)
class Element:
    """An element; `text` is what stands directly in it."""

    tag: str
    attributes: dict[str, str]
    line: int
    column: int
    path: str | None
    children: list[Element] = field(default_factory=list)
    text: str = ""

    @property
    def location(self) -> Location:
        """Where it begins."""
        return Location(self.path, self.line, self.column)

    def error(self, message: str) -> InputError:
        """An error that names this place."""
        return InputError(message, self.location)

    def all(self, tag: str) -> Iterator[Element]:
        """The children with this tag."""
        return (child for child in self.children if child.tag == tag)

    def first(self, tag: str) -> Element | None:
        """The first child with this tag."""
        return next(self.all(tag), None)

    def only(self) -> Element:
        """The one child that this element must have."""
        if len(self.children) != 1:
            raise self.error(f"<{self.tag}> has one element in it, not {len(self.children)}")
        return self.children[0]

    def need(self, attribute: str) -> str:
        """An attribute that must be there."""
        value = self.attributes.get(attribute, "")
        if not value:
            raise self.error(f"<{self.tag}> lacks the attribute `{attribute}`")
        return value


def read_xml(text: str, path: str | None = None) -> Element:
    """The root of a document; raises InputError, with line and column, if it is no XML."""
    return _Builder(path).read(text)


class _Builder:
    def __init__(self, path: str | None) -> None:
        self.path = path
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.texts: list[list[str]] = []
        self.count = 0
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.buffer_text = True
        self.parser.SetParamEntityParsing(expat.XML_PARAM_ENTITY_PARSING_NEVER)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.data
        self.parser.EntityDeclHandler = self.entity
        self.parser.ExternalEntityRefHandler = self.external

    def read(self, text: str) -> Element:
        try:
            for at in range(0, len(text), _CHUNK):
                self.parser.Parse(text[at : at + _CHUNK], False)
            self.parser.Parse("", True)
        except expat.ExpatError as error:
            reason = expat.errors.messages.get(error.code, str(error))
            lines = text.split("\n", error.lineno)
            shown = lines[error.lineno - 1] if error.lineno <= len(lines) else ""
            if reason in ("no element found", "unclosed token"):
                reason = "the file ends too early"
            place = Location(self.path, error.lineno, error.offset + 1, shown)
            raise InputError(f"this is no XML: {reason}", place) from None
        except UnicodeEncodeError:
            raise InputError("this is no XML: it has characters that no text has", Location(self.path)) from None
        assert self.root is not None
        return self.root

    def here(self) -> Location:
        return Location(self.path, self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        parser = self.parser
        local = {k.rpartition(" ")[2]: v for k, v in attributes.items()}
        tag = name.rpartition(" ")[2]
        element = Element(tag, local, parser.CurrentLineNumber, parser.CurrentColumnNumber + 1, self.path)
        self.count += 1
        if self.count > _MOST_ELEMENTS:
            raise InputError(f"the file has more than {_MOST_ELEMENTS} elements", self.here())
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)
        self.texts.append([])
        if len(self.stack) > _DEEPEST:
            raise InputError(f"elements are nested more than {_DEEPEST} deep", self.here())

    def end(self, _: str) -> None:
        self.stack.pop().text = "".join(self.texts.pop()).strip()

    def data(self, text: str) -> None:
        self.texts[-1].append(text)

    def entity(self, name: str, *_: object) -> None:
        raise InputError(f"the entity `{name}` is declared: files with entities of their own are not read", self.here())

    def external(self, *_: object) -> int:
        raise InputError("the file refers to another one, which is not read", self.here())
