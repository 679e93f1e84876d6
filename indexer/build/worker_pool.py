"""A pool of worker processes that parse contents, and survive the death or hang of one of them.

The standard pools lose all jobs when one process dies, and run the host's `__main__` again when they spawn. These are plain
child processes on pipes, so that the file at fault is known and the other workers continue.
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

from codecards.environment import child_environment
from codecards.errors import TooManyFilesError
from codecards.indexer.build.worker import read_frame, write_frame
from codecards.indexer.cards.record import ContentRecord, PackedRecord, pack, record_without_cards, unpack
from codecards.indexer.problems import Reason

BYTES_A_PROCESS = 300_000
"""Another process is started for every so many bytes to parse: a start costs 0.2 s of CPU, as much as parsing them."""
MAX_WAITING = 64
"""Contents read from disk ahead of the workers; limits memory."""


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file to parse."""

    key: bytes
    """The key of its record."""
    language: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReadContent:
    """The response to a `Content`."""

    key: bytes
    packed: PackedRecord

    @property
    def record(self) -> ContentRecord:
        """The record, unpacked on each access: the packed form takes a third of the memory."""
        return unpack(self.packed)


class Workers:
    """Parses contents in up to `n_processes` processes, which start when needed; a context manager."""

    def __init__(self, n_processes: int | None = None, time_limit_s: float = 60.0) -> None:
        """Create a pool without starting a process.

        Args:
            n_processes: The largest number of processes; None for the number of usable cores.
            time_limit_s: How long parsing one file may take.
        """
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
        """End the idle processes; the pool can be used again afterwards."""
        with suppress(queue.Empty):
            while True:
                self._idle.get_nowait().close()

    def kill(self) -> None:
        """Kill all processes, also those that are parsing a file."""
        for process in list(self._started):
            process.kill()

    def read(self, contents: Iterable[Content]) -> Iterator[ReadContent]:
        """Yield the response to each content, in order.

        Args:
            contents: Consumed lazily, at most `MAX_WAITING` ahead.
        """
        jobs: queue.Queue[tuple[Content, queue.SimpleQueue[ReadContent | OSError]] | None] = queue.Queue(MAX_WAITING)
        stopped = threading.Event()
        threads: list[threading.Thread] = []
        n_bytes = 0
        waiting: list[queue.SimpleQueue[ReadContent | OSError]] = []
        try:
            for content in contents:
                if len(threads) < self.n_processes and n_bytes >= len(threads) * BYTES_A_PROCESS:
                    threads.append(threading.Thread(target=self._serve, args=(jobs, stopped), daemon=True))
                    threads[-1].start()
                n_bytes += len(content.data)
                answer: queue.SimpleQueue[ReadContent | OSError] = queue.SimpleQueue()
                jobs.put((content, answer))
                waiting.append(answer)
                if len(waiting) >= MAX_WAITING:
                    yield _answer(waiting.pop(0).get())
            while waiting:
                yield _answer(waiting.pop(0).get())
        finally:
            stopped.set()  # pending jobs are dropped: nobody waits for their results
            for _ in threads:
                jobs.put(None)
            for thread in threads:
                thread.join()

    def _serve(
        self,
        jobs: "queue.Queue[tuple[Content, queue.SimpleQueue[ReadContent | OSError]] | None]",
        stopped: threading.Event,
    ) -> None:
        """Pass jobs to one process until there are no more; a dead process is replaced."""
        process: _Process | None = None
        while (job := jobs.get()) is not None:
            if stopped.is_set():
                continue
            content, answer = job
            try:
                process = process or self._idle_or_new()
            except OSError as error:  # the reader must not wait for an answer that never comes
                answer.put(error)
                continue
            frame = process.ask(content)
            if frame is None:
                process.close()
                answer.put(ReadContent(content.key, pack(self._failure(process, content))))
                process = None
            else:
                answer.put(ReadContent(content.key, PackedRecord.from_frame(frame)))
        if process is not None:
            self._idle.put(process)

    def _idle_or_new(self) -> "_Process":
        with suppress(queue.Empty):
            return self._idle.get_nowait()
        process = _Process(self.time_limit_s)
        self._started.add(process)
        return process

    def _failure(self, process: "_Process", content: Content) -> ContentRecord:
        kind = content.language or "text"
        again = "run `codecards index --full` to try again"
        if process.timed_out:
            return record_without_cards(
                Reason.TIMED_OUT, f"reading it as {kind} took over {self.time_limit_s:.0f} s; {again}"
            )
        detail = f"reading it as {kind} ended the process (status {process.status}); {again}"
        return record_without_cards(Reason.WORKER_DIED, detail)


def _answer(answer: ReadContent | OSError) -> ReadContent:
    """Return the response to a content.

    Raises:
        OSError: No worker process could be started.
        TooManyFilesError: The reason is that no more files can be opened.
    """
    if isinstance(answer, OSError):
        raise TooManyFilesError.of(answer, "a worker process") or answer
    return answer


class _Process:
    """One worker process."""

    def __init__(self, time_limit_s: float) -> None:
        self._time_limit_s = time_limit_s
        # -P: the working directory may be an untrusted repository, from which nothing must be imported. Our own path
        # is passed on, so that the child finds the same codecards as this process.
        path = os.pathsep.join(entry for entry in sys.path if entry)
        self._child = subprocess.Popen(
            [sys.executable, "-P", "-m", "codecards.indexer.build.worker", str(time_limit_s)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(PYTHONPATH=path),
            close_fds=True,
        )
        self._stdin = cast(BinaryIO, self._child.stdin)
        self._stdout = cast(BinaryIO, self._child.stdout)
        self.timed_out = False

    @property
    def status(self) -> int | None:
        """The exit status, or the negative number of the signal that ended the process; None while it runs."""
        return self._child.returncode

    def ask(self, content: Content) -> bytes | None:
        """Return the frame of the record; None if the process died, or ended itself at the time limit."""
        started = time.monotonic()
        try:
            write_frame(self._stdin, content.language.encode() + b"\0" + content.data)
            frame = read_frame(self._stdout)
        except OSError:  # the process died while the request was written
            frame = None
        self.timed_out = frame is None and time.monotonic() - started >= self._time_limit_s
        return frame

    def kill(self) -> None:
        """Kill the process."""
        self._child.kill()

    def close(self) -> None:
        """End the process; kill it if it does not end within two seconds."""
        with suppress(OSError):
            self._stdin.close()
        try:
            self._child.wait(2)
        except subprocess.TimeoutExpired:
            self._child.kill()
            self._child.wait()
        self._stdout.close()


def usable_cores() -> int:
    """Return the number of cores that this process may use, at most 8: with more, the writer is the bottleneck."""
    if hasattr(os, "sched_getaffinity"):
        return min(8, len(os.sched_getaffinity(0)))
    return min(8, os.cpu_count() or 1)
