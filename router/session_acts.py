"""Acts: what an agent does to its own working memory; each returns a short status and is on disk when it returns."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC

from codecards.errors import TargetNotFoundError, UsageError
from codecards.indexer.secret_masking import mask_secrets
from codecards.router.archive import Clock, utc_now
from codecards.router.compaction import Summariser
from codecards.router.digesting import memo_for
from codecards.router.ledger import Use
from codecards.router.operations import KEPT_OPERATIONS, RETRIEVAL_KINDS, Operation
from codecards.router.project import Project
from codecards.router.session_state import SessionState
from codecards.router.session_store import SessionStore
from codecards.router.turn import TurnSettings
from codecards.router.working_memory import (
    FileEntry,
    Memo,
    Mode,
    TodoItem,
    WorkingMemory,
    with_access,
    with_constraint,
    with_file,
    with_memo,
    with_status,
    with_task,
    without_file,
)

KEPT_USES = 1_000


class SessionActs:
    """The acts of a session; `Session` adds turns and conclusions."""

    def __init__(
        self,
        store: SessionStore,
        name: str,
        project: Project,
        *,
        settings: TurnSettings | None = None,
        clock: Clock = utc_now,
        summariser: Summariser | None = None,
        mask: Callable[[str], str] = mask_secrets,
    ) -> None:
        self.name = name
        self._store, self._project = store, project
        self._settings = settings or TurnSettings()
        self._clock, self._summariser, self._mask = clock, summariser, mask
        self._state = store.load(name)

    @property
    def state(self) -> SessionState:
        """The state as of the last call."""
        return self._state

    @property
    def memory(self) -> WorkingMemory:
        """The working memory as of the last call."""
        return self._state.memory

    # Acts on files

    def open_file(self, path: str, purpose: str, *, lines: tuple[int, int] | None = None) -> str:
        """Show a file in full from the next context on, and return a status.

        Raises:
            UsageError: No purpose was given: it decides what is remembered when the file is closed.
            TargetNotFoundError: There is no such file.
            AmbiguousTargetError: Several files may be meant.
        """
        if not purpose.strip():
            raise UsageError("open_file needs a purpose: what you want to learn or change there.")
        path = self._project.resolve_path(path)
        text = self._project.texts.read(path)
        if text is None:
            raise TargetNotFoundError(path, what="file")

        def opened(state: SessionState) -> SessionState:
            memory = state.memory
            old = memory.entry(path) or FileEntry(path)
            memory = with_file(
                memory,
                replace(
                    old,
                    mode=Mode.FULL,
                    purpose=purpose.strip(),
                    digest=self._project.digester.digest(path, text.text),
                    text_hash=text.text_hash,
                    relevance=max(old.relevance, 0.8),
                    last_access_turn=memory.turn,
                    last_switch_turn=old.last_switch_turn if old.mode is Mode.FULL else memory.turn,
                    focus=lines or old.focus,
                    predicted=False,
                    why="opened",
                ),
            )
            return recorded(replace(state, memory=memory), "open", (path,), lines=lines)

        self._change(opened)
        return f"opened {path}"

    def close_file(self, path: str) -> str:
        """Take a file out of the context but for a memo for its purpose, and return a status.

        Raises:
            TargetNotFoundError: It is not open.
        """
        with suppress(TargetNotFoundError):
            path = self._project.resolve_path(path)
        entry = self._reloaded().memory.entry(path)
        if entry is None:
            raise TargetNotFoundError(path, what="open file", suggestions=[one.path for one in self.memory.files][:5])
        text = self._project.texts.read(path)
        memo = Memo(path, "", entry.purpose, self.memory.turn)
        if text is not None:
            words = memo_for(text.text, entry.purpose, count=self._settings.count, summariser=self._summariser)
            memo = replace(memo, text=words, handle=self._store.keep(self.name, text.text))

        def closed(state: SessionState) -> SessionState:
            memory = with_memo(without_file(state.memory, path, "closed"), memo)
            return recorded(replace(state, memory=memory), "close", (path,))

        self._change(closed)
        return f"closed {path}"

    def pin(self, path: str, *, pinned: bool = True) -> str:
        """Keep a file in its mode whatever the router finds, or let it go again."""
        return self._with_entry(path, lambda entry: replace(entry, pinned=pinned), "pinned" if pinned else "unpinned")

    def focus(self, path: str, first_line: int, last_line: int) -> str:
        """Say which lines of a file to show when the whole does not fit."""
        if not 1 <= first_line <= last_line:
            raise UsageError("Lines are 1-based, and the last is not before the first.")
        return self._with_entry(path, lambda entry: replace(entry, focus=(first_line, last_line)), "focused")

    # Acts on the task

    def set_goal(self, goal: str, constraints: Iterable[str] | None = None) -> str:
        """Put another goal in the place of the old one."""
        if not goal.strip():
            raise UsageError("A goal needs words.")
        self._change(lambda state: replace(state, memory=with_task(state.memory, self._mask(goal), constraints)))
        return "goal replaced"

    def set_status(self, status: str) -> str:
        """Enter another stage: "exploring", "implementing", "testing", "reviewing"."""
        self._change(lambda state: replace(state, memory=with_status(state.memory, status)))
        return f"status {status}"

    def add_constraint(self, constraint: str) -> str:
        """Add what must hold from now on."""
        self._change(lambda state: replace(state, memory=with_constraint(state.memory, constraint)))
        return "constraint added"

    def set_todo(self, items: Sequence[TodoItem]) -> str:
        """Put a list of things to do in the place of the old one."""
        self._change(lambda state: replace(state, memory=replace(state.memory, todo=tuple(items))))
        return f"{len(items)} things to do"

    def set_open_questions(self, questions: Sequence[str]) -> str:
        """Put the questions that are open now in the place of the old ones."""
        self._change(lambda state: replace(state, memory=replace(state.memory, open_questions=tuple(questions))))
        return f"{len(questions)} open questions"

    def show_block(self, name: str, *, shown: bool = True) -> str:
        """Show or hide a block: "changes", "todo", "questions", "notes", "references", "memos"."""

        def switched(state: SessionState) -> SessionState:
            hidden = tuple(one for one in state.memory.hidden_blocks if one != name)
            return replace(state, memory=replace(state.memory, hidden_blocks=hidden if shown else (*hidden, name)))

        self._change(switched)
        return f"{name} {'shown' if shown else 'hidden'}"

    # Steps

    def _change(self, step: Callable[[SessionState], SessionState]) -> None:
        """Do one whole step under the lock, on the state that is on disk now."""
        with self._store.locked(self.name):
            self._state = self._store.save(self._stamped(step(self._store.load(self.name))))

    def _reloaded(self) -> SessionState:
        self._state = self._store.load(self.name)
        return self._state

    def _stamped(self, state: SessionState) -> SessionState:
        # A clock that was set back must not make the state look older than it is.
        return replace(state, updated=max(state.updated, stamp(self._clock)))

    def _with_entry(self, path: str, change: Callable[[FileEntry], FileEntry], word: str) -> str:
        path = self._project.resolve_path(path)
        if self._reloaded().memory.entry(path) is None:
            raise TargetNotFoundError(path, what="open file")

        def changed(state: SessionState) -> SessionState:
            entry = state.memory.entry(path)
            return state if entry is None else replace(state, memory=with_file(state.memory, change(entry)))

        self._change(changed)
        return f"{word} {path}"


def recorded(
    state: SessionState,
    kind: str,
    paths: Sequence[str],
    *,
    query: str = "",
    failed: bool = False,
    lines: tuple[int, int] | None = None,
) -> SessionState:
    """Return the state with one operation more, and the files that it touched as used in this turn."""
    number = state.operations[-1].number + 1 if state.operations else 1
    turn, memory = state.memory.turn, state.memory
    operation = Operation(number, turn, kind, tuple(paths), query, failed)
    uses = list(state.uses)
    for path in paths:
        entry = memory.entry(path)
        if entry is not None and lines is not None:
            memory = with_file(memory, replace(entry, focus=lines))
        memory = with_access(memory, path)
        if kind not in RETRIEVAL_KINDS:
            uses.append(Use(path, turn, *(lines or (1, 0))))
    return replace(
        state,
        memory=memory,
        operations=(*state.operations, operation)[-KEPT_OPERATIONS:],
        uses=tuple(uses[-KEPT_USES:]),
    )


def stamp(clock: Clock) -> str:
    """Return the clock's time as ISO 8601 in UTC."""
    return clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
