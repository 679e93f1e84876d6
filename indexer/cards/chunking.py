"""Splits a file into cards such that each line belongs to exactly one card.

A line belongs to the innermost enclosing definition; lines outside all definitions are module code. A definition with
more than `PART_LINES` own lines continues in parts. Text without a grammar is cut into windows at blank lines.
"""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from codecards.indexer.cards.card import Card, CardFields
from codecards.indexer.facts import Definition, FileFacts

PART_LINES = 160
"""Maximum number of own lines of one card: about four screens, and within the input of an embedder."""
WINDOW_LINES = 60
"""Maximum number of lines in a window of a text without a grammar."""
MODULE_NAME = "<module>"
"""Qualified name of the card of the code outside all definitions."""
MAX_TEXT_CHARACTERS = 200_000
"""Maximum length of an indexed card text; only files with extremely long lines exceed it."""

DOCUMENT_LANGUAGES = frozenset({"markdown", "rst", "asciidoc", "org", "text"})
"""Languages whose files are cut into windows if they have no sections."""

LineRuns = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class CardDraft:
    """The part of a card that the text alone decides, without path and id. Fields are those of `Card`."""

    definition: int
    """Position in `FileFacts.definitions` (for a part, that of its definition); -1 for module code and windows."""
    kind: str
    name: str
    qualified_name: str
    ordinal: int
    """1 for the first card of this qualified name in the file, 2 for the second, and so on."""
    parent: str
    lead_line: int
    first_line: int
    name_line: int
    last_line: int
    own_lines: LineRuns
    signature: str
    doc: str
    bases: tuple[str, ...]
    content_hash: bytes


def chunk_file(lines: Sequence[str], facts: FileFacts) -> tuple[CardDraft, ...]:
    """Return the drafts of the cards of a file, ordered by first own line.

    Args:
        lines: Lines of the file without line ends; line 1 is `lines[0]`.
        facts: Facts of the same text.
    """
    if not any(line.strip() for line in lines):
        return ()
    owned = _own_lines(lines, facts.definitions)
    drafts: list[CardDraft] = []
    for position, definition in enumerate(facts.definitions):
        drafts += _definition_drafts(lines, facts.definitions, position, definition, owned[position])
    outside = owned[-1]
    if outside:
        drafts += _outside_drafts(lines, facts, outside)
    drafts.sort(key=lambda draft: (draft.own_lines[0][0] if draft.own_lines else draft.first_line, draft.definition))
    return tuple(_numbered(drafts))


def card_texts(lines: Sequence[str], draft: CardDraft) -> CardFields:
    """Return the text of a card by field."""
    body = "\n".join("\n".join(lines[first - 1 : last]) for first, last in draft.own_lines)
    return CardFields(
        name=draft.name,
        parent=draft.parent,
        signature=draft.signature,
        doc=draft.doc,
        body=body[:MAX_TEXT_CHARACTERS],
    )


def card_of_draft(draft: CardDraft, *, card_id: int, path: str, language: str, module: str) -> Card:
    """Return the card of a draft in the file at `path`."""
    return Card(
        card_id=card_id,
        symbol_id=symbol_id(path, draft.qualified_name, draft.ordinal),
        path=path,
        language=language,
        kind=draft.kind,
        name=draft.name,
        qualified_name=draft.qualified_name,
        parent=draft.parent,
        module=module,
        lead_line=draft.lead_line,
        first_line=draft.first_line,
        name_line=draft.name_line,
        last_line=draft.last_line,
        own_lines=draft.own_lines,
        signature=draft.signature,
        doc=draft.doc,
        bases=draft.bases,
        content_hash=draft.content_hash,
    )


def symbol_id(path: str, qualified_name: str, ordinal: int) -> str:
    """Return the stable id of a card: "src/auth.py::TokenStore.purge", "…::run~2" for the second card of a name."""
    suffix = f"~{ordinal}" if ordinal > 1 else ""
    return f"{path}::{qualified_name}{suffix}"


def text_lines(text: str) -> list[str]:
    """Return the lines of a decoded text without line ends; only LF, with an optional CR before it, ends a line."""
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _own_lines(lines: Sequence[str], definitions: Sequence[Definition]) -> dict[int, LineRuns]:
    """Return position of the definition → runs of its own lines; -1 → runs outside all definitions."""
    owner = [-1] * len(lines)
    for position, definition in enumerate(definitions):  # parents precede children, so the innermost overwrites
        first, last = max(1, definition.lead_line), min(len(lines), definition.last_line)
        owner[first - 1 : last] = [position] * max(0, last - first + 1)
    _absorb_blank_lines(lines, owner)
    runs: dict[int, list[tuple[int, int]]] = {position: [] for position in range(-1, len(definitions))}
    start = 0
    for index in range(1, len(owner) + 1):
        if index == len(owner) or owner[index] != owner[start]:
            runs[owner[start]].append((start + 1, index))
            start = index
    return {position: tuple(found) for position, found in runs.items()}


