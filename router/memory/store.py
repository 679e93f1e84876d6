"""Sessions on disk.

Each session is a folder with its state, the states after each turn, and the original texts that left its context.
"""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from codecards.errors import StateFileError, TargetNotFoundError, UsageError
from codecards.indexer.atomic_files import locked, set_aside, write_atomic
from codecards.router.compress.excerpts import handle_of
from codecards.router.memory.state import SessionState, decode_state, encode_state
from codecards.router.memory.window import Shrunk
from codecards.router.notes.archive import Clock, time_stamp

KEPT_SNAPSHOTS = 50
STATE, COPY = "state.json", "state.copy.json"
"""The state after the last call, and a second copy in case the first is damaged."""
ORIGINALS, TRACE = "originals", "trace"
"""Folders of a session: texts that left its context; inputs of its turns. The second can be deleted at any time."""
Args = ParamSpec("Args")
Extra = TypeVar("Extra")
_name = re.compile(r"[\w][\w.-]{0,79}")


class SessionStore:
    """The sessions of one project."""

    def __init__(self, folder: Path, *, prepare: Callable[[], None] = lambda: None) -> None:
        """Take the folder, usually `<root>/.codecards/sessions`, and a callback that runs before a session is written."""
        self.folder, self._prepare = folder, prepare
        self.notices: list[str] = []
        """Messages about repaired states."""

    def take_notices(self) -> list[str]:
        """Return the messages about states repaired since the last call."""
        notices, self.notices = self.notices, []
        return notices

    def names(self) -> list[str]:
        """Return the names of all sessions, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if (path / STATE).exists())

    def exists(self, name: str) -> bool:
        """Return whether the session exists."""
        return (self._folder(name) / STATE).exists()

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Lock the session against other processes while the body runs."""
        folder = self._folder(name)
        self._prepare()
        with locked(folder / "session.lock"):
            yield

    def load(self, name: str) -> SessionState:
        """Return a session's state; a damaged file is set aside and replaced by its copy or the last turn's state.

        Raises:
            TargetNotFoundError: The session does not exist.
            StateFileError: The state has a later format, or it is damaged and no earlier state is left.
        """
        try:
            return self.read(name)
        except StateFileError as error:
            if "is damaged" not in str(error):
                raise
            return self._restored(name, self._folder(name) / STATE, error)

    def read(self, name: str) -> SessionState:
        """Return a session's state without repairing it, for readers that must not write.

        Raises:
            TargetNotFoundError: The session does not exist.
            StateFileError: The state is damaged or has a later format.
        """
        path = self._folder(name) / STATE
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise TargetNotFoundError(name, what="session", suggestions=self.names()[:5]) from None
        except OSError as error:
            raise StateFileError(f"{path} can't be read: {error.strerror or error}.") from error
        return decode_state(data, str(path))

    def save(self, state: SessionState, *, snapshot: bool = False) -> SessionState:
        """Write a state, and return it with its new revision; call it under the lock.

        With `snapshot` the state is also kept as the state after its turn.
        """
        state = replace(state, revision=state.revision + 1)
        folder, data = self._folder(state.name), encode_state(state)
        if snapshot:
            write_atomic(folder / "turns" / f"{state.memory.turn:06d}.json", data)
            for old in self.snapshots(state.name)[:-KEPT_SNAPSHOTS]:
                old.unlink(missing_ok=True)
        write_atomic(folder / STATE, data)
        write_atomic(folder / COPY, data)
        return state

    def snapshots(self, name: str) -> list[Path]:
        """Return the files of the states after each turn, oldest first."""
        return sorted((self._folder(name) / "turns").glob("[0-9]*.json"))

    def state_after(self, name: str, turn: int) -> SessionState:
        """Return the state after a turn.

        Raises:
            TargetNotFoundError: The state was not kept.
        """
        path = self._folder(name) / "turns" / f"{turn:06d}.json"
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise TargetNotFoundError(f"{name} turn {turn}", what="state") from None
        return decode_state(data, str(path))

    def kept_turns(self, name: str) -> list[int]:
        """Return the turns whose states are kept, oldest first."""
        return [int(path.stem) for path in self.snapshots(name)]

    def trace_path(self, name: str) -> Path:
        """Return the file with the traces of the session's turns; see `codecards.router.trace`."""
        return self._folder(name) / TRACE / "turns.jsonl"

    def keep(self, name: str, text: str, *, shelf: str = ORIGINALS) -> str:
        """Store a text byte for byte, and return its handle; a shelf is a folder of the session."""
        handle = handle_of(text)
        path = self._folder(name) / shelf / f"{handle}.txt"
        if not path.exists():
            write_atomic(path, text.encode("utf-8", "surrogatepass"))
        return handle

    def restore(self, name: str, handle: str, *, shelf: str = ORIGINALS) -> str:
        """Return the text of a handle.

        Raises:
            TargetNotFoundError: No text is stored under the handle.
        """
        if not re.fullmatch(r"t-[0-9a-f]{12}", handle):
            raise TargetNotFoundError(handle, what="kept text")
        try:
            data = (self._folder(name) / shelf / f"{handle}.txt").read_bytes()
        except OSError:
            raise TargetNotFoundError(handle, what="kept text") from None
        return data.decode("utf-8", "surrogatepass")

    def forget(self, name: str, needed: Collection[str], *, shelf: str) -> None:
        """Delete the texts of a shelf, except for those of the needed handles."""
        for path in (self._folder(name) / shelf).glob("t-*.txt"):
            if path.stem not in needed:
                path.unlink(missing_ok=True)

    def _folder(self, name: str) -> Path:
        if not _name.fullmatch(name) or name.endswith("."):
            raise UsageError(f"{name!r} is not a valid session name: use letters, digits, '-', '_' and '.'.")
        return self.folder / name

    def _restored(self, name: str, path: Path, error: StateFileError) -> SessionState:
        for earlier in (path.with_name(COPY), *reversed(self.snapshots(name))):
            try:
                state = decode_state(earlier.read_bytes(), str(earlier))
            except (OSError, StateFileError):
                continue
            aside = set_aside(path)
            write_atomic(path, encode_state(state))
            loss = "nothing is lost" if earlier.name == COPY else "changes made since that turn began are lost"
            self.notices.append(
                f"{error}. It was kept as {aside.name}; the session continues from turn {state.memory.turn}: {loss}."
            )
            return state
        raise StateFileError(f"{error} No earlier state is left to restore; the file was left unchanged.") from error


