"""Background filling: a server fills the deep lane of a project when nothing else is to be done.

**Invariant:** it begins nothing while somebody is answered or the index is brought up to date, and it ends at once.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from codecards.engine import Engine
from codecards.errors import CodecardsError, SnapshotError, WriterBusyError

QUIET_S = 0.5
"""How long nobody must have asked before the next batch."""
FIRST_QUIET_S = 2.0
"""The same after the start: the first answer has the machine for itself."""
LONGEST_WAIT_S = 5.0
"""How long questions without a pause can hold a batch off."""
RETRY_S = 5.0
"""How soon to look again after another process that fills it, or after a fault."""
NICENESS = 15

_log = logging.getLogger(__name__)


class _Stopped(Exception):
    """The server ends, or there is a new generation to begin with; what was computed stays."""


class VectorBackfill:
    """One thread of low priority that fills the deep lane of an engine. Safe for several threads.

    Args:
        engine: Whose lane.
        is_busy: Whether the index is being brought up to date.
    """

    def __init__(self, engine: Engine, is_busy: Callable[[], bool]) -> None:
        self._engine = engine
        self._is_busy = is_busy
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._n_answering = 0
        self._quiet_from = 0.0
        """When the next batch may begin, if nobody asks until then."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, *, fills: bool = True) -> None:
        """Begin, unless the lane is switched off.

        Args:
            fills: Whether vectors may be added; else those that are there are used.
        """
        if self._thread is None and self._engine.transformer.is_on:
            self._quiet_from = time.monotonic() + FIRST_QUIET_S
            work = self._work if fills else self._open_or_reset
            self._thread = threading.Thread(target=work, name="codecards_deep", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Look at the newest generation."""
        self._wanted.set()

    def close(self) -> None:
        """End it; the batch that is under way is not waited for."""
        self._closing.set()
        self._wanted.set()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Begin no batch while somebody is answered."""
        with self._lock:
            self._n_answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_answering -= 1
                self._quiet_from = max(self._quiet_from, time.monotonic() + QUIET_S)

    # below: how it is done

    def _work(self) -> None:
        _lower_priority()
        while True:
            self._wanted.wait()
            if self._closing.is_set():
                return
            self._wanted.clear()
            self._open_or_reset()
            with suppress(_Stopped):
                self._fill()

    def _open_or_reset(self) -> None:
        """Load the model where there is something to compare with, so that no question waits for it."""
        with suppress(_Stopped):
            self._wait_until_quiet()
            if self._engine.transformer.has_store():
                self._engine.transformer.load_model()

    def _fill(self) -> None:
        try:
            self._engine.backfill_vectors(self._told)
        except SnapshotError as error:
            _log.info("deep lane: %s", error)  # it is made anew, and wakes us then
        except WriterBusyError:
            self._closing.wait(RETRY_S)
            self._wanted.set()
        except CodecardsError as error:
            _log.warning("the deep lane can't be filled: %s", error)

    def _told(self, _what: str, _n_done: int, _n_total: int) -> None:
        """Make room before each batch."""
        self._wait_until_quiet()
        if self._wanted.is_set():
            raise _Stopped

    def _wait_until_quiet(self) -> None:
        deadline = time.monotonic() + LONGEST_WAIT_S
        while self._is_busy() or (self._is_asked() and time.monotonic() < deadline):
            if self._closing.wait(0.02):
                break
        if self._closing.is_set():
            raise _Stopped

    def _is_asked(self) -> bool:
        return self._n_answering > 0 or time.monotonic() < self._quiet_from


def _lower_priority() -> None:
    """Let all other threads of the machine go first, where the system tells threads apart."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
