"""Derives agent sessions from a git history by rule.

A task is a commit, or a run of commits by one author within hours that touch a common file. Real are the message, the changed files
and lines, and their texts at the parent commit. Invented by rule are the reads before each commit (each place that will be changed,
and the definitions that it calls, if the parent's tree has exactly one definition of the name, found by keywords such as `def`,
`class`, `func`), the order (sources, other files, tests; each file from its top), and one test run after each commit. The sessions
contain no searches and no detours.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from benchmarks.sessions.policies import Event
from benchmarks.sessions.recordings import Recording
from codecards.indexer.walk.git import run_git
from codecards.indexer.walk.roles import role_of
from codecards.router.compress.signatures import enclosing
from codecards.tuning.commit_tasks import (
    MAX_FILES,
    MAX_LINES,
    MIN_WORDS,
    SAFE_LOG,
    SAFE_PATCH,
    question_of,
    why_no_task,
)

MAX_PAUSE_S = 4 * 3600
"""Longest pause between two commits of one task."""
COMMITS_A_TASK = 20
"""Number of commits that are read for each wanted task."""
MIN_TURNS = 8
"""Least number of turns; a shorter session leaves a policy nothing to decide."""
MAX_READ_LINES = 80
MAX_PLACES = 8
"""Most changed places of one file in one commit."""
MAX_CALLED = 3
"""Most called definitions that are read for one file."""
MAX_NAMES = 40
RUN_CHARACTERS, EDIT_CHARACTERS = 2_000, 100
"""Invented lengths of outputs: of a test run, and of the answer to an edit."""
MAX_FILE_CHARACTERS = 400_000
TIME_LIMIT_S = 120.0

_KEYWORDS = "def|class|func|fun|function|fn|struct|interface|trait|type|enum|object|module|record"
_hunk = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_called = re.compile(r"\b([A-Za-z_]\w{2,})\s*\(")
_not_called = frozenset(
    ["for", "while", "switch", "return", "catch", "elif", "def", "func", "function", "class", "super", "self"]
)


@dataclass(frozen=True, slots=True)
class HistoryHunk:
    """Lines that a commit replaced."""

    first_line: int
    """First line at the parent, 1-based; the line before for a pure insertion."""
    n_lines: int
    text: str
    """The removed and the added lines."""


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """The change of a file by a commit."""

    path: str
    is_new: bool
    hunks: tuple[HistoryHunk, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit with one parent."""

    name: str
    parent: str
    author: str
    time: int
    """Author time, in seconds since 1970."""
    subject: str
    body: str
    changes: tuple[RecordedChange, ...]
    """Changes, except deletions."""

    def paths(self) -> set[str]:
        """Return the paths of the changed files."""
        return {change.path for change in self.changes}


def mine_sessions(git_directory: Path, *, revisions: str = "HEAD", n_tasks: int = 25) -> list[Recording]:
    """Return sessions derived from the newest commits of a history; none if git can't read it.

    Args:
        git_directory: A repository, bare or with a working tree; it is only read, and nothing in it is run.
        revisions: Revisions for `git log`: "HEAD", "v1.0..v2.0".
        n_tasks: Maximum number of sessions.
    """
    output = _git(
        git_directory,
        "log",
        "--no-merges",
        f"--max-count={n_tasks * COMMITS_A_TASK}",
        "--patch",
        "--format=%x1e%H%x1f%P%x1f%ae%x1f%at%x1f%s%x1f%b%x1f",
        *SAFE_LOG,
        *SAFE_PATCH,
        revisions,
        "--",
    )
    commits = [commit for record in output.split("\x1e")[1:] if (commit := _read_commit(record)) is not None]
    found: list[Recording] = []
    for run in reversed(runs(commits[::-1])):
        if len(found) == n_tasks:
            break
        session = _session(git_directory, run)
        if len(session.events) >= MIN_TURNS:
            found.append(session)
    return found


def repository_name(git_directory: Path) -> str:
    """Return the name of a repository: that of its folder, or of the folder around `.git`."""
    folder = git_directory.resolve()
    return folder.parent.name if folder.name in (".git", "repo") else folder.name


