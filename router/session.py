"""Session: the working memory of one task, as agents, the command line and servers use it.

Each call is one whole step: it is on disk when the call returns. Calls that change what the agent sees return a short
status; their effect appears in the next context only.
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from codecards.errors import TargetNotFoundError, UsageError
from codecards.router import acts
from codecards.router.assemble.context import Context
from codecards.router.compress.compaction import Compaction, compact
from codecards.router.compress.digests import memo_for
from codecards.router.compress.tool_output import shown_output
from codecards.router.memory.bundle import Conflict, export_bundle, read_bundle
from codecards.router.memory.ledger import LedgerSummary
from codecards.router.memory.operations import ToolCall
from codecards.router.memory.state import SessionState, TaskSpec, new_state, report_of
from codecards.router.memory.store import SessionStore, StoredSession
from codecards.router.memory.working_memory import ClosedFileSummary, MemoryFile, TodoItem, WorkingMemory
from codecards.router.notes.archive import Archive, time_stamp
from codecards.router.notes.note import Note, NoteDraft
from codecards.router.policy.new_task import N_HITS, initial_files
from codecards.router.policy.piecewise_reads import piecewise_hints
from codecards.router.policy.repeat_questions import RecallAnswer, answer_question
from codecards.router.policy.routing import RoutingAction
from codecards.router.ports import Project
from codecards.router.profiles import SessionSettings, profile_named
from codecards.router.turn import TurnRequest
from codecards.router.turn_runner import TurnRunner

logger = logging.getLogger(__name__)


class Session:
    """One task's working memory, on disk between calls; several processes may share it."""

    def __init__(
        self,
        store: SessionStore,
        name: str,
        project: Project,
        archive: Archive,
        settings: SessionSettings | None = None,
    ) -> None:
        """Open an existing session; `Session.start` makes a new one.

        Raises:
            TargetNotFoundError: The session does not exist.
        """
        settings = settings or SessionSettings()
        self.name = name
        self._project, self._archive = project, archive
        self._stored = StoredSession(store, name, settings.clock)
        profile = profile_named(self.state.profile)
        turn, self._window = settings.turn or profile.turn, settings.window or profile.window
        self._count, self._mask, self._summariser = turn.count, settings.mask, settings.summariser
        self._turns = TurnRunner(self._stored, project, archive, turn, self._window, traces_turns=settings.traces_turns)

    @classmethod
    def start(
        cls,
        store: SessionStore,
        name: str,
        project: Project,
        archive: Archive,
        task: TaskSpec,
        settings: SessionSettings | None = None,
    ) -> "Session":
        """Return a new session.

        Raises:
            UsageError: The goal is empty, the budget is not positive, the profile is unknown, or the session exists.
        """
        settings = settings or SessionSettings()
        profile_named(task.profile)
        if not task.goal.strip() or task.budget_tokens <= 0:
            raise UsageError("A session needs a goal and a budget of more than 0 tokens.")
        task = replace(task, goal=settings.mask(task.goal.strip()))
        with store.locked(name):
            if store.exists(name):
                raise UsageError(f"The session {name!r} already exists; continue it, or choose another name.")
            store.save(new_state(name, task, time_stamp(settings.clock)))
        return cls(store, name, project, archive, settings)

    @property
    def state(self) -> SessionState:
        """The state as of the last call."""
        return self._stored.state

    @property
    def memory(self) -> WorkingMemory:
        """The working memory as of the last call."""
        return self.state.memory

    @property
    def last_actions(self) -> tuple[RoutingAction, ...]:
        """The router's decisions in the last turn that this object ran."""
        return self._turns.last_actions

    # Turns

    def before_generation(
        self, user_input: str = "", *, environment: Mapping[str, str] | None = None, tool_schema: str = ""
    ) -> Context:
        """Begin a turn: refresh, route, assemble. Returns the context for the model's next answer.

        Raises:
            BudgetTooSmallError: Goal and constraints do not fit; the session is unchanged.
        """
        return self._turns.run(TurnRequest(self._mask(user_input), environment or {}, tool_schema))

    def preview(self, user_input: str = "") -> Context:
        """Return the context that a turn would give now, and leave the session unchanged.

        Raises:
            BudgetTooSmallError: Goal and constraints do not fit.
        """
        return self._turns.preview(TurnRequest(self._mask(user_input)))

    def rebuild(self, goal: str, constraints: Iterable[str] | None = None, *, tool_schema: str = "") -> Context:
        """Begin another task in this session, and return its first context.

        The files of the old task leave, except for pinned ones. Related modules, related tests and recently changed
        files enter as digests.

        Raises:
            UsageError: The goal is empty.
            BudgetTooSmallError: Goal and constraints do not fit.
        """
        if not goal.strip():
            raise UsageError("A task needs a goal.")
        project, masked = self._project, self._mask(goal)
        project.refresh()
        hits, recent = project.recaller.recall(masked, N_HITS), project.recent()

        def step(state: SessionState) -> SessionState:
            changed = (*(change.path for change in reversed(state.memory.changes)), *recent)
            files = initial_files(hits, project.neighbours.near, changed, turn=state.memory.turn + 1)
            return acts.begin_task(state, masked, constraints, files)

        self._stored.update(step)
        return self.before_generation(goal, tool_schema=tool_schema)

    def recall(self, query: str, limit: int = 8) -> RecallAnswer:
        """Return folded hits of the project; a repeated question is refused while the index has not changed.

        Raises:
            UsageError: The query is empty.
        """
        if not query.strip():
            raise UsageError("recall needs a query.")
        state = self._stored.reload()
        answer, question = answer_question(self._project, state, query, limit)
        if answer.refusal is None:
            self._stored.update(acts.record_question, question, answer.references)
        else:
            logger.info("question refused", extra={"session": self.name, "turn": state.memory.turn})
        return answer

    select = recall
    """Alias: anchors, summaries and paths come back, and the caller chooses the files to open."""

    # Files

    def open_file(self, path: str, purpose: str, *, lines: tuple[int, int] | None = None) -> str:
        """Show a file in full from the next context on, and return a status.

        Raises:
            UsageError: The purpose is empty; it decides what is kept when the file is closed.
            TargetNotFoundError: The file does not exist.
            AmbiguousTargetError: Several files match.
        """
        if not purpose.strip():
            raise UsageError("open_file needs a purpose: what you want to learn or change in the file.")
        path = self._project.resolve_path(path)
        text = self._project.texts.read(path)
        if text is None:
            raise TargetNotFoundError(path, what="file")
        digest = self._project.digester.digest(path, text.text)
        opened = acts.OpenedFile(path, purpose.strip(), digest, text.text_hash, lines)
        self._stored.update(acts.open_file, opened)
        return f"opened {path}"

    inject = open_file
    """Alias."""

    def close_file(self, path: str) -> str:
        """Replace a file in the context by a memo for its purpose, and return a status.

        If a summariser was asked and its text is not used, the status says why.

        Raises:
            TargetNotFoundError: The file is not open.
        """
        with suppress(TargetNotFoundError):
            path = self._project.resolve_path(path)
        entry = self._stored.reload().memory.entry(path)
        if entry is None:
            raise TargetNotFoundError(path, what="open file", suggestions=[one.path for one in self.memory.files][:5])
        text = self._project.texts.read(path)
        memo, notice = ClosedFileSummary(path, "", entry.purpose, self.memory.turn), ""
        if text is not None:
            found = memo_for(text.text, entry.purpose, count=self._count, summariser=self._summariser)
            memo = replace(memo, text=found.words, handle=self._stored.keep(text.text))
            notice = found.notice
        self._stored.update(acts.close_file, memo)
        return f"closed {path}" + (f"; {notice}: the memo holds lines of the file" if notice else "")

    def drop_memo(self, path: str) -> str:
        """Remove the memo of a closed file, and return a status.

        Raises:
            TargetNotFoundError: There is no memo of the file.
        """
        with suppress(TargetNotFoundError):
            path = self._project.resolve_path(path)
        paths = [memo.path for memo in self._stored.reload().memory.memos]
        if path not in paths:
            raise TargetNotFoundError(path, what="memo", suggestions=paths[:5])
        self._stored.update(acts.drop_memo, path)
        return f"memo of {path} removed"

    def pin(self, path: str, *, pinned: bool = True) -> str:
        """Protect an open file from the router, or lift the protection; return a status."""
        return self._change_file(path, lambda entry: replace(entry, pinned=pinned), "pinned" if pinned else "unpinned")

    def focus(self, path: str, first_line: int, last_line: int) -> str:
        """Set the lines of an open file to show when the whole does not fit; return a status."""
        if not 1 <= first_line <= last_line:
            raise UsageError("Lines are 1-based, and the last line must not come before the first.")
        return self._change_file(path, lambda entry: replace(entry, focus=(first_line, last_line)), "focused")

    # The task

    def set_goal(self, goal: str, constraints: Iterable[str] | None = None) -> str:
        """Replace the goal, and the constraints if any are given; return a status."""
        if not goal.strip():
            raise UsageError("A task needs a goal.")
        self._stored.update(acts.set_goal, self._mask(goal), constraints)
        return "goal replaced"

    def set_budget(self, budget_tokens: int) -> str:
        """Change the token budget from the next context on, and return a status.

        Raises:
            UsageError: The budget is not positive.
        """
        if budget_tokens <= 0:
            raise UsageError("A session needs a budget of more than 0 tokens.")
        self._stored.update(lambda state: replace(state, budget_tokens=budget_tokens))
        return f"budget {budget_tokens} tokens"

    def set_status(self, status: str) -> str:
        """Enter another stage ("exploring", "implementing", "testing", "reviewing"), and return a status."""
        self._stored.update(acts.set_status, status)
        return f"status {status}"

    def add_constraint(self, constraint: str) -> str:
        """Add a constraint, and return a status."""
        self._stored.update(acts.add_constraint, constraint)
        return "constraint added"

    def set_todo(self, items: Sequence[TodoItem]) -> str:
        """Replace the to-do list, and return a status."""
        self._stored.update(acts.set_todo, items)
        return f"{len(items)} things to do"

    def set_open_questions(self, questions: Sequence[str]) -> str:
        """Replace the open questions, and return a status."""
        self._stored.update(acts.set_open_questions, questions)
        return f"{len(questions)} open questions"

    def show_block(self, name: str, *, shown: bool = True) -> str:
        """Show or hide a block: "files", "changes", "todo", "questions", "notes", "references", "memos", "signposts"."""
        self._stored.update(acts.show_block, name, shown=shown)
        return f"{name} {'shown' if shown else 'hidden'}"

    # Tool calls

    def record(self, call: ToolCall) -> str:
        """Record a call of the host's tools, or another event in the host, and return a status.

        A long result is compressed and capped; the original can be restored.
        """
        call = replace(call, reason=self._mask(call.reason))
        shown = self._shown(call.result)
        self._stored.update_window(acts.record_tool_call, call, shown, self._window, self._count)
        hints = piecewise_hints(call, self.state, self._project.texts, self._count)
        return "; ".join([f"recorded {call.kind}", *hints])

    def record_call(self, tool: str, call: str, result: str) -> str:
        """Add a call of the session itself (`open_file`, `recall` …) and its answer to the window; return a status.

        Such a call records its own effect. Its answer must still be visible: a model that does not see its calls
        answered repeats them.
        """
        shown = self._shown(result)
        self._stored.update_window(acts.record_answer, tool, call, shown, self._window, self._count)
        return f"recorded {tool}"

    # Conclusions

    def commit_note(
        self,
        title: str,
        conclusion: str,
        *,
        files: Sequence[str] = (),
        rejected: Sequence[str] = (),
        verification: str = "",
        leftovers: str = "",
        confidence: float = 1.0,
    ) -> Note:
        """Write a conclusion into the archive, anchored to its files, and return the note."""
        files, rejected, anchors = tuple(files), tuple(rejected), self._project.anchors_of(files)
        outcome, source = self.state.outcome, f"session {self.name} turn {self.memory.turn}"
        draft = NoteDraft(
            title, conclusion, anchors, files, rejected, verification, leftovers, outcome, confidence, source
        )
        note = self._archive.add(draft)
        self._stored.update(acts.add_note_reference, note.note_id, files)
        return note

    def compact(
        self, source: str | None = None, target_tokens: int = 1_000, preserve_keys: Sequence[str] = ()
    ) -> Compaction:
        """Return a text, or all but the newest block of the window, as structured fields.

        The original can be restored by its handle. Without a source, the result takes the place of the blocks. Open
        questions are added to the working memory.

        Raises:
            BudgetTooSmallError: The target can't hold even the empty result.
        """
        blocks = self._stored.reload().window.blocks
        text = "\n".join(block.text() for block in blocks[:-1]) if source is None else self._mask(source)
        result = compact(text, target_tokens, preserve_keys, count=self._count, summariser=self._summariser)
        self._stored.keep(text)
        n_blocks = max(0, len(blocks) - 1) if source is None else 0
        self._stored.update(acts.add_compaction, result, n_blocks)
        return result

    def restore(self, handle: str) -> str:
        """Return the original text behind a handle, byte for byte.

        Raises:
            TargetNotFoundError: The handle is unknown.
        """
        return self._stored.restore(handle)

    def end(self, outcome: str = "done", *, conclusion: str = "") -> Note | None:
        """End the session; a conclusion becomes a note, with the changed files and the open questions."""
        self._stored.update(lambda state: replace(state, outcome=outcome))
        if not conclusion.strip():
            return None
        memory = self.memory
        return self.commit_note(
            memory.task.goal,
            conclusion,
            files=tuple(dict.fromkeys(change.path for change in memory.changes)),
            leftovers="; ".join(memory.open_questions),
            verification="; ".join(f"{change.path}: {change.status}" for change in memory.changes),
        )

    def report(self) -> tuple[LedgerSummary, float | None, tuple[str, ...]]:
        """Return the tokens of the turns, the share of the shown lines that was used, and alarms."""
        return report_of(self._stored.reload())

    def export(self) -> bytes:
        """Return the working memory as a bundle for another agent."""
        return export_bundle(self.name, self._stored.reload().memory)

    def merge(self, data: bytes) -> tuple[Conflict, ...]:
        """Add another agent's bundle, and return the points on which both differ; there, this session's side is kept.

        Raises:
            StateFileError: The data is not a bundle.
        """
        return self._stored.update_with(acts.merge, read_bundle(data))

    def _change_file(self, path: str, change: Callable[[MemoryFile], MemoryFile], status: str) -> str:
        path = self._project.resolve_path(path)
        if self._stored.reload().memory.entry(path) is None:
            raise TargetNotFoundError(path, what="open file")
        self._stored.update(acts.change_file, path, change)
        return f"{status} {path}"

    def _shown(self, result: str) -> str:
        """Return a result as the window shows it; the original is kept under the handle in it."""
        masked = self._mask(result)
        if masked:
            self._stored.keep(masked)
        return shown_output(masked, self._count)
