"""Finds an exact text or a regular expression in every indexed text file, with the card around each match.

Signatures of trigrams leave few files to read; these are read as they are on disk, and so is every file whose size or time has changed
since. "No match" is therefore as certain as a match, within the files that are indexed.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from pathspec import GitIgnoreSpec

from codecards.answers import FoundCard, Recall, TextMatch
from codecards.errors import UsageError
from codecards.indexer.build.changes import same_stamp
from codecards.indexer.cards.card import Card
from codecards.indexer.store.rows import IndexedFile
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.text.secrets import mask_secrets
from codecards.indexer.walk.files import SourceFile
from codecards.project.freshness import FreshFiles
from codecards.retrieval.hits import ScoreTerm
from codecards.retrieval.text_search.patterns import compiled, required_texts
from codecards.retrieval.text_search.signatures import Signatures, signature_of
from codecards.retrieval.text_search.store import SignatureStore, batches

MAX_MATCHES_A_CARD = 20
"""Lines of one card that are listed."""
MAX_LINE_CHARACTERS = 300
"""Characters of a line that is listed."""
ROLE_ORDER = ("source", "config", "docs", "test", "generated", "vendored")
MAX_FILES_OF_A_TEXT = 20
"""Files up to which a text that a question quotes is shown before what the question is about."""
MAX_EXCERPT_LINES = 3
"""Lines around a match where no card is around it."""


@dataclass(frozen=True, slots=True)
class TextFilter:
    """Limits on the files."""

    paths: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileMatch:
    """One file that holds the text."""

    file: IndexedFile
    lines: Sequence[str]
    """All lines."""
    numbers: tuple[int, ...]
    """Lines with a match, 1-based."""
    has_changed: bool
    """Since it was indexed; its cards are then not known."""


@dataclass(frozen=True)
class TextSearch:
    """Everything that one search of an exact text is made from."""

    snapshot: Snapshot
    fresh: FreshFiles
    store: SignatureStore
    root: Path

    @cached_property
    def _files(self) -> list[IndexedFile]:
        return [file for file in self.snapshot.files() if file.encoding]

    @cached_property
    def _known(self) -> dict[bytes, bytes]:
        return self.store.read({file.content_key for file in self._files})

    def n_missing(self) -> int:
        """Return the number of files without a signature."""
        return sum(file.content_key not in self._known for file in self._files)

    def fill(self) -> None:
        """Make the missing signatures; what is made stays where it is interrupted."""
        self.fresh.prefetch({file.path for file in self._files})
        missing = {file.content_key: file for file in self._files if file.content_key not in self._known}
        live = {file.content_key for file in self._files}
        for keys in batches(missing):
            made = {}
            for key in keys:
                read = self.fresh.lines(missing[key].path)
                if read is not None and not read[1]:
                    made[key] = signature_of("\n".join(read[0]))
            self._known.update(made)
            self.store.add(made, live)

    def literal(self, text: str, filters: TextFilter = TextFilter()) -> Iterator[FileMatch]:
        """Yield the files that hold a text, of sources first; the text is compared as it is, case included."""
        if not text.strip("\r\n"):
            raise UsageError("the text is empty; say what to look for, word for word")
        return self._matches([text], lambda lines: _lines_with(lines, text), filters)

    def regex(self, pattern: str, filters: TextFilter = TextFilter()) -> Iterator[FileMatch]:
        """Yield the files with a match of a regular expression, of sources first.

        Raises:
            UsageError: The pattern is invalid, or may take forever.
        """
        search = compiled(pattern)
        return self._matches(required_texts(pattern), lambda lines: _lines_matching(lines, search), filters)

    def _matches(
        self, required: Sequence[str], find: Callable[[Sequence[str]], tuple[int, ...]], filters: TextFilter
    ) -> Iterator[FileMatch]:
        self.fill()
        files = list(_filtered(self._files, filters))
        signed = [file for file in files if file.content_key in self._known]
        may_hold = Signatures([self._known[file.content_key] for file in signed]).may_hold(required)
        skipped = {
            file.path for file, may in zip(signed, may_hold.tolist(), strict=True) if not may and self._is_same(file)
        }
        for file in sorted(files, key=_order):
            if file.path in skipped:
                continue
            read = self.fresh.lines(file.path)
            if read is not None and (numbers := find(read[0])):
                yield FileMatch(file, read[0], numbers, read[1])

    def _is_same(self, file: IndexedFile) -> bool:
        """Return whether a file is on disk as it was indexed, by its size and times."""
        if file.racy:
            return False
        try:
            status = (self.root / file.path).stat(follow_symlinks=False)
        except OSError:
            return True  # it is gone, and holds nothing
        stamp = SourceFile(file.path, status.st_size, status.st_mtime_ns, status.st_ino, status.st_ctime_ns)
        return same_stamp(stamp, file)

    def answer(self, wanted: str, kind: str, filters: TextFilter, limit: int) -> Recall:
        """Return the cards around the matches of a text ("literal") or pattern ("regex")."""
        started = time.monotonic()
        matches = self.regex(wanted, filters) if kind == "regex" else self.literal(wanted, filters)
        hits: list[FoundCard] = []
        n_files = n_lines = 0
        for one in matches:
            n_files, n_lines = n_files + 1, n_lines + len(one.numbers)
            if len(hits) < limit:
                hits += self.cards_around(one, len(hits))[: limit - len(hits)]
        what = "regular expression" if kind == "regex" else "text"
        n_searched = sum(1 for _ in _filtered(self._files, filters))
        said = (
            f"{n_lines:,} lines of {n_files:,} files hold this {what}"
            if n_files
            else f"no line of {n_searched:,} indexed text files holds this {what}"
        )
        return Recall(
            query=wanted,
            kind=kind,
            verdict="found" if hits else "none",
            generation=self.snapshot.generation,
            hits=tuple(hits),
            n_files=n_searched,
            n_cards=0,
            left_out={},
            suggestions=(),
            took_ms=(time.monotonic() - started) * 1000,
            notices=(said,),
        )

    def cards_around(self, one: FileMatch, n_before: int = 0) -> list[FoundCard]:
        """Return the cards around a file's matches, in the order of the lines, each once."""
        found: dict[str, tuple[Card, list[int]]] = {}
        for number in one.numbers:
            card = None if one.has_changed else self.snapshot.card_at(one.file.path, number)
            card = card or _window(one, number)
            found.setdefault(card.symbol_id, (card, []))[1].append(number)
        hits = []
        for place, (card, numbers) in enumerate(found.values(), n_before + 1):
            matches = tuple(
                TextMatch(number, mask_secrets(one.lines[number - 1].strip())[:MAX_LINE_CHARACTERS])
                for number in numbers[:MAX_MATCHES_A_CARD]
            )
            term = ScoreTerm("exact_text", float(len(numbers)), "lines that hold the text word for word")
            lines = one.lines[card.lead_line - 1 : card.last_line]
            hits.append(FoundCard(place, card, term.value, (term,), not one.has_changed, lines, matches=matches))
        return hits


