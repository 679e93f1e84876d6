"""Workers: a few processes that read files' contents, and what is done when one dies or hangs.

The standard pools lose every job of the pool with one dead process, and run the host's `__main__` again when they
spawn; these are plain child processes on pipes, so that the file that did it is known and the others go on.
"""

import os
import queue
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Self, cast

from codecards.indexer.build.worker import read_frame, write_frame
from codecards.indexer.cards.record import ContentRecord, PackedRecord, pack, unpack, unread
from codecards.indexer.problems import Reason

BYTES_A_PROCESS = 300_000
"""A further process is started when so many bytes more are there to be read: a start costs 0.2 s of CPU, as much as
reading them."""
MAX_WAITING = 64
"""Contents read from disk ahead of the workers; bounds memory."""


@dataclass(frozen=True, slots=True)
class Content:
    """One file's bytes, to be read."""

    key: bytes
    """What the record is kept by."""
    language: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReadContent:
    """The answer to a `Content`."""

    key: bytes
    packed: PackedRecord

    @property
    def record(self) -> ContentRecord:
        """What the content says, unpacked when it is asked for: the stored form is a third as large."""
        return unpack(self.packed)


class Workers:
    """Reads contents in `n_processes` processes; to be used as a context manager. Processes start when first needed."""

    def __init__(self, n_processes: int | None = None, time_limit_s: float = 60.0) -> None:
        """Say how many processes at most (default: the usable cores) and how long one file may take."""
        self.n_processes = n_processes or usable_cores()
        self.time_limit_s = time_limit_s
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._started: weakref.WeakSet[_Process] = weakref.WeakSet()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the processes; the object can be used again afterwards."""
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def kill(self) -> None:
        """End all processes by force, also those that are in the middle of a file."""
        for process in list(self._started):
            process.kill()

    def read(self, contents: Iterable[Content]) -> Iterator[ReadContent]:
        """Yield the answer to each content, in the order given.

        Args:
            contents: Is asked for the next one only when there is room for it.
        """
        jobs: queue.Queue[tuple[Content, queue.SimpleQueue[ReadContent]] | None] = queue.Queue(MAX_WAITING)
        stopped = threading.Event()
        threads: list[threading.Thread] = []
        n_bytes = 0
        waiting: list[queue.SimpleQueue[ReadContent]] = []
        try:
            for content in contents:
                if len(threads) < self.n_processes and n_bytes >= len(threads) * BYTES_A_PROCESS:
                    threads.append(threading.Thread(target=self._serve, args=(jobs, stopped), daemon=True))
                    threads[-1].start()
                n_bytes += len(content.data)
                answer: queue.SimpleQueue[ReadContent] = queue.SimpleQueue()
                jobs.put((content, answer))
                waiting.append(answer)
                if len(waiting) >= MAX_WAITING:
                    yield waiting.pop(0).get()
            while waiting:
                yield waiting.pop(0).get()
        finally:
            stopped.set()  # jobs that nobody waits for any more are dropped
            for _ in threads:
                jobs.put(None)
            for thread in threads:
                thread.join()

    def _serve(
        self, jobs: "queue.Queue[tuple[Content, queue.SimpleQueue[ReadContent]] | None]", stopped: threading.Event
    ) -> None:
        """Hand jobs to one process until there are no more; a dead process is replaced."""
        process: _Process | None = None
        while (job := jobs.get()) is not None:
            if stopped.is_set():
                continue
            content, answer = job
            if process is None:
                process = self._take()
            frame = process.ask(content)
            if frame is None:
                process.close()
                answer.put(ReadContent(content.key, pack(self._failure(process, content))))
                process = None
            else:
                answer.put(ReadContent(content.key, PackedRecord.from_frame(frame)))
        if process is not None:
            self._idle.put(process)

    def _take(self) -> "_Process":
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        process = _Process(self.time_limit_s)
        self._started.add(process)
        return process

    def _failure(self, process: "_Process", content: Content) -> ContentRecord:
        kind = content.language or "text"
        again = "`codecards index --full` tries again"
        if process.timed_out:
            return unread(Reason.TIMED_OUT, f"reading it as {kind} took over {self.time_limit_s:.0f} s; {again}")
        detail = f"reading it as {kind} ended the process (status {process.status}); {again}"
        return unread(Reason.WORKER_DIED, detail)


class _Process:
    """One worker process."""

    def __init__(self, time_limit_s: float) -> None:
        self._time_limit_s = time_limit_s
        # -P: the current folder may be a stranger's repository and must not be imported from. Our own path is
        # handed on, so that the child finds the same codecards as this process.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "codecards.indexer.build.worker", str(time_limit_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"PYTHONPATH": path},
            close_fds=True,
        )
        self._stdin = cast(BinaryIO, self._child.stdin)
        self._stdout = cast(BinaryIO, self._child.stdout)
        self.timed_out = False

    @property
    def status(self) -> int | None:
        """How the process ended: the negative number of a signal, or its exit status."""
        return self._child.returncode

    def ask(self, content: Content) -> bytes | None:
        """Return the record's frame, None if the process died or ended itself because it took too long."""
        started = time.monotonic()
        try:
            write_frame(self._stdin, content.language.encode() + b"\0" + content.data)
            frame = read_frame(self._stdout)
        except OSError:  # it died while it was being written to
            frame = None
        self.timed_out = frame is None and time.monotonic() - started >= self._time_limit_s
        return frame

    def kill(self) -> None:
        """End the process by force."""
        self._child.kill()

    def close(self) -> None:
        """End the process, by force if it does not end by itself."""
        with suppress(OSError):
            self._stdin.close()
        try:
            self._child.wait(2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._stdout.close()


def usable_cores() -> int:
    """Return the number of cores that this process may use, at most 8 (beyond that the writer is the bottleneck)."""
    if hasattr(os, "sched_getaffinity"):
        return min(8, len(os.sched_getaffinity(0)))
    return min(8, os.cpu_count() or 1)
