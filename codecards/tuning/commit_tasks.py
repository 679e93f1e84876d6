"""Mines a project's git history for tasks: a commit's subject is the question, the code it changed is the answer.

Git runs with everything switched off that a repository's configuration could make it run.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codecards.errors import UsageError
from codecards.features.impact import changed_lines
from codecards.indexer.build.worker_pool import Content, Workers
from codecards.indexer.cards.chunking import CardDraft
from codecards.indexer.cards.record import content_key
from codecards.indexer.parse.languages import HEAD_BYTES, detect_language
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.walk.git import run_git
from codecards.retrieval.query.query import read_query

MAX_TASKS = 300
"""The newest ones: older commits are about code that has changed since."""
MAX_FILES, MAX_LINES = 10, 400
"""Code files and changed lines of one commit; larger commits are moves, imports and mass edits."""
MIN_WORDS = 3
"""Content words of a question."""
COMMITS_A_CALL = 50
GIT_TIME_LIMIT_S = 60.0
SAFE_LOG = (
    "--no-show-signature",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--no-notes",
    "--no-mailmap",
    "--encoding=UTF-8",
    "--relative",
    "--ignore-submodules=all",
)
SAFE_PATCH = ("--unified=0", "--inter-hunk-context=0", "--full-index", "--src-prefix=a/", "--dst-prefix=b/")

_revert = re.compile(r"^revert\b|^this reverts commit", re.IGNORECASE | re.MULTILINE)
_version = re.compile(
    r"^((chore|build)(\([^)]*\))?: *)?(bump|release|prepare|version|changelog|update (the )?(changelog|version|lock)|v?\d+\.\d+)\b"
    r"|\bbump \S+ from\b|^(back to|start|post-?release)\b.*\bdev",
    re.IGNORECASE,
)
_style = re.compile(r"\b(reformat|run black|black formatting|lint|pre-commit|typos?|whitespace)\b", re.IGNORECASE)
_prefix = re.compile(
    r"^(feat|fix|chore|docs|refactor|perf|test|tests|ci|build|style)(\(([^)]*)\))?!?: *", re.IGNORECASE
)
_reference = re.compile(
    r"\(?(fixes|closes|resolves|refs?|see|gh-)? {0,8}[A-Za-z]{0,40}#?\d{2,}\)?:?|\[[^\]]{0,200}\]", re.IGNORECASE
)
_index = re.compile(r"^index [0-9a-f]{40,64}\.\.([0-9a-f]{40,64})", re.MULTILINE)
_target = re.compile(r"^\+\+\+ b/(.*?)\t?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CommitTask:
    """One question from the project's history."""

    commit: str
    time: int
    """Time of the commit, in seconds since 1970."""
    text: str
    paths: tuple[str, ...]
    """Code files that it changed and that are in the index now."""
    symbol_ids: tuple[str, ...]
    """Symbols that it changed and that still exist."""


@dataclass(frozen=True, slots=True)
class MinedTasks:
    """The tasks of a history."""

    tasks: tuple[CommitTask, ...]
    """Oldest first."""
    n_commits: int
    """Commits read."""
    left_out: dict[str, int]
    """Reason → number of commits without a task."""


@dataclass(frozen=True, slots=True)
class _Commit:
    hash: str
    time: int
    text: str
    paths: dict[str, str]
    """Path at that time → path now."""


