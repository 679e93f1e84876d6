"""Computes missing transformer vectors in the background of a server.

**Invariant:** no batch begins while a call is answered or the index is refreshed, and `close` takes effect at once.
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
"""Time without calls before the next batch."""
FIRST_QUIET_S = 2.0
"""The same after the start, so that the first answer has the machine for itself."""
LONGEST_WAIT_S = 5.0
"""Maximum time that continual calls delay a batch."""
RETRY_S = 5.0
"""Delay before the next attempt after an error, or while another process computes the vectors."""
NICENESS = 15

_log = logging.getLogger(__name__)


class _Stopped(Exception):
    """The server ends, or a new generation was committed; computed vectors stay."""


class VectorBackfill:
    """A low-priority thread that computes missing transformer vectors. Safe for several threads.

    Args:
        engine: The engine that stores the vectors.
        is_busy: Returns whether the index is being refreshed.
    """

    def __init__(self, engine: Engine, is_busy: Callable[[], bool]) -> None:
        self._engine = engine
        self._is_busy = is_busy
        self._wanted = threading.Event()
        self._closing = threading.Event()
        self._n_answering = 0
        self._quiet_from = 0.0
        """Time at which the next batch may begin unless a call comes before."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def start(self, *, fills: bool = True) -> None:
        """Start the thread unless transformer vectors are off.

        Args:
            fills: Compute missing vectors; otherwise only load the model for the existing ones.
        """
        if self._thread is None and self._engine.transformer.is_on:
            self._quiet_from = time.monotonic() + FIRST_QUIET_S
            work = self._work if fills else self._load_model
            self._thread = threading.Thread(target=work, name="codecards_transformer", daemon=True)
            self._thread.start()

    def wake(self) -> None:
        """Compute the vectors that the newest generation lacks."""
        self._wanted.set()

    def close(self) -> None:
        """End the thread without waiting for the current batch."""
        self._closing.set()
        self._wanted.set()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Begin no batch while a call is answered."""
        with self._lock:
            self._n_answering += 1
        try:
            yield
        finally:
            with self._lock:
                self._n_answering -= 1
                self._quiet_from = max(self._quiet_from, time.monotonic() + QUIET_S)

    def _work(self) -> None:
        _lower_priority()
        while True:
            self._wanted.wait()
            if self._closing.is_set():
                return
            self._wanted.clear()
            self._load_model()
            with suppress(_Stopped):
                self._fill()

    def _load_model(self) -> None:
        """Load the model if vectors exist, so that no question waits for it."""
        with suppress(_Stopped):
            self._wait_until_quiet()
            if self._engine.transformer.has_store():
                self._engine.transformer.load_model()

    def _fill(self) -> None:
        try:
            self._engine.backfill_vectors(self._on_progress)
        except SnapshotError as error:
            _log.info("transformer vectors: %s", error)  # the index is rebuilt, which wakes this thread
        except WriterBusyError:
            self._closing.wait(RETRY_S)
            self._wanted.set()
        except CodecardsError as error:
            _log.warning("can't compute transformer vectors: %s", error)

    def _on_progress(self, _what: str, _n_done: int, _n_total: int) -> None:
        """Wait before each batch until no call is answered."""
        self._wait_until_quiet()
        if self._wanted.is_set():
            raise _Stopped

    def _wait_until_quiet(self) -> None:
        deadline = time.monotonic() + LONGEST_WAIT_S
        while self._is_busy() or (self._is_answering() and time.monotonic() < deadline):
            if self._closing.wait(0.02):
                break
        if self._closing.is_set():
            raise _Stopped

    def _is_answering(self) -> bool:
        return self._n_answering > 0 or time.monotonic() < self._quiet_from


def _lower_priority() -> None:
    """Lower the priority of this thread; only Linux has priorities per thread."""
    if sys.platform == "linux":
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
