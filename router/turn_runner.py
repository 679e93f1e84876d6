"""Runs the turns of a stored session: gathers the input, runs the turn, saves the result and its trace."""

import time
from collections.abc import Iterator
from dataclasses import replace

from codecards.router import acts
from codecards.router.assemble.context import Context
from codecards.router.assemble.relevant_notes import notes_for_memory
from codecards.router.compress.excerpts import HANDLE, handle_of
from codecards.router.memory.state import SessionState
from codecards.router.memory.store import StoredSession
from codecards.router.memory.window import Message, WindowSettings
from codecards.router.notes.archive import Archive
from codecards.router.policy.routing import RoutingAction
from codecards.router.ports import FoldedHit, Project
from codecards.router.trace import TurnRecord, log_turn, write_trace
from codecards.router.turn import TurnInput, TurnRequest, TurnSettings, run_turn


class TurnRunner:
    """Runs the turns of one session."""

    def __init__(
        self,
        stored: StoredSession,
        project: Project,
        archive: Archive,
        settings: TurnSettings,
        window: WindowSettings,
        *,
        traces_turns: bool = False,
    ) -> None:
        """Take a session, what its turns read, and their settings; with `traces_turns` each turn is stored for replay."""
        self._stored, self._project, self._archive = stored, project, archive
        self._settings, self._window, self._traces_turns = settings, window, traces_turns
        self.last_actions: tuple[RoutingAction, ...] = ()
        """The router's decisions in the last turn."""

    def run(self, request: TurnRequest) -> Context:
        """Run a turn, save the session, and return the context.

        Raises:
            BudgetTooSmallError: Goal and constraints do not fit; the session is unchanged.
        """
        started = time.monotonic()
        outdated = self._project.refresh()
        if outdated:
            request = replace(request, environment={"index": outdated, **request.environment})
        stored = self._stored
        with stored.locked():
            before = stored.reload()
            turn_input = self._gather(before, request)
            result = run_turn(before, turn_input, self._settings)
            state = self._with_input(result.state, request.user_input)
            stored.save(state, snapshot=True)
            self.last_actions = result.actions
            took_ms = (time.monotonic() - started) * 1000
            if self._traces_turns:
                write_trace(stored.store, TurnRecord(before, turn_input, result, stored.now(), took_ms))
            self._keep_cut_texts(result.context, state, request.user_input)
        log_turn(stored.name, result, took_ms)
        return result.context

    def preview(self, request: TurnRequest) -> Context:
        """Return the context that a turn would give now, and leave the session unchanged.

        Raises:
            BudgetTooSmallError: Goal and constraints do not fit.
        """
        state = self._stored.reload()
        context = run_turn(state, self._gather(state, request), self._settings).context
        self._keep_cut_texts(context, state, request.user_input)
        return context

    def _gather(self, state: SessionState, request: TurnRequest) -> TurnInput:
        """Return everything that the turn reads from project and archive."""
        project = self._project
        references: tuple[FoldedHit, ...] = ()
        if request.user_input.strip():
            # An input such as "go on" says nothing by itself, so the goal is part of every query.
            references = project.references_for(f"{request.user_input} {state.memory.task.goal}")
        signals = project.signals(state.memory)
        notes = self._archive.notes(archived=False)
        return TurnInput(
            project.texts_for(state, signals),
            project.digester.digest,
            user_input=request.user_input,
            signals=signals,
            references=references,
            segments=notes_for_memory(notes, state.memory, project.anchors),
            environment={"now": self._stored.now(), **request.environment},
            tool_schema=request.tool_schema,
        )

    def _with_input(self, state: SessionState, user_input: str) -> SessionState:
        """Return the state with the user's input in its window."""
        if not user_input.strip():
            return state
        message = Message("user", user_input, state.memory.turn)
        state, shrunk = acts.push_messages(state, (message,), self._window, self._settings.count)
        for piece in shrunk:
            self._stored.keep(piece.text)
        return state

    def _keep_cut_texts(self, context: Context, state: SessionState, user_input: str) -> None:
        """Keep the originals of the texts that the context shows in part, so that their handles can be restored."""
        for text in _cut_texts(context, state, user_input):
            self._stored.keep(text)


def _cut_texts(context: Context, state: SessionState, user_input: str) -> Iterator[str]:
    handles = set(HANDLE.findall(context.text))
    messages = (message.text for block in state.window.blocks for message in block.messages)
    return (text for text in (user_input, *messages) if handle_of(text) in handles)