def with_exact_texts(
    recall: Recall, search: TextSearch, texts: Sequence[str], filters: TextFilter, limit: int
) -> Recall:
    """Return an answer with the cards around some texts before its other hits, and a notice for each text.

    A text in very many files tells little: it is counted, and the order stays.
    """
    first: list[FoundCard] = []
    notices = []
    for text in texts:
        n_files = 0
        for one in search.literal(text, filters):
            n_files += 1
            if n_files <= MAX_FILES_OF_A_TEXT:
                first += search.cards_around(one)
        is_common = n_files > MAX_FILES_OF_A_TEXT
        if is_common:
            first = [hit for hit in first if not any(text in match.text for match in hit.matches)]
        notices.append(
            f"{text!r} stands in {n_files:,} files" if n_files else f"{text!r} stands in no indexed text file"
        )
    ranked = {hit.card.symbol_id: hit for hit in recall.hits}
    place_of = {name: place for place, name in enumerate(ranked)}
    first.sort(key=lambda hit: place_of.get(hit.card.symbol_id, len(place_of)))
    kept: dict[str, FoundCard] = {}
    for hit in first:
        other = ranked.get(hit.card.symbol_id)
        kept.setdefault(hit.card.symbol_id, hit if other is None else replace(other, matches=hit.matches))
    for name, hit in ranked.items():
        kept.setdefault(name, hit)
    hits = tuple(replace(hit, rank=rank) for rank, hit in enumerate(list(kept.values())[:limit], 1))
    verdict = "found" if first else recall.verdict
    return replace(recall, hits=hits, verdict=verdict, notices=(*recall.notices, *notices))


def _filtered(files: Sequence[IndexedFile], filters: TextFilter) -> Iterator[IndexedFile]:
    spec = GitIgnoreSpec.from_lines(filters.paths) if filters.paths else None
    languages = {name.casefold() for name in filters.languages}
    for file in files:
        if (spec is None or spec.match_file(file.path)) and (not languages or file.language.casefold() in languages):
            yield file


def _order(file: IndexedFile) -> tuple[int, str]:
    return (ROLE_ORDER.index(file.role) if file.role in ROLE_ORDER else len(ROLE_ORDER), file.path)


def _lines_with(lines: Sequence[str], text: str) -> tuple[int, ...]:
    if "\n" not in text:
        return tuple(number for number, line in enumerate(lines, 1) if text in line)
    return _numbers("\n".join(lines), re.compile(re.escape(text)))


def _lines_matching(lines: Sequence[str], pattern: re.Pattern[str]) -> tuple[int, ...]:
    return _numbers("\n".join(lines), pattern)


def _numbers(text: str, pattern: re.Pattern[str]) -> tuple[int, ...]:
    """Return the lines in which matches begin, each once."""
    found: dict[int, None] = {}
    number, last = 1, 0
    for match in pattern.finditer(text):
        number += text.count("\n", last, match.start())
        last = match.start()
        found[number] = None
    return tuple(found)


def _window(one: FileMatch, number: int) -> Card:
    """Return a card of the lines around a match, where the index knows none."""
    first, last = max(1, number - MAX_EXCERPT_LINES), min(len(one.lines), number + MAX_EXCERPT_LINES)
    return Card(
        card_id=0,
        symbol_id=f"{one.file.path}:{number}",
        path=one.file.path,
        language=one.file.language,
        kind="window",
        name="",
        qualified_name=f"<line {number}>",
        parent="",
        module="",
        lead_line=first,
        first_line=first,
        name_line=number,
        last_line=last,
        own_lines=((first, last),),
        signature=one.lines[number - 1].strip()[: MAX_EXCERPT_LINES * 60],
        doc="",
        bases=(),
        content_hash=b"",
    )
