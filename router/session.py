"""Session: what an agent, a command line or a server calls; each call is one whole step, on disk when it returns.

Acts return a short status; what they show appears in the next context, and nowhere else.
"""

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from codecards.errors import CodecardsError, SnapshotError, UsageError
from codecards.indexer.text.secrets import mask_secrets
from codecards.router.acts import SessionActs, recorded, stamp
from codecards.router.assemble.context import Context, MemorySegment
from codecards.router.assemble.relevant_notes import relevant_notes
from codecards.router.compress.compaction import Compaction, compact
from codecards.router.compress.excerpts import HANDLE, handle_of
from codecards.router.compress.summaries import SummariserConfig
from codecards.router.memory.bundle import Conflict, export_bundle, merge_bundle, read_bundle
from codecards.router.memory.ledger import LedgerSummary
from codecards.router.memory.state import PastQuestion, SessionState, report_of
from codecards.router.memory.store import SessionStore
from codecards.router.memory.window import ActionBlock, Message, WindowSettings
from codecards.router.memory.working_memory import Mode, TaskState, WorkingMemory, with_task
from codecards.router.notes.archive import Archive, Clock, utc_now
from codecards.router.notes.note import Anchor, Note, NoteDraft, with_states
from codecards.router.policy.new_task import N_HITS, initial_files
from codecards.router.policy.repeat_questions import RepeatedQuestion, check_repeat
from codecards.router.policy.routing import RoutingAction
from codecards.router.ports import FoldedHit, Project
from codecards.router.profiles import profile_named
from codecards.router.session_defaults import DEFAULT_PROFILE
from codecards.router.trace import TurnRecord, log_turn, write_trace
from codecards.router.turn import TurnInput, TurnSettings, run_turn

logger = logging.getLogger(__name__)

KEPT_QUESTIONS = 50
TURN_REFERENCES = 5
"""Hits that a turn asks for by itself."""
FOLLOW_UP_WORDS = 3


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """Folded hits, or the reason why the question was not asked again."""

    references: tuple[FoldedHit, ...]
    refusal: RepeatedQuestion | None = None


