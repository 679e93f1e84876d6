"""Acts: what an agent does to its own working memory; each returns a short status and is on disk when it returns."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC

from codecards.errors import TargetNotFoundError, UsageError
from codecards.indexer.text.secrets import mask_secrets
from codecards.router.compress.digests import memo_for
from codecards.router.compress.excerpts import cap_output
from codecards.router.compress.summaries import SummariserConfig
from codecards.router.compress.tool_output import compress
from codecards.router.memory.ledger import LineUse
from codecards.router.memory.operations import KEPT_OPERATIONS, READ_KINDS, RETRIEVAL_KINDS, Operation
from codecards.router.memory.state import SessionState
from codecards.router.memory.store import SessionStore
from codecards.router.memory.window import ActionBlock, Message, WindowSettings, push
from codecards.router.memory.working_memory import (
    ClosedFileSummary,
    FileChange,
    MemoryFile,
    Mode,
    TodoItem,
    WorkingMemory,
    with_access,
    with_change,
    with_constraint,
    with_edited,
    with_file,
    with_memo,
    with_status,
    with_task,
    with_used_lines,
    without_file,
    without_memo,
)
from codecards.router.notes.archive import Clock, utc_now
from codecards.router.policy.piecewise_reads import piecewise_hint
from codecards.router.ports import Project
from codecards.router.profiles import profile_named
from codecards.router.turn import TurnSettings

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
        window: WindowSettings | None = None,
        clock: Clock = utc_now,
        summarising: SummariserConfig | None = None,
        mask: Callable[[str], str] = mask_secrets,
    ) -> None:
        self.name = name
        self._store, self._project = store, project
        self._clock, self._summarising, self._mask = clock, summarising, mask
        self._state = store.load(name)
        profile = profile_named(self._state.profile)
        self._settings, self._window = settings or profile.turn, window or profile.window

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
            old = memory.entry(path) or MemoryFile(path)
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

    inject = open_file
    """The article's name."""

    def close_file(self, path: str) -> str:
        """Take a file out of the context but for a memo for its purpose, and return a status.

        Where a summariser was asked and its words are not used, the status says why.

        Raises:
            TargetNotFoundError: It is not open.
        """
        with suppress(TargetNotFoundError):
            path = self._project.resolve_path(path)
        entry = self._reloaded().memory.entry(path)
        if entry is None:
            raise TargetNotFoundError(path, what="open file", suggestions=[one.path for one in self.memory.files][:5])
        text = self._project.texts.read(path)
        memo, notice = ClosedFileSummary(path, "", entry.purpose, self.memory.turn), ""
        if text is not None:
            found = memo_for(text.text, entry.purpose, count=self._settings.count, summarising=self._summarising)
            memo = replace(memo, text=found.words, handle=self._store.keep(self.name, text.text))
            notice = found.notice

        def closed(state: SessionState) -> SessionState:
            memory = with_memo(without_file(state.memory, path, "closed"), memo)
            return recorded(replace(state, memory=memory), "close", (path,))

        self._change(closed)
        return f"closed {path}" + (f"; {notice}: the memo holds lines of the file" if notice else "")

    def drop_memo(self, path: str) -> str:
        """Remove the memo of a closed file from the notebook, and return a status.

        Raises:
            TargetNotFoundError: There is none.
        """
        with suppress(TargetNotFoundError):
            path = self._project.resolve_path(path)
        if all(memo.path != path for memo in self._reloaded().memory.memos):
            raise TargetNotFoundError(path, what="memo", suggestions=[memo.path for memo in self.memory.memos][:5])
        self._change(lambda state: replace(state, memory=without_memo(state.memory, path)))
        return f"memo of {path} removed"

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

    def set_budget(self, budget_tokens: int) -> str:
        """Allow another number of tokens from the next context on.

        Raises:
            UsageError: It is none.
        """
        if budget_tokens <= 0:
            raise UsageError("A session needs a budget of more than 0 tokens.")
        self._change(lambda state: replace(state, budget_tokens=budget_tokens))
        return f"budget {budget_tokens} tokens"

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
        """Show or hide a block: "files", "changes", "todo", "questions", "notes", "references", "memos", "signposts"."""

        def switched(state: SessionState) -> SessionState:
            hidden = tuple(one for one in state.memory.hidden_blocks if one != name)
            return replace(state, memory=replace(state.memory, hidden_blocks=hidden if shown else (*hidden, name)))

        self._change(switched)
        return f"{name} {'shown' if shown else 'hidden'}"

    # Acts of the host

    def record(
        self,
        kind: str,
        *,
        paths: Sequence[str] = (),
        query: str = "",
        call: str = "",
        result: str = "",
        error: bool = False,
        reason: str = "",
        lines: tuple[int, int] | None = None,
    ) -> str:
        """Take note of something that happened in the host: a read, search, edit, run, reply, or prompt; return a status.

        Long results are compressed and capped; the whole stays restorable.
        """
        shown = self._capped(result)

        def noted(state: SessionState) -> SessionState:
            state = recorded(state, kind, tuple(paths), query=query, failed=error, lines=lines)
            operation, memory = state.operations[-1], state.memory
            if operation.writes:
                for path in paths:
                    memory = with_change(memory, FileChange(path, kind, self._mask(reason)))
            messages = _messages(operation, call or query or " ".join(paths), shown, error)
            return self._pushed(replace(state, memory=memory), messages)

        self._change(noted)
        hints = [hint for path in paths if lines and kind in READ_KINDS and (hint := self._piecewise_hint(path))]
        return "; ".join([f"recorded {kind}", *hints])

    def record_call(self, tool: str, call: str, result: str) -> str:
        """Take a tool's call and its answer into the window, and nothing else; return a status.

        For the session's own acts (`open_file`, `recall` …): they took note of themselves, but a model that does not
        see its calls answered makes them again.
        """
        shown = self._capped(result)

        def noted(state: SessionState) -> SessionState:
            # Tied to the act that it reports, so that it goes stale with it.
            act = state.operations[-1].number if state.operations else 0
            state = recorded(state, "call", ())
            messages = _messages(replace(state.operations[-1], kind=tool), call or tool, shown, is_error=False)
            return self._pushed(state, tuple(replace(message, operation=act) for message in messages))

        self._change(noted)
        return f"recorded {tool}"

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

    def _capped(self, result: str) -> str:
        """Return a result as it is shown: masked, compressed, cut; the whole is kept under the handle that is named."""
        masked = self._mask(result)
        if not masked:
            return ""
        handle = self._store.keep(self.name, masked)
        shown = cap_output(compress(masked), self._settings.count)
        return shown if shown == masked else f"{shown}\n[whole output: {handle}]"

    def _piecewise_hint(self, path: str) -> str:
        entry, text = self.memory.entry(path), self._project.texts.read(path)
        if text is None or (entry is not None and entry.mode is Mode.FULL):
            return ""
        return piecewise_hint(self._state.uses, path, text.text, self._settings.count)

    def _pushed(self, state: SessionState, messages: tuple[Message, ...]) -> SessionState:
        """Return the state with a block more in its window; what is squeezed out of it is kept."""
        window, squeezed = push(state.window, ActionBlock(messages), self._window, self._settings.count)
        for piece in squeezed:
            self._store.keep(self.name, piece.text)
        return replace(state, window=window)

    def _with_entry(self, path: str, change: Callable[[MemoryFile], MemoryFile], word: str) -> str:
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
        if operation.writes and kind not in ("delete", "rename"):
            memory = with_edited(memory, path)
        if lines is not None:
            memory = with_used_lines(memory, path, lines)
        memory = with_access(memory, path)
        if kind not in RETRIEVAL_KINDS:
            uses.append(LineUse(path, turn, *(lines or (1, 0))))
    return replace(
        state,
        memory=memory,
        operations=(*state.operations, operation)[-KEPT_OPERATIONS:],
        uses=tuple(uses[-KEPT_USES:]),
    )


def stamp(clock: Clock) -> str:
    """Return the clock's time as ISO 8601 in UTC."""
    return clock().astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _messages(operation: Operation, call: str, result: str, is_error: bool) -> tuple[Message, ...]:
    """Return the call and its response as a pair; what has no result is one message of the assistant."""
    call_id = f"c{operation.number}"
    if operation.kind == "prompt":
        return (Message("user", call, operation.turn, operation=operation.number),)
    if operation.kind in ("reply", "think") or not result:
        return (Message("assistant", call or result or operation.kind, operation.turn, operation=operation.number),)
    return (
        Message("assistant", call or operation.kind, operation.turn, call_id, operation.kind, False, operation.number),
        Message("tool", result, operation.turn, call_id, operation.kind, is_error, operation.number),
    )
