"""A worker that dies or hangs costs one file."""

import struct
import subprocess
import sys

from codecards.indexer.build.worker_pool import Content, Workers
from codecards.indexer.problems import Reason


def test_a_worker_without_a_parent_ends_itself_at_the_time_limit() -> None:
    command = [sys.executable, "-P", "-m", "codecards.indexer.build.worker", "0.3"]
    request = b"python\0" + b"x = [f(y) for y in z]\n" * 120_000
    orphan = subprocess.run(
        command, input=struct.pack(">I", len(request)) + request, capture_output=True, timeout=60, check=False
    )
    assert orphan.returncode != 0
    assert b"Traceback" not in orphan.stderr


def test_a_worker_that_dies_costs_one_file(workers: Workers) -> None:
    contents = [Content(bytes([n]), "python", b"def f%d():\n    return 1\n" % n) for n in range(5)]
    with Workers(n_processes=1, time_limit_s=0.001) as hasty:
        answers = list(hasty.read(contents[:1]))
    assert answers[0].record.contents.problems[0][0] in (Reason.TIMED_OUT, Reason.WORKER_DIED)
    assert [answer.record.facts.definitions[0].name for answer in workers.read(contents)] == [f"f{n}" for n in range(5)]
