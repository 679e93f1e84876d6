"""Session store: sessions on disk, each a folder with its state, those after each turn, and the texts it let go."""

import re
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from codecards.errors import StateFileError, TargetNotFoundError, UsageError
from codecards.indexer.atomic_files import locked, set_aside, write_atomic
from codecards.router.compress.excerpts import handle_of
from codecards.router.memory.state import SessionState, decode_state, encode_state

KEPT_SNAPSHOTS = 50
STATE, COPY = "state.json", "state.copy.json"
"""The state as of the last act, and the same once more, should the first be damaged."""
ORIGINALS, TRACE = "originals", "trace"
"""Folders of a session: texts that left its context; what its turns were made of, which can be deleted at any time."""
_name = re.compile(r"[\w][\w.-]{0,79}")


class SessionStore:
    """The sessions of one project."""

    def __init__(self, folder: Path, *, prepare: Callable[[], None] = lambda: None) -> None:
        """Take the folder, usually `<root>/.codecards/sessions`, and what is called before a session is written."""
        self.folder, self._prepare = folder, prepare
        self.notices: list[str] = []
        """What was repaired, in words."""

    def take_notices(self) -> list[str]:
        """Return what was repaired since the last call, in words."""
        notices, self.notices = self.notices, []
        return notices

    def names(self) -> list[str]:
        """Return the names of all sessions, sorted."""
        if not self.folder.is_dir():
            return []
        return sorted(path.name for path in self.folder.iterdir() if (path / STATE).exists())

    def exists(self, name: str) -> bool:
        """Return whether there is such a session."""
        return (self._folder(name) / STATE).exists()

    @contextmanager
    def locked(self, name: str) -> Iterator[None]:
        """Hold the session against other processes for the body."""
        folder = self._folder(name)
        self._prepare()
        with locked(folder / "session.lock"):
            yield

    def load(self, name: str) -> SessionState:
        """Return a session's state; a damaged file is set aside and its copy, or the last turn's, takes its place.

        Raises:
            TargetNotFoundError: There is no such session.
            StateFileError: It is of a later format, or damaged with no earlier state to go back to.
        """
        try:
            return self.read(name)
        except StateFileError as error:
            if "is damaged" not in str(error):
                raise
            return self._restored(name, self._folder(name) / STATE, error)

    def read(self, name: str) -> SessionState:
        """Return a session's state and repair nothing, for readers that must not write.

        Raises:
            TargetNotFoundError: There is no such session.
            StateFileError: It is damaged or of a later format.
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
        """Write a state, and return it with its new revision; call it under the lock."""
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
            TargetNotFoundError: It was not kept.
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
        """Return where the trace of its turns lies; see `codecards.router.trace`."""
        return self._folder(name) / TRACE / "turns.jsonl"

    def keep(self, name: str, text: str, *, shelf: str = ORIGINALS) -> str:
        """Keep a text byte for byte and return the handle that gives it back; a shelf is a folder of the session."""
        handle = handle_of(text)
        path = self._folder(name) / shelf / f"{handle}.txt"
        if not path.exists():
            write_atomic(path, text.encode("utf-8", "surrogatepass"))
        return handle

    def restore(self, name: str, handle: str, *, shelf: str = ORIGINALS) -> str:
        """Return the text of a handle.

        Raises:
            TargetNotFoundError: Nothing was kept under it.
        """
        if not re.fullmatch(r"t-[0-9a-f]{12}", handle):
            raise TargetNotFoundError(handle, what="kept text")
        try:
            data = (self._folder(name) / shelf / f"{handle}.txt").read_bytes()
        except OSError:
            raise TargetNotFoundError(handle, what="kept text") from None
        return data.decode("utf-8", "surrogatepass")

    def forget(self, name: str, needed: Collection[str], *, shelf: str) -> None:
        """Delete the texts of a shelf but for those of some handles."""
        for path in (self._folder(name) / shelf).glob("t-*.txt"):
            if path.stem not in needed:
                path.unlink(missing_ok=True)

    def _folder(self, name: str) -> Path:
        if not _name.fullmatch(name) or name.endswith("."):
            raise UsageError(f"{name!r} is no name for a session: use letters, digits, '-', '_' and '.'.")
        return self.folder / name

    def _restored(self, name: str, path: Path, error: StateFileError) -> SessionState:
        for earlier in (path.with_name(COPY), *reversed(self.snapshots(name))):
            try:
                state = decode_state(earlier.read_bytes(), str(earlier))
            except (OSError, StateFileError):
                continue
            aside = set_aside(path)
            write_atomic(path, encode_state(state))
            since = "nothing is lost" if earlier.name == COPY else "what was done since that turn began is lost"
            self.notices.append(
                f"{error}. It was kept as {aside.name}; the session goes on from turn {state.memory.turn}: {since}."
            )
            return state
        raise StateFileError(f"{error} There is no earlier state to go back to; the file was left as it is.") from error
