"""Limits how many projects a process holds open: those asked least recently are closed, and opened again when asked."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from codecards.errors import CodecardsError, TooManyFilesError

Opened = TypeVar("Opened")


class OpenProjects:
    """The open readers of a process, the least recently used first. Safe for several threads.

    A reader that is closed here goes on answering for whoever uses it: its files are closed when the last user is done.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._releases: OrderedDict[int, weakref.WeakMethod[Callable[[], object]]] = OrderedDict()

    def used(self, owner: object, release: Callable[[], object], limit: int) -> None:
        """Note that a project was asked; close others above the limit.

        Args:
            owner: Who holds the reader.
            release: A method of the owner that lets go of the reader.
            limit: Most projects open at a time.
        """
        with self._lock:
            self._releases.pop(id(owner), None)
            self._releases[id(owner)] = weakref.WeakMethod(release)
            surplus = [self._releases.popitem(last=False)[1] for _ in range(len(self._releases) - limit)]
        _release(surplus)

    def forget(self, owner: object) -> None:
        """Note that a project is closed."""
        with self._lock:
            self._releases.pop(id(owner), None)

    def release_others(self, owner: object) -> int:
        """Close half of the other projects, those asked least recently; return how many."""
        with self._lock:
            others = [key for key in self._releases if key != id(owner)]
            chosen = [self._releases.pop(key) for key in others[: (len(others) + 1) // 2]]
        _release(chosen)
        return len(chosen)

    def opened(self, owner: object, place: Path, open_it: Callable[[], Opened]) -> Opened:
        """Return what opens; if there are too many open files, close other projects and try again.

        Args:
            owner: As in `used`.
            place: What is opened, for the message.
            open_it: Opens it.

        Raises:
            TooManyFilesError: There is no other project to close.
        """
        while True:
            try:
                return open_it()
            except (OSError, CodecardsError) as error:
                too_many = TooManyFilesError.behind(error, place)
                if too_many is None:
                    raise
                if not self.release_others(owner):
                    raise too_many from error


def _release(chosen: "list[weakref.WeakMethod[Callable[[], object]]]") -> None:
    for reference in chosen:
        release = reference()
        if release is not None:
            release()


OPEN_PROJECTS = OpenProjects()
"""Those of this process."""
