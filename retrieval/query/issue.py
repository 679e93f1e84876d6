"""Issue text: a long report becomes weighted terms of its title, prose and code."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from codecards.indexer.cards.words import word_tokens, words
from codecards.retrieval.query.query import MAX_CHARACTERS, Name, Term, identifiers, is_identifier
from codecards.retrieval.query.words import FORM_WORDS, REPORT_STOP_WORDS

TITLE, PROSE, SPAN, CODE = 2.0, 1.0, 1.0, 0.4
"""What a word counts by where it stands."""
MAX_CODE_CHARACTERS = 6_000
MAX_REPEATS = 8
MAX_NAMES = 60
MAX_HEADING_WORDS = 5
"""Words of a heading that a form has: "Output of pd show_versions"."""

_blob = re.compile(r"\bhttps?://\S{1,300}?/(?:blob|tree)/[^/\s]+/(\S+)")
_address = re.compile(r"\b\w+://\S+")
_fence = re.compile(r"^(```|~~~)[^\n]*\n(.*?)(?:^\1[^\n]*$|\Z)", re.MULTILINE | re.DOTALL)
_span = re.compile(r"`([^`\n]+)`")
_code_line = re.compile(r"^(?: {4}|\t|>>>|\.\.\. |In \[|Out\[|\s*File \"|Traceback |\s+at |\s*#\d+ )")
_dotted = re.compile(r"\b[a-z_]\w*(?:\.[a-z_]\w*)+\b")
_tag = re.compile(
    r"</?(?:details|summary|br|hr|p|div|span|img|a|b|i|em|strong|pre|code|kbd|su[bp]|t[rdh]|table|tbody|thead|[uo]l|li|h\d)\b[^>\n]{0,200}>",
    re.IGNORECASE,
)
_heading = re.compile(r"^ {0,3}(?:#{1,6}(?P<marked>.*)|\*\*(?P<bold>[^*]+)\*\*:?\s*)$")
_version = re.compile(r"^[\W_]*[A-Za-z][\w .()/+-]{0,40}?(?:\s*[:=@]+\s*|\s+)v?\d+(?:\.\d+)+\S*(?:\s.{0,30})?$")
_ticked = re.compile(r"^\s*[-*] \[[ xX]\] ")
_surroundings = re.compile(  # the section about the machine
    r"(?:environment|versions?|system|platform|installed|your setup|(?:software|package) versions|output of .*versions)\b",
    re.IGNORECASE,
)
_elsewhere = re.compile(r"(?<!\S)\S{0,300}(?:site-packages|dist-packages|node_modules|vendor)/")
"""What stands before a package's own folders in the traces of an installed one."""


@dataclass(frozen=True, slots=True)
class IssueText:
    """A report in its pieces."""

    title: str
    prose: str
    spans: str
    """What stood between backticks, one a line."""
    code: str
    modules: tuple[str, ...]
    """Dotted names, which may be modules: "astropy.modeling.separable"."""

    @property
    def prose_names(self) -> tuple[Name, ...]:
        """Identifiers of title and prose."""
        return identifiers(f"{self.title}\n{self.prose}")[:MAX_NAMES]

    @property
    def title_names(self) -> tuple[Name, ...]:
        """Identifiers of the title."""
        return identifiers(self.title)[:MAX_NAMES]

    @property
    def code_names(self) -> tuple[Name, ...]:
        """Identifiers of spans and code."""
        return identifiers(f"{self.spans}\n{self.code}")[:MAX_NAMES]


def split_issue(text: str) -> IssueText:
    """Return the pieces of a report; never fails."""
    text = _without_hidden(text[:MAX_CHARACTERS].replace("\r\n", "\n"))
    text = _tag.sub(" ", _address.sub(" ", _blob.sub(r" \1 ", text)))
    title, _, rest = text.strip().partition("\n")
    code: list[str] = []

    def take(match: re.Match[str]) -> str:
        code.append(match[2])
        return "\n"

    rest = _fence.sub(take, rest)
    prose: list[str] = []
    for line in _telling_lines(rest):
        (code if _code_line.match(line) else prose).append(line)
    spans = _span.findall(title) + [span for line in prose for span in _span.findall(line)]
    modules = dict.fromkeys(_dotted.findall("\n".join([title, *prose, *spans, *code])[: MAX_CODE_CHARACTERS * 2]))
    code_text = "\n".join(line for line in "\n".join(code).split("\n") if not _version.match(line))
    code_text = _elsewhere.sub("", code_text)
    return IssueText(
        title,
        "\n".join(prose),
        "\n".join(spans),
        code_text[:MAX_CODE_CHARACTERS],
        tuple(modules)[:MAX_NAMES],
    )


def _without_hidden(text: str) -> str:
    """Return a text with a space in place of each HTML comment; an unclosed one stays."""
    parts: list[str] = []
    position = 0
    while (start := text.find("<!--", position)) >= 0 and (end := text.find("-->", start)) >= 0:
        parts.append(text[position:start])
        position = end + 3
    return " ".join((*parts, text[position:]))


def _telling_lines(text: str) -> Iterator[str]:
    """Yield the lines of a report without what its form asks for: headings, versions, the section about the machine."""
    about_machine = False
    for line in text.split("\n"):
        if heading := _heading.match(line):
            said = words(heading["marked"] or heading["bold"])
            about_machine = len(said) <= MAX_HEADING_WORDS and bool(_surroundings.match(" ".join(said)))
            if about_machine or _is_of_form(said):
                continue
        elif about_machine or _version.match(line) or _ticked.match(line):
            continue
        yield line


def _is_of_form(heading: Sequence[str]) -> bool:
    """Return whether the words of a heading are those that every report of its kind has."""
    n_known = sum(word.casefold() in FORM_WORDS for word in heading)
    return 2 * n_known >= len(heading) and not any(is_identifier(word) for word in heading)


def issue_terms(parts: Iterable[tuple[str, float]]) -> list[Term]:
    """Return the terms of some pieces, each with what it counts.

    Args:
        parts: Text, and what a word in it counts.
    """
    weights: dict[str, float] = {}
    counts: dict[str, int] = {}
    for text, weight in parts:
        for word in words(text):
            if word.casefold() in REPORT_STOP_WORDS or word.isdigit():
                continue
            for token in word_tokens(word):
                weights[token] = weights.get(token, 0.0) + weight
                counts[token] = counts.get(token, 0) + 1
    return [
        Term(token, "whole" if token.startswith("=") else "part", _dampened(weight, counts[token]), position)
        for position, (token, weight) in enumerate(weights.items())
    ]


def heaviest(terms: Sequence[Term], rarity: Mapping[str, float], limit: int) -> list[Term]:
    """Return the terms with the highest weight times rarity, in their order.

    Args:
        terms: All of them.
        rarity: Token → idf; tokens that are not in it are left out.
        limit: How many.
    """
    known = [term for term in terms if term.token in rarity]
    best = sorted(known, key=lambda term: -term.weight * rarity[term.token])[:limit]
    kept = {term.token for term in best}
    return [term for term in known if term.token in kept]


def _dampened(weight: float, count: int) -> float:
    """Return a sum of equal weights as one weight that grows with the logarithm of their number."""
    return weight / count * (1 + log(min(count, MAX_REPEATS)))
