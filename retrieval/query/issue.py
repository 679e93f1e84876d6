"""Issue text: splits a report into title, prose and code, and weights their terms."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import log

from codecards.indexer.cards.words import word_tokens, words
from codecards.retrieval.query.query import MAX_CHARACTERS, Name, Term, identifiers, is_identifier
from codecards.retrieval.query.words import form_words, report_stop_words

TITLE, PROSE, SPAN, CODE = 2.0, 1.0, 1.0, 0.4
"""Weight of a word in the title, in prose, between backticks, in code."""
MAX_CODE_CHARACTERS = 6_000
MAX_REPEATS = 8
"""Occurrences of a word that count; more do not."""
MAX_NAMES = 60
"""Identifiers of one part, and dotted names, that are looked up."""
MAX_HEADING_WORDS = 5
"""Most words of a form's heading about the environment: "Output of pd show_versions"."""

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
_environment_heading = re.compile(
    r"(?:environment|versions?|system|platform|installed|your setup|(?:software|package) versions|output of .*versions)\b",
    re.IGNORECASE,
)
_installed_packages = re.compile(r"(?<!\S)\S{0,300}(?:site-packages|dist-packages|node_modules|vendor)/")
"""The folders before those of a package, in the traces of an installed package."""


@dataclass(frozen=True, slots=True)
class IssueText:
    """The parts of a report."""

    title: str
    prose: str
    spans: str
    """Text between backticks, one a line."""
    code: str
    modules: tuple[str, ...]
    """Dotted names, which may be modules: "shop.cart.totals"."""

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
    """Return the parts of a report; any text has them."""
    text = _without_hidden(text[:MAX_CHARACTERS].replace("\r\n", "\n"))
    text = _tag.sub(" ", _address.sub(" ", _blob.sub(r" \1 ", text)))
    title, _, rest = text.strip().partition("\n")
    code: list[str] = []

    def take(match: re.Match[str]) -> str:
        code.append(match[2])
        return "\n"

    rest = _fence.sub(take, rest)
    prose: list[str] = []
    for line in _lines_beside_form(rest):
        (code if _code_line.match(line) else prose).append(line)
    spans = _span.findall(title) + [span for line in prose for span in _span.findall(line)]
    modules = dict.fromkeys(_dotted.findall("\n".join([title, *prose, *spans, *code])[: MAX_CODE_CHARACTERS * 2]))
    code_text = "\n".join(line for line in "\n".join(code).split("\n") if not _version.match(line))
    code_text = _installed_packages.sub("", code_text)
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


def _lines_beside_form(text: str) -> Iterator[str]:
    """Yield the lines of a report without those of its form: headings, versions, the section about the environment."""
    in_environment = False
    for line in text.split("\n"):
        if heading := _heading.match(line):
            heading_words = words(heading["marked"] or heading["bold"])
            in_environment = len(heading_words) <= MAX_HEADING_WORDS and bool(
                _environment_heading.match(" ".join(heading_words))
            )
            if in_environment or _is_of_form(heading_words):
                continue
        elif in_environment or _version.match(line) or _ticked.match(line):
            continue
        yield line


def _is_of_form(heading: Sequence[str]) -> bool:
    """Return whether a heading is one of a form: at least half of its words are, and none is an identifier."""
    n_known = sum(word.casefold() in form_words() for word in heading)
    return 2 * n_known >= len(heading) and not any(is_identifier(word) for word in heading)


def issue_terms(parts: Iterable[tuple[str, float]]) -> list[Term]:
    """Return the weighted terms of some parts.

    Args:
        parts: Text, and the weight of a word in it.
    """
    weights: dict[str, float] = {}
    counts: dict[str, int] = {}
    for text, weight in parts:
        for word in words(text):
            if word.casefold() in report_stop_words() or word.isdigit():
                continue
            for token in word_tokens(word):
                weights[token] = weights.get(token, 0.0) + weight
                counts[token] = counts.get(token, 0) + 1
    return [
        Term(token, "whole" if token.startswith("=") else "part", _dampened(weight, counts[token]), position)
        for position, (token, weight) in enumerate(weights.items())
    ]


def heaviest(terms: Sequence[Term], rarity: Mapping[str, float], limit: int) -> list[Term]:
    """Return the terms with the highest weight times IDF, in their order.

    Args:
        terms: All of them.
        rarity: Token → IDF; terms of other tokens are left out.
        limit: Most terms.
    """
    known = [term for term in terms if term.token in rarity]
    best = sorted(known, key=lambda term: -term.weight * rarity[term.token])[:limit]
    kept = {term.token for term in best}
    return [term for term in known if term.token in kept]


def _dampened(weight: float, count: int) -> float:
    """Return the weight of a repeated word: the mean of its weights, times 1 + ln of their number."""
    return weight / count * (1 + log(min(count, MAX_REPEATS)))