class Session(SessionActs):
    """One task's working memory, on disk between calls; two processes may share it."""

    def __init__(
        self,
        store: SessionStore,
        name: str,
        project: Project,
        archive: Archive,
        *,
        settings: TurnSettings | None = None,
        window: WindowSettings | None = None,
        clock: Clock = utc_now,
        summarising: SummariserConfig | None = None,
        mask: Callable[[str], str] = mask_secrets,
        traces_turns: bool = False,
    ) -> None:
        """Open a session that exists; `Session.start` makes a new one.

        With `traces_turns` each turn is kept with all that made it (`codecards.router.trace`).

        Raises:
            TargetNotFoundError: There is no such session.
        """
        super().__init__(
            store, name, project, settings=settings, window=window, clock=clock, summarising=summarising, mask=mask
        )
        self._archive = archive
        self._traces_turns = traces_turns
        self.last_actions: tuple[RoutingAction, ...] = ()
        """The router's decisions of the last turn that this object took."""

    @classmethod
    def start(
        cls,
        store: SessionStore,
        name: str,
        project: Project,
        archive: Archive,
        *,
        goal: str,
        budget_tokens: int = 12_000,
        constraints: Iterable[str] = (),
        parent: str = "",
        profile: str = DEFAULT_PROFILE,
        settings: TurnSettings | None = None,
        window: WindowSettings | None = None,
        clock: Clock = utc_now,
        summarising: SummariserConfig | None = None,
        traces_turns: bool = False,
    ) -> "Session":
        """Return a new session.

        Raises:
            UsageError: The goal is empty, the budget is none, there is no such profile, or there is such a session.
        """
        profile_named(profile)
        if not goal.strip() or budget_tokens <= 0:
            raise UsageError("A session needs a goal and a budget of more than 0 tokens.")
        memory = WorkingMemory(TaskState(mask_secrets(goal.strip()), constraints=tuple(constraints)))
        now = stamp(clock)
        with store.locked(name):
            if store.exists(name):
                raise UsageError(f"There is a session {name!r} already; go on with it, or choose another name.")
            store.save(SessionState(name, memory, budget_tokens, now, now, profile=profile, parent=parent))
        return cls(
            store,
            name,
            project,
            archive,
            settings=settings,
            window=window,
            clock=clock,
            summarising=summarising,
            traces_turns=traces_turns,
        )

    # Turns

    def before_generation(
        self, user_input: str = "", *, environment: Mapping[str, str] | None = None, tool_schema: str = ""
    ) -> Context:
        """Begin a turn: refresh, route, assemble; the context is what the model is to see now.

        Raises:
            BudgetTooSmallError: Goal and constraints do not fit; nothing was changed.
        """
        asked, started = self._mask(user_input), time.monotonic()
        behind = self._project.refresh()
        with self._store.locked(self.name):
            before = state = self._store.load(self.name)
            given = self._given(
                state, asked, {**({"index": behind} if behind else {}), **(environment or {})}, tool_schema
            )
            result = run_turn(state, given, self._settings)
            state = result.state
            if asked.strip():
                state = self._pushed(state, (Message("user", asked, state.memory.turn),))
            self._state = self._store.save(self._stamped(state), snapshot=True)
            self.last_actions = result.actions
            took_ms = (time.monotonic() - started) * 1000
            if self._traces_turns:
                write_trace(self._store, TurnRecord(before, given, result, stamp(self._clock), took_ms))
            self._keep_cut(result.context, state, asked)
        log_turn(self.name, result, took_ms)
        return result.context

    def preview(self, user_input: str = "") -> Context:
        """Return the context that a turn would give now, without taking it: the session is not changed.

        Raises:
            BudgetTooSmallError: Goal and constraints do not fit.
        """
        state, asked = self._reloaded(), self._mask(user_input)
        context = run_turn(state, self._given(state, asked, {}, ""), self._settings).context
        self._keep_cut(context, state, asked)
        return context

    def rebuild(self, goal: str, constraints: Iterable[str] | None = None, *, tool_schema: str = "") -> Context:
        """Begin another task in this session, and return the context for it.

        The files of the old task leave, but for pinned ones; related modules, related tests and recently changed files
        come in as digests.

        Raises:
            UsageError: The goal is empty.
            BudgetTooSmallError: Goal and constraints do not fit.
        """
        if not goal.strip():
            raise UsageError("A goal needs words.")
        project, masked = self._project, self._mask(goal)
        project.refresh()
        hits, recent = project.recaller.recall(masked, N_HITS), project.recent()

        def begun(state: SessionState) -> SessionState:
            memory = with_task(state.memory, masked, constraints)
            kept = {entry.path: entry for entry in memory.files if entry.pinned}
            late = [*(change.path for change in reversed(memory.changes)), *recent]
            started = initial_files(hits, project.neighbours.near, late, turn=memory.turn + 1)
            new = (entry for entry in started if entry.path not in kept)
            return replace(state, memory=replace(memory, files=(*kept.values(), *new)))

        self._change(begun)
        return self.before_generation(goal, tool_schema=tool_schema)

    def _keep_cut(self, context: Context, state: SessionState, asked: str) -> None:
        """Keep the texts that the context shows cut, so that each handle in it gives back the whole."""
        named = set(HANDLE.findall(context.text))
        messages = (message.text for block in state.window.blocks for message in block.messages)
        for text in (asked, *messages):
            if handle_of(text) in named:
                self._store.keep(self.name, text)

    def _given(self, state: SessionState, asked: str, environment: Mapping[str, str], tool_schema: str) -> TurnInput:
        """Return what the project says in the turn that begins."""
        references: tuple[FoldedHit, ...] = ()
        if asked.strip():
            # "go on" alone says nothing: the goal is part of every question.
            references = self._recalled(f"{asked} {state.memory.task.goal}")
        signals = self._project.signals(state.memory)
        return TurnInput(
            self._project.texts_for(state, signals),
            self._project.digester.digest,
            user_input=asked,
            signals=signals,
            references=references,
            segments=self._segments(state.memory),
            environment={"now": stamp(self._clock), **environment},
            tool_schema=tool_schema,
        )

    def _recalled(self, query: str) -> tuple[FoldedHit, ...]:
        """Return hits; where there are none, those of one more question in the project's own words."""
        found = self._project.recaller.recall(query, TURN_REFERENCES)
        if not found and (words := self._project.vocabulary.near_words(query)):
            found = self._project.recaller.recall(" ".join(words[:FOLLOW_UP_WORDS]), TURN_REFERENCES)
        return tuple(found)

    def recall(self, query: str, limit: int = 8) -> RecallAnswer:
        """Return folded hits of the project; the same question again without news is refused with other words.

        Raises:
            UsageError: The query is empty.
        """
        if not query.strip():
            raise UsageError("recall needs a query.")
        state, generation = self._reloaded(), self._project.generation()
        near = self._project.vocabulary.near_words(query)
        refusal = check_repeat(query, state.memory.turn, state.asked, near, generation=generation)
        if refusal is not None:
            logger.info("question refused", extra={"session": self.name, "turn": state.memory.turn})
            return RecallAnswer((), refusal)
        references = tuple(self._project.recaller.recall(query, limit))[:limit]
        paths = tuple(dict.fromkeys(reference.path for reference in references))

        def asked(state: SessionState) -> SessionState:
            question = PastQuestion(query, state.memory.turn, tuple(ref.anchor for ref in references), generation)
            state = recorded(state, "recall", paths, query=query)
            return replace(state, asked=(*state.asked, question)[-KEPT_QUESTIONS:])

        self._change(asked)
        return RecallAnswer(references)

    select = recall
    """The article's name: anchors, summaries and paths; the caller decides what to open."""

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
        """Write a conclusion into the archive, tied to its files, and return the note."""
        note = self._archive.add(
            NoteDraft(
                title,
                conclusion,
                self._anchors(files),
                tuple(files),
                tuple(rejected),
                verification,
                leftovers,
                self._state.outcome,
                confidence,
                f"session {self.name} turn {self.memory.turn}",
            )
        )

        def referred(state: SessionState) -> SessionState:
            refs = tuple(dict.fromkeys((*state.memory.archive_refs, note.note_id)))
            return recorded(replace(state, memory=replace(state.memory, archive_refs=refs)), "note", tuple(files))

        self._change(referred)
        return note

    def compact(
        self, source: str | None = None, target_tokens: int = 1_000, preserve_keys: Sequence[str] = ()
    ) -> Compaction:
        """Return a text, or the acts of the window, as structured fields; the whole stays restorable by its handle.

        Without a source the window's acts but the newest are put away. Open questions are taken into the state.

        Raises:
            BudgetTooSmallError: The target can't even hold the empty result.
        """
        blocks = self._reloaded().window.blocks
        text = "\n".join(block.text() for block in blocks[:-1]) if source is None else self._mask(source)
        result = compact(text, target_tokens, preserve_keys, count=self._settings.count, summarising=self._summarising)
        self._store.keep(self.name, text)

        def compacted(state: SessionState) -> SessionState:
            questions = tuple(dict.fromkeys((*state.memory.open_questions, *result.open_questions)))[-12:]
            state = replace(state, memory=replace(state.memory, open_questions=questions))
            if source is None and len(blocks) > 1:
                message = Message("system", f"compacted: {result.as_text()}", state.memory.turn)
                kept = (ActionBlock((message,)), *state.window.blocks[len(blocks) - 1 :])
                state = replace(state, window=replace(state.window, blocks=kept))
            return state

        self._change(compacted)
        return result

    def restore(self, handle: str) -> str:
        """Return the whole text behind a handle, byte for byte.

        Raises:
            TargetNotFoundError: Nothing was kept under it.
        """
        return self._store.restore(self.name, handle)

    def end(self, outcome: str = "done", *, conclusion: str = "") -> Note | None:
        """End the session; a conclusion goes to the archive as a note, with changed files and open questions."""
        self._change(lambda state: replace(state, outcome=outcome))
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
        """Return tokens by turn, the share of the shown lines that was used, and alarms."""
        return report_of(self._reloaded())

    def export(self) -> bytes:
        """Return the effects of this session for another agent."""
        return export_bundle(self.name, self._reloaded().memory)

    def merge(self, data: bytes) -> tuple[Conflict, ...]:
        """Take in what another agent's bundle adds, and return where both differ; there our own side was kept.

        Raises:
            StateFileError: It is no bundle.
        """
        bundle = read_bundle(data)
        found: list[Conflict] = []

        def merged(state: SessionState) -> SessionState:
            memory, conflicts = merge_bundle(state.memory, bundle)
            found[:] = conflicts
            return replace(state, memory=memory)

        self._change(merged)
        return tuple(found)

    def _segments(self, memory: WorkingMemory) -> tuple[MemorySegment, ...]:
        """Return the notes that bear on the task, with the state of their ties."""
        notes = self._archive.notes(archived=False)
        files = [entry.path for entry in memory.files]
        changing = [entry.path for entry in memory.files if entry.mode is Mode.FULL]
        if memory.task.status not in ("implementing", "testing"):
            changing = []
        resolver = self._project.anchors
        if resolver is not None:
            paths = {*files, *changing}
            try:
                notes = [with_states(note, resolver) if note.all_paths() & paths else note for note in notes]
            except SnapshotError:  # nothing to check them against: they are shown as what they are
                found = relevant_notes(notes, goal=memory.task.goal, files=files, about_to_change=changing)
                return tuple(replace(segment, state="not checked") for segment in found)
        return relevant_notes(notes, goal=memory.task.goal, files=files, about_to_change=changing)

    def _anchors(self, files: Sequence[str]) -> tuple[Anchor, ...]:
        found: list[Anchor] = []
        resolver = self._project.anchors
        if resolver is None:
            return ()
        for path in files:
            try:
                found.append(resolver.resolve(path))
            except CodecardsError:
                continue  # a file that the index does not know is still named in the note
        return tuple(found)
