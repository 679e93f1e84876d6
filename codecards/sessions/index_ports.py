"""The router's ports, implemented over a project's index and its files on disk."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from codecards.answers import Recall
from codecards.errors import AmbiguousTargetError, CodecardsError, SnapshotError, TargetNotFoundError
from codecards.features.file_digest import file_digest
from codecards.features.targets import find_files
from codecards.indexer.cards.card import Card
from codecards.indexer.cards.chunking import text_lines
from codecards.indexer.problems import Problem
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.text.secrets import mask_secrets
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, read_file, resolve_inside
from codecards.indexer.walk.git import commits_by_path
from codecards.indexer.walk.secret_names import is_secret_file
from codecards.project.freshness import FreshFiles
from codecards.project.reader import IndexReader
from codecards.router.compress.digests import OutlineDigester, digest_tree
from codecards.router.notes.archive import Archive
from codecards.router.notes.note import AnchorResolver
from codecards.router.ports import FileText, FoldedHit, Project, Signal, text_hash

CALL_WEIGHT = 0.55
"""Weight of a file that calls or is called by a file in use; further edges increase it."""
TASK_WEIGHT = 0.5
"""Weight of a file that an earlier task changed together with a file in use."""
MAX_CO_CHANGE_WEIGHT = 0.8
MIN_COMMON_COMMITS = 3
MAX_NEAR = 12
RECENT_COMMITS = 20
"""The files of the last so many commits count as changed recently."""
MAX_FOLDER_FILES = 2_000
FOLDER_TOKENS = 2_000
"""Most tokens of the digest of a folder."""

ReaderSource = Callable[[], IndexReader]


class ProjectTexts:
    """Reads files as an agent may see them: inside the root, decoded, with secrets masked."""

    def __init__(self, root: Path, settings: DiscoverySettings, reader: ReaderSource) -> None:
        self._root, self._settings, self._reader = root, settings, reader

    def read(self, path: str) -> FileText | None:
        """Return the file's text on disk, None if the file does not exist or must not be shown.

        A path that ends with a slash is a folder; its text is a digest of its files.
        """
        if path.endswith("/"):
            return self._folder(path)
        if is_secret_file(path) and not self._settings.index_secrets:
            return None
        data = read_file(self._root, SourceFile(path, 0, 0, 0), self._settings)
        decoded = None if isinstance(data, Problem) else decode(data)
        if not isinstance(decoded, DecodedText):
            return None
        text = mask_secrets(decoded.text)
        return FileText(text, text_hash(text))

    def _folder(self, path: str) -> FileText | None:
        try:
            snapshot = self._reader().snapshot
        except SnapshotError:
            return None
        paths = [file.path for file in snapshot.files() if file.path.startswith(path)]
        digests = {one: "\n".join(_top_level(snapshot.cards_in(one))) for one in paths[:MAX_FOLDER_FILES]}
        text = digest_tree(digests, FOLDER_TOKENS)
        if len(paths) > MAX_FOLDER_FILES:
            text += f"\n… {len(paths) - MAX_FOLDER_FILES} more files"
        return FileText(text, text_hash(text)) if paths else None


class ProjectPaths:
    """Resolves the paths that an agent writes."""

    def __init__(self, root: Path, reader: ReaderSource) -> None:
        self._root, self._reader = root, reader

    def __call__(self, written: str) -> str:
        """Return the path relative to the root, with slashes; the path of a folder ends with a slash.

        Raises:
            OutsideProjectError: The path leads out of the project.
            TargetNotFoundError: No file matches.
            AmbiguousTargetError: Several files match.
        """
        place = resolve_inside(self._root, written)
        plain = os.path.relpath(self._root.resolve() / written, self._root.resolve()).replace(os.sep, "/")
        if place.is_file() and not plain.startswith("../"):
            return plain
        if place.is_dir() and plain != "." and not plain.startswith("../"):
            return plain + "/"
        try:
            found = find_files(self._reader().snapshot, written)
        except SnapshotError:
            found = []
        if not found:
            raise TargetNotFoundError(written, what="file")
        if len(found) > 1:
            raise AmbiguousTargetError(written, [file.path for file in found[:20]], total=len(found))
        return found[0].path


class IndexDigester:
    """Makes the digest of a file from its cards, or line by line if the file is not indexed."""

    def __init__(self, reader: ReaderSource, fresh: Callable[[IndexReader], FreshFiles]) -> None:
        self._reader, self._fresh = reader, fresh

    def digest(self, path: str, text: str) -> str:
        """Return dependencies, signatures, exports and important comments of a file, with line numbers."""
        if path.endswith("/"):
            return text
        try:
            reader = self._reader()
            entry = reader.snapshot.file_at(path)
            if entry is not None:
                cards = [checked.card for checked in self._fresh(reader).check(reader.snapshot.cards_in(path))]
                return file_digest(text_lines(text), cards, reader.snapshot.facts(entry.content_key))
        except SnapshotError:
            pass  # without a readable index the digest is made from the text
        return OutlineDigester().digest(path, text)


class ProjectNeighbours:
    """Finds related files: by calls, by common commits, by earlier tasks."""

    def __init__(self, root: Path, reader: ReaderSource, archive: Archive) -> None:
        self._root, self._reader, self._archive = root, reader, archive
        self._commits: list[frozenset[str]] | None = None

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return signals for files that are related to those in use, strongest first."""
        used = frozenset(paths)
        signals = [*self._by_commits(used), *self._by_tasks(used)]
        with suppress(SnapshotError):  # no index yet
            signals += _by_calls(self._reader().snapshot, used)
        signals = [signal for signal in signals if signal.path not in used]
        return sorted(signals, key=lambda signal: (-signal.weight, signal.path))[:MAX_NEAR]

    def _by_commits(self, used: frozenset[str]) -> Iterator[Signal]:
        if self._commits is None:
            self._commits = commits_by_path(self._root)
        for path in sorted(used):
            own = [commit for commit in self._commits if path in commit]
            together = Counter(other for commit in own for other in commit if other != path)
            for other, n_commits in together.most_common(MAX_NEAR):
                if n_commits >= MIN_COMMON_COMMITS:
                    weight = min(MAX_CO_CHANGE_WEIGHT, n_commits / len(own))
                    yield Signal(other, weight, f"changed together with {path} in {n_commits} commits")

    def _by_tasks(self, used: frozenset[str]) -> Iterator[Signal]:
        for note in self._archive.notes(archived=False):
            paths = note.all_paths()
            if used & paths:
                for path in sorted(paths - used):
                    yield Signal(path, TASK_WEIGHT, f"needed with it in an earlier task: note {note.note_id}")