def _absorb_blank_lines(lines: Sequence[str], owner: list[int]) -> None:
    """If only blank lines are outside all definitions, assign them to the card above (at the top, to the card below).

    A module card of nothing but blank lines would be noise in every list.
    """
    outside = [index for index, held_by in enumerate(owner) if held_by == -1]
    if not outside or len(outside) == len(owner) or any(lines[index].strip() for index in outside):
        return
    first_owner = next(held_by for held_by in owner if held_by != -1)
    for index in outside:
        owner[index] = owner[index - 1] if index else first_owner


def _definition_drafts(
    lines: Sequence[str], definitions: Sequence[Definition], position: int, definition: Definition, own: LineRuns
) -> Iterator[CardDraft]:
    """Yield the card of a definition, then its further parts."""
    last_line = min(definition.last_line, len(lines))
    stretches = list(_stretches(own, PART_LINES)) or [()]
    yield CardDraft(
        definition=position,
        kind=definition.kind,
        name=definition.name,
        qualified_name=definition.qualified_name,
        ordinal=1,
        parent=definitions[definition.parent].qualified_name if definition.parent >= 0 else "",
        lead_line=definition.lead_line,
        first_line=definition.first_line,
        name_line=definition.name_line,
        last_line=last_line,
        own_lines=stretches[0],
        signature=definition.signature,
        doc=definition.doc,
        bases=definition.bases,
        content_hash=_hash(lines, ((definition.lead_line, last_line),)),
    )
    for number, stretch in enumerate(stretches[1:], 2):
        name = f"{definition.qualified_name}<part {number}>"
        yield _unnamed_card(lines, "part", name, stretch, parent=definition.qualified_name, definition=position)


def _outside_drafts(lines: Sequence[str], facts: FileFacts, outside: LineRuns) -> Iterator[CardDraft]:
    """Yield the cards of the lines outside all definitions: module code, or windows of a text without a grammar."""
    if facts.language == "jupyter":
        return  # outputs of cells and metadata of the notebook
    if not facts.language or (not facts.definitions and facts.language in DOCUMENT_LANGUAGES):
        for number, stretch in enumerate(_windows(lines, outside), 1):
            yield _unnamed_card(lines, "window", f"<window {number}>", stretch)
        return
    for number, stretch in enumerate(_stretches(outside, PART_LINES), 1):
        name = MODULE_NAME if number == 1 else f"{MODULE_NAME}<part {number}>"
        doc = facts.leading_comment if number == 1 else ""
        yield _unnamed_card(lines, "module" if number == 1 else "part", name, stretch, doc=doc)


def _unnamed_card(
    lines: Sequence[str], kind: str, name: str, own: LineRuns, *, parent: str = "", doc: str = "", definition: int = -1
) -> CardDraft:
    first, last = own[0][0], own[-1][1]
    return CardDraft(
        definition, kind, "", name, 1, parent, first, first, first, last, own, "", doc, (), _hash(lines, own)
    )


def _stretches(runs: LineRuns, longest: int) -> Iterator[LineRuns]:
    """Cut runs of lines into stretches of at most `longest` lines; a remainder under a quarter of that is not split off."""
    total = sum(last - first + 1 for first, last in runs)
    n_left, stretch = longest, list[tuple[int, int]]()
    for first, last in runs:
        while last - first + 1 > n_left and total > longest + longest // 4:
            if n_left:
                stretch.append((first, first + n_left - 1))
            yield tuple(stretch)
            first, total, n_left, stretch = first + n_left, total - longest, longest, []
        stretch.append((first, last))
        n_left -= last - first + 1
    if stretch:
        yield tuple(stretch)


def _windows(lines: Sequence[str], runs: LineRuns) -> Iterator[LineRuns]:
    """Cut runs of lines into windows of at most `WINDOW_LINES`, at a blank line of the second half if there is one."""
    for first, last in runs:
        start = first
        while last - start + 1 > WINDOW_LINES:
            end = start + WINDOW_LINES - 1
            blank = (line for line in range(end, start + WINDOW_LINES // 2, -1) if not lines[line - 1].strip())
            end = next(blank, end)
            yield ((start, end),)
            start = end + 1
        yield ((start, last),)


def _numbered(drafts: Sequence[CardDraft]) -> Iterator[CardDraft]:
    """Yield the drafts, with ascending ordinals for those that share a qualified name."""
    seen: dict[str, int] = {}
    for draft in drafts:
        number = seen[draft.qualified_name] = seen.get(draft.qualified_name, 0) + 1
        if number == 1:
            yield draft
            continue
        fields = {name: getattr(draft, name) for name in CardDraft.__slots__}
        yield CardDraft(**(fields | {"ordinal": number}))


def _hash(lines: Sequence[str], runs: LineRuns) -> bytes:
    text = "\n".join("\n".join(lines[first - 1 : last]) for first, last in runs)
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