def runs(commits: Sequence[Commit]) -> list[list[Commit]]:
    """Group commits, oldest first, into tasks: consecutive commits of one author within hours that touch a common file."""
    tasks: list[list[Commit]] = [[commits[0]]] if commits else []
    for before, commit in pairwise(commits):
        if (
            commit.author == before.author
            and 0 <= commit.time - before.time <= MAX_PAUSE_S
            and commit.paths() & {path for one in tasks[-1] for path in one.paths()}
        ):
            tasks[-1].append(commit)
        else:
            tasks.append([commit])
    return tasks


def _read_commit(record: str) -> Commit | None:
    """Return the commit of one log record, None if it is not suitable as a task or too large."""
    name, parents, author, time, subject, body, patch = (record.split("\x1f") + [""] * 7)[:7]
    if len(parents.split()) != 1 or why_no_task(subject, body) or len(question_of(subject).split()) < MIN_WORDS:
        return None
    changes = tuple(change for part in re.split(r"(?m)^diff --git ", patch)[1:] if (change := _read_change(part)))
    n_lines = sum(hunk.text.count("\n") + 1 for change in changes for hunk in change.hunks)
    sources = [change for change in changes if not change.is_new and role_of(change.path) == "source"]
    if not sources or len(changes) > MAX_FILES or n_lines > MAX_LINES:
        return None
    return Commit(name.strip(), parents, author, int(time), subject, body.strip(), changes)


def _read_change(part: str) -> RecordedChange | None:
    head, _, rest = part.partition("\n--- ")
    target = re.search(r"^\+\+\+ b/(.*?)\t?$", rest, re.MULTILINE)
    if target is None or "\nold mode 120000" in head or "\nnew file mode 120000" in head:
        return None  # deleted, binary, or a symbolic link
    hunks: list[HistoryHunk] = []
    for line in rest.split("\n"):
        if found := _hunk.match(line):
            hunks.append(HistoryHunk(max(1, int(found[1])), int(found[2] or 1), ""))
        elif hunks and line[:1] in "+-":
            last = hunks[-1]
            hunks[-1] = HistoryHunk(
                last.first_line, last.n_lines, f"{last.text}\n{line[1:]}" if last.text else line[1:]
            )
    return RecordedChange(target[1], "\nnew file mode" in head, tuple(hunks)) if hunks else None


