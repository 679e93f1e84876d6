"""Reads the sections of Markdown and reStructuredText documents, with the names of code that they mention."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from docutils import frontend, nodes, utils
from docutils.parsers.rst import Parser
from markdown_it import MarkdownIt

DOCUMENTS = frozenset({".md", ".markdown", ".rst"})
"""Suffixes of the documents."""

_dotted = re.compile(r"[A-Za-z_]\w*(?:(?:\.|::|#|->|/)[A-Za-z_]\w*[!?]?)*")
_span = re.compile(r"~?\.?(?P<name>[A-Za-z_][\w.:#]*[!?]?)(?P<call>\(.*\))?", re.DOTALL)
_titled = re.compile(r".*<([^<>]+)>", re.DOTALL)
_role = re.compile(r":[\w:+-]+:`([^`]+)`|``?([^`]+)``?")
_directive = re.compile(r"\.\. (?:py:|js:|c:)?(?:auto)?(?:function|method|class|exception|module|member)s?:: *([\w.]+)")
_defined = re.compile(r"\b(?:def|class|function|func|fn|struct|interface|type|const|let|var|module|trait)\s+(\w+)")
_no_word = re.compile(r"[a-z]_?[A-Z]|[A-Za-z]_[A-Za-z]|^[A-Z][a-z]+")
"""Names that can't be everyday words: isFull, is_full, Box."""


@dataclass(frozen=True, slots=True)
class Section:
    """One heading with the text below it, up to the next heading."""

    heading: str
    paragraph: str
    """The paragraph directly below; "" if something else comes first."""
    names: frozenset[str]
    """Names of code, as written: "Parser.feed"."""


def read_sections(suffix: str, text: str) -> list[Section]:
    """Return the sections of a document.

    Args:
        suffix: One of `DOCUMENTS`.
        text: Text of the document.
    """
    return list(_restructured(text) if suffix == ".rst" else _markdown(text))


def _markdown(text: str) -> Iterator[Section]:
    heading, paragraph, names = "", "", set[str]()
    tokens = MarkdownIt("commonmark").parse(text)
    for place, token in enumerate(tokens):
        if token.type == "inline" and tokens[place - 1].type == "heading_open":
            if heading:
                yield Section(heading, paragraph, frozenset(names))
            heading, paragraph, names = _plain(token.content), "", set()
        elif token.type == "inline":
            if not paragraph and not names and tokens[place - 1].type == "paragraph_open":
                paragraph = _plain(token.content)
            for child in token.children or ():
                if child.type == "code_inline":
                    names |= _of_span(child.content)
        elif token.type in {"fence", "code_block"}:
            names |= _of_code(token.content)
    if heading:
        yield Section(heading, paragraph, frozenset(names))


def _restructured(text: str) -> Iterator[Section]:
    settings = frontend.get_default_settings(Parser)
    settings.report_level, settings.halt_level = 5, 6  # Sphinx extensions are not errors here
    settings.file_insertion_enabled = settings.raw_enabled = False
    settings.syntax_highlight = "none"
    settings.warning_stream = False
    document = utils.new_document("document", settings)
    Parser().parse(text, document)
    for section in document.findall(nodes.section):
        heading = section.children[0].astext()
        below = [child for child in section.children[1:] if not isinstance(child, nodes.section)]
        names: set[str] = set()
        for child in below:
            for node in child.findall():
                names |= _of_node(node)
        first = next((child for child in below if not isinstance(child, nodes.target | nodes.system_message)), None)
        paragraph = first.rawsource if isinstance(first, nodes.paragraph) else ""
        yield Section(_plain(heading), _plain(paragraph), frozenset(names))


def _of_node(node: nodes.Node) -> set[str]:
    if isinstance(node, nodes.literal | nodes.problematic | nodes.title_reference):
        return _of_span(node.astext())
    if isinstance(node, nodes.literal_block | nodes.doctest_block):
        text = node.astext()
        directive = _directive.match(text)
        return {directive[1]} if directive else _of_code(text)
    return set()


def _of_span(text: str) -> set[str]:
    """Return the name in a code span: "`Parser.feed()`", ":meth:`~html.Parser.feed`"."""
    role = _role.fullmatch(text.strip())
    text = (role[1] or role[2]) if role else text
    titled = _titled.fullmatch(text)
    match = _span.fullmatch((titled[1] if titled else text).strip())
    if match is None or not (match["call"] or _no_word.search(_last_part(match["name"])) or "." in match["name"]):
        return set()
    return {match["name"]}


def _of_code(text: str) -> set[str]:
    """Return the names that code calls, and its names that can't be everyday words, except those that it defines."""
    defined = set(_defined.findall(text))
    found = set()
    for match in _dotted.finditer(text):
        last = _last_part(match[0])
        is_called = text[match.end() : match.end() + 1] == "("
        if last not in defined and (is_called or _no_word.search(last)):
            found.add(match[0])
    return found


def _last_part(name: str) -> str:
    return re.split(r"\W+", name.rstrip("!?"))[-1]


def _plain(text: str) -> str:
    """Return text without inline markup."""
    text = re.sub(r"!\[[^\]]*\]\([^)]*\)|<[^<>]*>(?=[^`]*(?:`|$))(?!`)", " ", text)
    text = re.sub(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])", r"\1", text)
    text = re.sub(r":[\w:+-]+:(?=`)", "", text)
    return " ".join(re.sub(r"[`*]|\s\{#[^}]*\}$|__?(?=\W|$)", "", text).split())
