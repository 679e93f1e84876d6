"""Worker: the process that reads files' contents, so that a parser's crash or hang costs one file and not the run.

It is started as `python -P -m codecards.indexer.build.worker LIMIT` and speaks frames on its pipes: a frame is its length (4 bytes,
big endian) and its bytes. A request is the language in UTF-8, a zero byte, and the file's bytes; the answer is the
packed record. The process ends when its stdin does, and by itself when one file takes longer than its argument says (in
seconds): also where nobody is left who could end it.
"""

import faulthandler
import gc
import os
import signal
import struct
import sys
import warnings
from typing import BinaryIO

HEADER = struct.Struct(">I")


def read_frame(stream: BinaryIO) -> bytes | None:
    """Return the next frame's bytes, None at the end of the stream (also in the middle of a frame)."""
    header = stream.read(HEADER.size)
    if len(header) < HEADER.size:
        return None
    (size,) = HEADER.unpack(header)
    data = stream.read(size)
    return data if len(data) == size else None


def write_frame(stream: BinaryIO, data: bytes) -> None:
    """Write one frame and flush it.

    Raises:
        OSError: The other side is gone.
    """
    stream.write(HEADER.pack(len(data)) + data)
    stream.flush()


def main() -> int:
    """Answer requests until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group: the parent ends us
    warnings.simplefilter("ignore")  # PYTHONWARNINGS=error would end the process
    time_limit_s = float(sys.argv[1])
    silence = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - open as long as the process
    # A parser that hangs holds the interpreter, so no thread of Python's could end it; this one is not Python's.
    faulthandler.dump_traceback_later(time_limit_s, exit=True, file=silence)
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Whatever a library prints goes to stderr: stdout carries frames only.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    from codecards.indexer.cards.file_cards import record_of_bytes  # noqa: PLC0415 - after stdout is safe
    from codecards.indexer.cards.record import pack  # noqa: PLC0415

    gc.set_threshold(100_000)  # what a file's reading leaves behind holds no cycles worth looking for
    faulthandler.cancel_dump_traceback_later()
    while (request := read_frame(sys.stdin.buffer)) is not None:
        faulthandler.dump_traceback_later(time_limit_s, exit=True, file=silence)
        language, _, data = request.partition(b"\0")
        try:
            write_frame(answers, pack(record_of_bytes(data, language.decode())).to_frame())
        except BrokenPipeError:
            break
        faulthandler.cancel_dump_traceback_later()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