class _CurrentPaths:
    """Maps paths of older commits to today's paths."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = frozenset(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in sorted(self._paths):
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def now(self, path: str) -> str | None:
        """Return today's path of an older commit's file: the same, or below a new folder; None if it is gone."""
        if path in self._paths:
            return path
        moved = [one for one in self._by_name.get(path.rpartition("/")[2], ()) if one.endswith("/" + path)]
        return moved[0] if len(moved) == 1 else None


def mine_tasks(root: Path, snapshot: Snapshot, workers: Workers, n_commits: int) -> MinedTasks:
    """Return the tasks of a project's newest commits.

    Args:
        root: The project.
        snapshot: The generation that knows today's files and symbols.
        workers: Parse files as they were after each commit.
        n_commits: How many commits to read, merges excluded.

    Raises:
        UsageError: There is no git history.
    """
    selection = ("--no-merges", f"--max-count={n_commits}", "--numstat", "-z", "--format=%x1e%H%x1f%ct%x1f%s%x1f%b%x1f")
    output = run_git(root, "log", *selection, *SAFE_LOG, time_limit_s=GIT_TIME_LIMIT_S)
    if not output:
        raise UsageError(f"there is no git history in {root} to learn from")
    code = _CurrentPaths(file.path for file in snapshot.files() if file.role == "source" and file.language)
    left_out: Counter[str] = Counter()
    chosen: list[_Commit] = []
    records = output.decode("utf-8", "replace").split("\x1e")[1:]
    for record in records:
        commit = _read_commit(record, code)
        if isinstance(commit, str):
            left_out[commit] += 1
        elif len(chosen) < MAX_TASKS:
            chosen.append(commit)
        else:
            left_out["older"] += 1
    tasks = [
        task
        for start in range(0, len(chosen), COMMITS_A_CALL)
        for task in _with_symbols(root, snapshot, workers, chosen[start : start + COMMITS_A_CALL])
    ]
    return MinedTasks(tuple(reversed(tasks)), len(records), dict(left_out))


def _read_commit(record: str, code: _CurrentPaths) -> _Commit | str:
    """Return the commit of one log record, or the reason why it is not a task."""
    name, time, subject, body, changes = (record.split("\x1f") + [""] * 5)[:5]
    if why := why_no_task(subject, body):
        return why
    rows = [row.lstrip("\n").split("\t", 2) for row in changes.split("\0")]
    sizes = {row[2]: sum(int(number) for number in row[:2] if number.isdigit()) for row in rows if len(row) == 3}
    paths = {path: now for path in sizes if (now := code.now(path)) is not None}
    if not paths:
        return "no_code_now"
    if len(paths) > MAX_FILES or sum(sizes[path] for path in paths) > MAX_LINES:
        return "huge"
    text = question_of(subject)
    if len(read_query(text).content_words) < MIN_WORDS:
        return "short"
    return _Commit(name.strip(), int(time), text, paths)


def why_no_task(subject: str, body: str) -> str:
    """Return why a commit is not a task: "revert", "version" or "style"; "" if it may be one."""
    if _revert.search(subject) or _revert.search(body):
        return "revert"
    if _version.search(subject):
        return "version"
    return "style" if _style.search(subject) else ""


def question_of(subject: str) -> str:
    """Return a commit's subject as a question: without type, issue numbers and tags; the scope becomes a word."""
    scoped = _prefix.sub(lambda match: f"{match[3]} " if match[3] else "", subject)
    return re.sub(r"\s+", " ", _reference.sub(" ", scoped)).strip(" .:-")


def _with_symbols(root: Path, snapshot: Snapshot, workers: Workers, commits: Sequence[_Commit]) -> Iterator[CommitTask]:
    """Yield the commits as tasks, with the symbols that they changed."""
    names = [commit.hash for commit in commits]
    output = run_git(root, "show", "--format=%x1e%H", *SAFE_LOG, *SAFE_PATCH, *names, time_limit_s=GIT_TIME_LIMIT_S)
    changed = dict(_changes(output.decode("utf-8", "replace") if output else ""))
    wanted = {
        blob: path
        for commit in commits
        for path, (blob, _) in changed.get(commit.hash, {}).items()
        if path in commit.paths
    }
    drafts = _drafts(root, workers, wanted)
    for commit in commits:
        found: list[str] = []
        for path, now in commit.paths.items():
            blob, lines = changed.get(commit.hash, {}).get(path, ("", ()))
            touched = {draft.qualified_name for line in lines for draft in _owners(drafts.get(blob, ()), line)}
            found += [card.symbol_id for card in snapshot.cards_in(now) if card.name and card.qualified_name in touched]
        yield CommitTask(commit.hash, commit.time, commit.text, tuple(commit.paths.values()), tuple(found))


def _changes(patches: str) -> Iterator[tuple[str, dict[str, tuple[str, tuple[int, ...]]]]]:
    """Yield (commit, path → (blob after it, changed lines there))."""
    for record in patches.split("\x1e")[1:]:
        name, _, patch = record.partition("\n")
        files: dict[str, tuple[str, tuple[int, ...]]] = {}
        for one in re.split(r"(?m)^diff --git ", patch)[1:]:
            target, blob = _target.search(one), _index.search(one)
            if target and blob:
                files[target[1]] = (blob[1], tuple(line for _, line in changed_lines(one)))
        yield name.strip(), files


def _drafts(root: Path, workers: Workers, wanted: dict[str, str]) -> dict[str, tuple[CardDraft, ...]]:
    """Return blob → the cards of its content, for blobs and their paths at the time."""
    names = list(wanted)
    output = run_git(
        root, "cat-file", "--batch", given="\n".join(names).encode() + b"\n", time_limit_s=GIT_TIME_LIMIT_S
    )
    blobs: dict[str, bytes] = {}
    rest = output or b""
    while rest:
        head, _, rest = rest.partition(b"\n")
        parts = head.split()
        if len(parts) == 3 and parts[1] == b"blob":
            size = int(parts[2])
            blobs[parts[0].decode()], rest = rest[:size], rest[size + 1 :]
    contents = []
    for name, data in blobs.items():
        language = detect_language(wanted[name], data[:HEAD_BYTES])
        contents.append(Content(content_key(language, data), language, data))
    answers = workers.read(contents)
    return {name: answer.record.contents.drafts for name, answer in zip(blobs, answers, strict=True)}


def _owners(drafts: Sequence[CardDraft], line: int) -> Iterator[CardDraft]:
    """Yield the named card that owns a line."""
    for draft in drafts:
        if draft.name and any(first <= line <= last for first, last in draft.own_lines):
            yield draft