class _EventLog:
    """Collects the events of a session, one per turn."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: str, path: str = "", lines: tuple[int, int] = (0, 0), n_in: int = 60, n_out: int = 0) -> None:
        """Add an event in a new turn."""
        self.events.append(Event(len(self.events) + 1, kind, path, *lines, n_in, n_out, error=False))


def _session(git_directory: Path, run: Sequence[Commit]) -> Recording:
    parent = run[0].parent
    texts = _texts_at(git_directory, parent, sorted({path for commit in run for path in commit.paths()}))
    places = _definitions(git_directory, parent, texts, run)
    texts |= _texts_at(git_directory, parent, sorted({path for path, _ in places.values()} - set(texts)))
    log, read, made = _EventLog(), set[tuple[str, int]](), set[str]()
    for commit in run:
        changes = sorted(commit.changes, key=_order)
        for change in changes:
            if change.path in texts and not change.is_new:
                _add_reads(log, change, texts, places, read)
        for change in changes:
            known = change.path in texts or change.path in made
            _add_writes(log, change, is_new=change.is_new or not known)
            made.add(change.path)
        log.add("run", n_out=RUN_CHARACTERS)
    task = "\n".join([run[0].subject, run[0].body, *(commit.subject for commit in run[1:])])
    return Recording(f"history/{repository_name(git_directory)}/{run[0].name[:12]}", task, tuple(log.events), texts.get)


def _add_reads(
    log: _EventLog,
    change: RecordedChange,
    texts: dict[str, str],
    places: dict[str, tuple[str, int]],
    read: set[tuple[str, int]],
) -> None:
    """Add the reads of each place of a file that will be changed, followed by the definitions that it calls."""
    lines = texts[change.path].splitlines()
    n_called = 0
    for (first, last), hunks in _by_place(lines, change.hunks)[:MAX_PLACES]:
        _add_read(log, change.path, lines, first, last)
        for name in _names("\n".join([*lines[first - 1 : last], *(hunk.text for hunk in hunks)])):
            place = places.get(name)
            if place is None or place[0] == change.path or place in read or n_called >= MAX_CALLED:
                continue
            n_called += 1
            read.add(place)
            defined = texts.get(place[0], "").splitlines()
            start, end = enclosing(defined, place[1], place[1])
            _add_read(log, place[0], defined, start, min(end, start + MAX_READ_LINES))


def _add_read(log: _EventLog, path: str, lines: Sequence[str], first: int, last: int) -> None:
    log.add("read", path, (first, last), n_out=sum(len(line) + 1 for line in lines[first - 1 : last]))


def _add_writes(log: _EventLog, change: RecordedChange, *, is_new: bool) -> None:
    if is_new:
        log.add("create", change.path, n_in=sum(len(hunk.text) for hunk in change.hunks), n_out=EDIT_CHARACTERS)
        return
    for hunk in change.hunks[:MAX_PLACES]:
        lines = (hunk.first_line, hunk.first_line + max(0, hunk.n_lines - 1))
        log.add("edit", change.path, lines, n_in=len(hunk.text), n_out=EDIT_CHARACTERS)


def _by_place(lines: Sequence[str], hunks: Sequence[HistoryHunk]) -> list[tuple[tuple[int, int], list[HistoryHunk]]]:
    """Group hunks by their enclosing definition; return each group with the lines that are read for it."""
    found: dict[tuple[int, int], list[HistoryHunk]] = {}
    for hunk in hunks:
        first = min(hunk.first_line, max(1, len(lines)))
        last = min(first + max(0, hunk.n_lines - 1), max(1, len(lines)))
        start, end = enclosing(lines, first, last)
        start = max(start, first - MAX_READ_LINES // 2)
        found.setdefault((start, max(last, min(end, start + MAX_READ_LINES))), []).append(hunk)
    return list(found.items())


def _order(change: RecordedChange) -> tuple[int, str]:
    role = role_of(change.path)
    return {"source": 0, "test": 2}.get(role, 1), change.path


def _names(text: str) -> list[str]:
    return [name for name in dict.fromkeys(_called.findall(text)) if name not in _not_called][:MAX_NAMES]


def _definitions(
    git_directory: Path, parent: str, texts: dict[str, str], run: Sequence[Commit]
) -> dict[str, tuple[str, int]]:
    """Return name → (path, line) of the called definitions whose name the parent's tree defines exactly once."""
    called = "\n".join(
        "\n".join([*lines[first - 1 : last], *(hunk.text for hunk in hunks)])
        for commit in run
        for change in commit.changes
        if (lines := texts.get(change.path, "").splitlines())
        for (first, last), hunks in _by_place(lines, change.hunks)
    )
    names = _names(called)
    if not names:
        return {}
    suffixes = sorted({Path(path).suffix for path in texts if Path(path).suffix})
    pattern = rf"(^|[^[:alnum:]_])({_KEYWORDS})[[:space:]]+(\([^)]*\)[[:space:]]*)?({'|'.join(names)})([^[:alnum:]_]|$)"
    output = _git(
        git_directory,
        "grep",
        "-n",
        "-I",
        "-E",
        "--no-color",
        "--full-name",
        pattern,
        parent,
        "--",
        *(f"*{suffix}" for suffix in suffixes),
    )
    found: dict[str, set[tuple[str, int]]] = {}
    wanted = re.compile(rf"\b(?:{_KEYWORDS})\s+(?:\([^)]*\)\s*)?({'|'.join(names)})\b")
    for line in output.splitlines():
        path, number, text = [*line.removeprefix(f"{parent}:").split(":", 2), "", ""][:3]
        if number.isdigit() and (match := wanted.search(text)):
            found.setdefault(match[1], set()).add((path, int(number)))
    return {name: next(iter(places)) for name, places in found.items() if len(places) == 1}


def _texts_at(git_directory: Path, commit: str, paths: Sequence[str]) -> dict[str, str]:
    """Return path → text of files at a commit, without missing, binary and too large ones."""
    found = {}
    for path in paths:
        text = _git(git_directory, "cat-file", "blob", f"{commit}:{path}")
        if text and "\0" not in text and len(text) <= MAX_FILE_CHARACTERS:
            found[path] = text
    return found


def _git(git_directory: Path, *arguments: str) -> str:
    """Return the output of git, "" on failure; nothing that the repository configures is run."""
    output = run_git(git_directory, *arguments, time_limit_s=TIME_LIMIT_S)
    return "" if output is None else output.decode("utf-8", "replace")
