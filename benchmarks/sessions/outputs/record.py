"""Records outputs: `python -m benchmarks.sessions.outputs.record [FOLDER]` runs the tools that this machine has.

Tools that are missing are skipped and named. The runs take some ten minutes of CPU; the stored file is the result of one.
"""

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.sessions.outputs import projects
from benchmarks.sessions.outputs.recorded import MARK, RecordedOutput, write_outputs
from codecards.router.compress.token_count import estimate_tokens

MIN_TOKENS = 2_000
MAX_TOKENS = 20_000
TIMEOUT_S = 240
PYTEST_FORMS = (
    "-v",
    "-v --tb=short",
    "-v --tb=line",
    "-vv --durations=20",
    "-v -rA --tb=native",
    "-v --no-header",
    "-v -s",
)
HERE = Path(__file__).parent


@dataclass(slots=True)
class Recorder:
    """Runs commands and keeps what they print."""

    folder: Path
    rng: random.Random = field(default_factory=lambda: random.Random(13))
    outputs: list[RecordedOutput] = field(default_factory=list)

    def mark(self) -> str:
        """Return a new mark."""
        return f"qzv{self.rng.randrange(16**7):07x}"

    def run(
        self,
        tool: str,
        command: str,
        folder: Path,
        marks: Sequence[str] = (),
        environment: Mapping[str, str] | None = None,
    ) -> str:
        """Run a command, and keep its output if it is long enough and names a failure."""
        marked = self.folder / "marks"
        marked.unlink(missing_ok=True)
        env = {**os.environ, "FAIL_FILE": str(marked), "PYTHONPATH": str(HERE), "NO_COLOR": "1", **(environment or {})}
        try:
            done = subprocess.run(
                ["bash", "-c", command], cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return ""
        text = done.stdout.decode("utf-8", "replace").replace(str(self.folder), "/build")
        text = re.sub(r"/\S*/site-packages/", "/venv/lib/python3.11/site-packages/", text)
        wanted = [*marks, *(marked.read_text().split() if marked.exists() else ())]
        found = tuple(mark for mark in dict.fromkeys(wanted) if mark in text)
        if found and MIN_TOKENS <= estimate_tokens(text) <= MAX_TOKENS:
            self.outputs.append(RecordedOutput(tool, command, text, found))
        return text


def pytest_outputs(recorder: Recorder, wanted: int) -> None:
    """Test modules of installed packages, in the forms that agents ask for."""
    modules = [path for name in ("networkx", "numpy") for path in _test_modules(name)]
    recorder.rng.shuffle(modules)
    for number, path in enumerate(modules):
        if sum(one.tool == "pytest" for one in recorder.outputs) >= wanted:
            return
        form = PYTEST_FORMS[number % len(PYTEST_FORMS)]
        given = {"FAIL_SEED": str(number), "FAIL_COUNT": str(1 + number % 3), "PYTHONDONTWRITEBYTECODE": "1"}
        command = f"{sys.executable} -m pytest -p failing_tests -p no:cacheprovider -W ignore {form} {path}"
        recorder.run("pytest", command, recorder.folder, environment=given)


def unittest_outputs(recorder: Recorder, wanted: int) -> None:
    """Modules of Python's own test suite."""
    names = "textwrap shlex configparser fractions statistics ipaddress heapq bisect copy decimal datetime calendar csv difflib"
    names += " enum functools itertools json.test_decode keyword locale operator optparse pathlib pprint random re string struct"
    names += (
        " tarfile time typing unicodedata urllib uuid weakref zipfile html base64 colorsys deque fnmatch getopt glob"
    )
    for number, name in enumerate(names.split()):
        if sum(one.tool == "unittest" for one in recorder.outputs) >= wanted:
            return
        module = f"test.test_{name}"
        given = {"FAIL_SEED": str(number), "FAIL_COUNT": str(1 + number % 3)}
        command = f"{Path(sys.executable).resolve()} {HERE / 'failing_tests.py'} {module}"
        recorder.run("unittest", command, recorder.folder, environment=given)


def main(arguments: Sequence[str]) -> None:
    """Record the outputs of all tools that are here."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(arguments[0] if arguments else scratch).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        recorder = Recorder(folder)
        for record in _recorders():
            before = len(recorder.outputs)
            record(recorder)
            print(f"{getattr(record, '__name__', record)}: {len(recorder.outputs) - before} outputs", file=sys.stderr)
    assert all(set(MARK.findall(one.text)) >= set(one.marks) for one in recorder.outputs)
    write_outputs(recorder.outputs)


def _recorders() -> Iterator[Callable[[Recorder], None]]:
    for program, record in projects.RECORDERS.items():
        if shutil.which(program):
            yield record
        else:
            print(f"{program} is not here", file=sys.stderr)
    yield lambda recorder: unittest_outputs(recorder, 30)
    yield lambda recorder: pytest_outputs(recorder, 110)


def _test_modules(package: str) -> list[Path]:
    folder = Path(str(__import__(package).__file__)).parent
    return sorted(path for path in folder.rglob("test_*.py") if path.stat().st_size > 4_000)


if __name__ == "__main__":
    main(sys.argv[1:])