def _top_level(cards: Sequence[Card]) -> Iterator[str]:
    for card in cards:
        if card.name and not card.parent:
            yield "  " + " ".join((card.signature or f"{card.kind} {card.name}").split())[:120]


def _by_calls(snapshot: Snapshot, used: frozenset[str]) -> Iterator[Signal]:
    for path in sorted(used):
        card_ids = [card.card_id for card in snapshot.cards_in(path)]
        called = Counter(edge.target_path for edge in snapshot.edges_from(card_ids) if edge.confidence != "possible")
        callers = Counter(edge.caller_path for edge in snapshot.edges_to(card_ids))
        for counts, why in ((called, "called by"), (callers, "calls")):
            for other, n_edges in counts.most_common(MAX_NEAR):
                if other and other != path:
                    yield Signal(other, 1 - (1 - CALL_WEIGHT) ** (n_edges**0.5), f"{why} {path}")


class IndexRecaller:
    """Answers the questions of a session, and suggests words of the project."""

    def __init__(self, recall: Callable[[str, int], Recall]) -> None:
        self._recall = recall

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return the best hits, without text."""
        found = self._recall(query, limit)
        return [
            FoldedHit(
                hit.card.symbol_id,
                hit.card.path,
                hit.card.signature or hit.card.doc.partition("\n")[0],
                hit.card.lead_line,
                hit.card.last_line,
                hit.score,
                valid_as_of=f"generation {found.generation}",
            )
            for hit in found.hits
        ]

    def near_words(self, query: str) -> Sequence[str]:
        """Return names of the project that could replace the words of the query, best first."""
        found = self._recall(query, 8)
        names = [hit.card.name for hit in found.hits if hit.card.name]
        return list(dict.fromkeys([*found.suggestions, *names]))


@dataclass(frozen=True, slots=True)
class IndexFunctions:
    """The functions of an engine that the ports call."""

    reader: ReaderSource
    """Returns a reader of the newest generation."""
    fresh: Callable[[IndexReader], FreshFiles]
    """Returns the current state of the files that a reader has indexed."""
    recall: Callable[[str, int], Recall]
    """Answers a query with at most so many hits."""
    refresh_if_small: Callable[[], str]
    """Indexes changed files; returns why the index is still outdated, or ""."""


def indexed_project(
    root: Path, settings: DiscoverySettings, archive: Archive, index: IndexFunctions, anchors: AnchorResolver
) -> Project:
    """Return a project as sessions see it.

    Args:
        root: The project's root.
        settings: Which files may be read.
        archive: The project's notes, which show what earlier tasks needed.
        index: The functions of the project's engine.
        anchors: Resolves the anchors of notes.
    """
    reader, recaller = index.reader, IndexRecaller(index.recall)

    def generation() -> str:
        try:
            return str(reader().snapshot.generation)
        except CodecardsError:
            return ""

    def recent() -> Sequence[str]:
        try:
            snapshot = reader().snapshot
        except SnapshotError:
            return ()
        commits = commits_by_path(root, n_commits=RECENT_COMMITS, min_paths=1)
        paths = dict.fromkeys(path for commit in commits for path in sorted(commit))
        return [path for path in paths if snapshot.file_at(path) is not None]

    return Project(
        ProjectTexts(root, settings, reader),
        digester=IndexDigester(reader, index.fresh),
        neighbours=ProjectNeighbours(root, reader, archive),
        recaller=recaller,
        vocabulary=recaller,
        anchors=anchors,
        resolve_path=ProjectPaths(root, reader),
        generation=generation,
        refresh=index.refresh_if_small,
        recent=recent,
    )