class StoredSession:
    """One session of a store, with its state as of the last call."""

    def __init__(self, store: SessionStore, name: str, clock: Clock) -> None:
        """Load the session.

        Raises:
            TargetNotFoundError: The session does not exist.
        """
        self.store, self.name, self._clock = store, name, clock
        self.state = store.load(name)

    def now(self) -> str:
        """Return the time as ISO 8601 in UTC."""
        return time_stamp(self._clock)

    def locked(self) -> AbstractContextManager[None]:
        """Lock the session against other processes while the body runs."""
        return self.store.locked(self.name)

    def reload(self) -> SessionState:
        """Return the state that is on disk now."""
        self.state = self.store.load(self.name)
        return self.state

    def save(self, state: SessionState, *, snapshot: bool = False) -> None:
        """Write a state; call it under the lock. See `SessionStore.save`."""
        # A clock that was set back must not make the state look older than it is.
        state = replace(state, updated=max(state.updated, self.now()))
        self.state = self.store.save(state, snapshot=snapshot)

    def update(
        self, act: Callable[Concatenate[SessionState, Args], SessionState], *args: Args.args, **kwargs: Args.kwargs
    ) -> None:
        """Apply one whole state change, under the lock, to the state that is on disk now."""
        with self.locked():
            self.save(act(self.store.load(self.name), *args, **kwargs))

    def update_with(
        self,
        act: Callable[Concatenate[SessionState, Args], tuple[SessionState, Extra]],
        *args: Args.args,
        **kwargs: Args.kwargs,
    ) -> Extra:
        """Apply a state change like `update`, and return the second part of its result."""
        with self.locked():
            state, extra = act(self.store.load(self.name), *args, **kwargs)
            self.save(state)
        return extra

    def update_window(
        self,
        act: Callable[Concatenate[SessionState, Args], tuple[SessionState, tuple[Shrunk, ...]]],
        *args: Args.args,
        **kwargs: Args.kwargs,
    ) -> None:
        """Apply a state change, and keep the texts that leave the window for it."""

        def keep_shrunk(state: SessionState) -> SessionState:
            state, shrunk = act(state, *args, **kwargs)
            for piece in shrunk:
                self.keep(piece.text)
            return state

        self.update(keep_shrunk)

    def keep(self, text: str) -> str:
        """Store a text byte for byte, and return its handle."""
        return self.store.keep(self.name, text)

    def restore(self, handle: str) -> str:
        """Return the text of a handle.

        Raises:
            TargetNotFoundError: No text is stored under the handle.
        """
        return self.store.restore(self.name, handle)
