"""The errors that codecards raises on purpose, as one tree.

* CodecardsError
  - UsageError                    the call itself is wrong                       exit 2
    + BudgetTooSmallError         a token budget that is too small
  - TargetNotFoundError           a symbol, path or note that does not exist     exit 2
  - AmbiguousTargetError          a target that matches several things           exit 2
  - EditError                     an edit that can't be made as requested        exit 2
    + TextNotFoundError           the text to replace is not in the file
    + SeveralPlacesError          the text to replace occurs several times
  - ProjectError                  the project can't be read or written           exit 3
    + ProjectNotFoundError        the path does not exist, or is not a folder
    + ProjectUnreadableError      the folder can't be listed
    + OutsideProjectError         a path that leads outside the root
    + IndexWriteError             the index folder can't be written: read-only, disk full
    + SnapshotError               the index can't be used
      . SnapshotMissingError      nothing is indexed yet
      . SnapshotFormatError       written by another version
      . SnapshotDamagedError      its files contradict themselves
    + StateFileError              a session or note file that can't be read
    + ConfigurationError          an agent's configuration can't be read or changed
  - WriterBusyError               another process is writing the index           exit 4
  - EmbedderError                 a model can't be loaded or has drifted         exit 3

Messages say what happened, where, and what to do. Every error can be pickled, because it may cross processes.
"""

import errno
import os
from collections.abc import Sequence
from pathlib import Path

INTERRUPTED = 130
"""Exit code of a command that the user interrupted."""


class CodecardsError(Exception):
    """Base of every error raised on purpose; `exit_code` is the exit code of the command line."""

    exit_code = 3


class UsageError(CodecardsError):
    """The call itself is wrong: an empty query, an unknown option value."""

    exit_code = 2


class BudgetTooSmallError(UsageError):
    """A token budget is too small for what every context must contain.

    Attributes:
        budget_tokens: The budget.
        needed_tokens: The smallest budget that works.
    """

    def __init__(self, message: str, *, budget_tokens: int, needed_tokens: int) -> None:
        super().__init__(message)
        self.budget_tokens = budget_tokens
        self.needed_tokens = needed_tokens

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class TargetNotFoundError(CodecardsError):
    """Nothing has the requested name.

    Attributes:
        target: The name as given.
        suggestions: Similar names, best first.
    """

    exit_code = 2

    def __init__(self, target: str, *, what: str = "symbol or file", suggestions: Sequence[str] = ()) -> None:
        near = f" Near names: {', '.join(suggestions)}." if suggestions else ""
        super().__init__(f"No {what} is named {target!r} in this project.{near}")
        self.target = target
        self.suggestions = tuple(suggestions)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class AmbiguousTargetError(CodecardsError):
    """A target matches several things; the caller must choose.

    Attributes:
        target: The name as given.
        candidates: What it may mean, best first; each is an unambiguous target.
    """

    exit_code = 2

    def __init__(self, target: str, candidates: Sequence[str], *, total: int | None = None) -> None:
        count = len(candidates) if total is None else total
        shown = ", ".join(candidates[:10])
        super().__init__(f"{target!r} matches {count} things; use one of: {shown}.")
        self.target = target
        self.candidates = tuple(candidates)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class EditError(CodecardsError):
    """An edit can't be made as requested; nothing was changed."""

    exit_code = 2


class TextNotFoundError(EditError):
    """The text to replace is not in the file.

    Attributes:
        line: First line of the most similar text, 1-based; 0 if nothing is similar.
        nearest: The most similar text.
    """

    def __init__(self, where: str, *, line: int = 0, nearest: str = "") -> None:
        near = f" The most similar text is at line {line}:\n{nearest}" if line else " Nothing there is similar."
        super().__init__(f"The text to replace is not in {where}; copy it exactly.{near}")
        self.line = line
        self.nearest = nearest

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class SeveralPlacesError(EditError):
    """The text to replace occurs several times in the file.

    Attributes:
        lines: First line of each occurrence, 1-based; only the first ones if there are many.
    """

    def __init__(self, where: str, lines: Sequence[int], *, total: int | None = None) -> None:
        count = len(lines) if total is None else total
        shown = ", ".join(map(str, lines)) + (", …" if count > len(lines) else "")
        super().__init__(
            f"The text to replace occurs {count} times in {where}, at lines {shown}; "
            "include the lines around it, so that only one place matches."
        )
        self.lines = tuple(lines)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class ProjectError(CodecardsError):
    """The project can't be read or written."""


class ProjectNotFoundError(ProjectError):
    """The given path does not exist, or is not a folder."""


class ProjectUnreadableError(ProjectError):
    """The project's folder can't be listed."""


class OutsideProjectError(ProjectError):
    """A path leads outside the project's root; nothing was read."""


class IndexWriteError(ProjectError):
    """The index can't be written: read-only, or no space left. The previous index is intact."""


class SnapshotError(ProjectError):
    """The index can't be used."""


class SnapshotMissingError(SnapshotError):
    """Nothing is indexed here yet."""


class SnapshotFormatError(SnapshotError):
    """The index was written in a format that this version can't read."""


class SnapshotDamagedError(SnapshotError):
    """Files of the index are missing or contradict themselves."""


class TooManyFilesError(ProjectError):
    """The process, or the machine, may open no more files."""

    @classmethod
    def of(cls, error: OSError, path: object) -> "TooManyFilesError | None":
        """Return the error for a failure to open a path if it is this one, else None."""
        if error.errno not in (errno.EMFILE, errno.ENFILE):
            return None
        whose = "this process" if error.errno == errno.EMFILE else "the machine"
        return cls(
            f"{path} can't be opened: {whose} has as many files open as it may. Raise the limit (`ulimit -n 4096` in the "
            "shell that starts it), or hold fewer projects open (CODECARDS_MAX_OPEN_PROJECTS)."
        )

    @classmethod
    def behind(cls, error: BaseException, path: object) -> "TooManyFilesError | None":
        """Return the error if it is the reason of another one, which a library may give as text only; else None."""
        at: BaseException | None = error
        while at is not None:
            if isinstance(at, cls):
                return at
            if isinstance(at, OSError) and (found := cls.of(at, path)) is not None:
                return found
            if os.strerror(errno.EMFILE) in str(at):
                return cls.of(OSError(errno.EMFILE, ""), path)
            at = at.__cause__ or at.__context__
        return None


class StateFileError(ProjectError):
    """A session or note file can't be read; it was not changed."""


class ConfigurationError(ProjectError):
    """An agent's configuration file can't be read or changed; nothing was written."""


class WriterBusyError(CodecardsError):
    """Another process is writing the index.

    Attributes:
        owner_pid: The process that holds the lock, None if it is unknown.
        age_s: Seconds since it took the lock.
    """

    exit_code = 4

    def __init__(self, folder: Path | str, *, owner_pid: int | None, age_s: float) -> None:
        owner = f"process {owner_pid}" if owner_pid else "another process"
        super().__init__(
            f"{owner} has been writing the index in {folder} for {age_s:.0f} s; wait for it to end, or stop it."
        )
        self.owner_pid = owner_pid
        self.age_s = age_s

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


class EmbedderError(CodecardsError):
    """A model can't be loaded, or computes other vectors than the stored ones."""


def _rebuild(kind: type[CodecardsError], args: tuple[object, ...], state: dict[str, object]) -> CodecardsError:
    """Return the unpickled error, with its message and attributes."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error
