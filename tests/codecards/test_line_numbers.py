"""No answer names a line past the end of its file, over random repositories."""

import contextlib
import io
import json
import re
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from unittest import mock
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from codecards.config import Settings
from codecards.mcp.resources import read_resource
from codecards.mcp.served_project import ServedProject
from codecards.mcp.tools import answer

FOUND = re.compile(r"(?P<path>[\w./-]+\.py):(?P<first>\d+)(?:-(?P<last>\d+))?")
DIGEST_LINE = re.compile(r"^\s*L?(\d+)(?:-(\d+))?[:\s]", re.MULTILINE)
N_TARGETS = 2
NAMES = ("alpha", "beta", "gamma")

_definition = st.builds(
    lambda name, called, n_before, is_method: (
        "\n" * n_before
        + (f"class {name.title()}:\n    def {name}(self):\n" if is_method else f"def {name}():\n")
        + "".join(f"        {one}()\n" if is_method else f"    {one}()\n" for one in called)
        + ("        " if is_method else "    ")
        + "return 1\n"
    ),
    st.sampled_from(NAMES),
    st.lists(st.sampled_from([*NAMES, "print", "json.dumps", "outside", "thing.alpha"]), max_size=3),
    st.integers(0, 12),
    st.booleans(),
)
_files = st.dictionaries(
    st.sampled_from(["one.py", "two.py", "pkg/three.py", "tests/test_four.py"]),
    st.lists(_definition, min_size=1, max_size=3).map("".join),
    min_size=2,
)


def _places(value: object) -> list[tuple[str, int]]:
    """Return all places that a JSON value names: by fields and within its texts."""
    if isinstance(value, str):
        return [(one["path"], int(one["last"] or one["first"])) for one in FOUND.finditer(value)]
    if isinstance(value, list):
        return [place for one in value for place in _places(one)]
    if not isinstance(value, dict):
        return []
    found = [place for one in value.values() for place in _places(one)]
    for path_key, line_keys in (
        ("path", ("line", "start_line", "end_line")),
        ("called_path", ("called_line",)),
    ):
        if value.get(path_key):
            found += [(value[path_key], value[key]) for key in line_keys if value.get(key)]
    return found


def _assert_within(root: Path, answers: dict[str, object]) -> int:
    n_places = 0
    for asked, value in answers.items():
        for path, line in _places(value):
            n_lines = len((root / path).read_text().splitlines())
            assert 1 <= line <= n_lines, (asked, path, line, n_lines)
            n_places += 1
    return n_places


COMMANDS = tuple(
    tuple(row.split("|"))
    for row in (
        "recall|alpha beta",
        "recall|alpha|--expand",
        "recall|alpha|--explain",
        "symbols|a",
        "callers|PATH::NAME",
        "callees|PATH::NAME",
        "show|PATH::NAME",
        "show|PATH",
        "show|PATH|--outline",
        "show|PATH|--digest",
        "show|PATH:1",
        "show|PATH:9999",
        "similar|PATH:1",
        "impact",
        "why-not|PATH|alpha",
        "files",
        "status",
    )
)
TOOLS: tuple[tuple[str, Mapping[str, object]], ...] = (
    ("recall", {"query": "alpha beta"}),
    ("recall", {"query": "alpha", "expand": True}),
    *(("symbol", {"name": "PATH::NAME", "want": want}) for want in ("definition", "callers", "callees", "impact")),
    ("symbol", {"name": "PATH"}),
    ("open_file", {"path": "PATH", "purpose": "read"}),
    ("context", {}),
    ("status", {}),
)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(files=_files)
@example(
    files={
        "far.py": "from short import beta\n" + "\n" * 20 + "def alpha():\n    beta()\n    print(1)\n",
        "short.py": "def beta():\n    return 1\n",
    }
)
def test_no_line_number_points_past_the_end_of_its_file(files: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve() / "project"
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        assert "generation 1" in _printed(root, "index")
        answers: dict[str, object] = {}
        targets = [
            (path, str(row["name"]))
            for path in files
            for row in json.loads(_printed(root, "show", path, "--outline", "--json"))["outline"]
        ]
        for path, name in targets[:N_TARGETS]:
            for command in COMMANDS:
                words = [word.replace("PATH", path).replace("NAME", name) for word in command]
                answers[" ".join(words)] = _printed(root, *words)
                answers[" ".join([*words, "--json"])] = _json(_printed(root, *words, "--json"))
        project = ServedProject(root, Settings(), read_only=False, session="mcp")
        try:
            for path, name in targets[:N_TARGETS]:
                for tool, arguments in TOOLS:
                    given_ = {
                        key: one.replace("PATH", path).replace("NAME", name) if isinstance(one, str) else one
                        for key, one in arguments.items()
                    }
                    found = answer(project, tool, given_)
                    answers[f"{tool} {given_}"] = [found.value, found.text]
                answers[f"digest {path}"] = _digest(
                    path, read_resource({"project": project}, f"codecards://project/digest/{quote(path)}")
                )
        finally:
            project.close()
        assert _assert_within(root, answers)


def _printed(root: Path, *words: str) -> str:
    """Return what a command prints on stdout, run in this process."""
    printed = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")  # as `__main__` does
        from codecards.cli.app import main

        with mock.patch("sys.argv", ["codecards", "-C", str(root), *words]), contextlib.suppress(SystemExit):
            main()
    return printed.getvalue()


def _digest(path: str, text: str) -> list[dict[str, object]]:
    """Return the lines of a digest as places of its file."""
    return [{"path": path, "line": int(one[2] or one[1])} for one in DIGEST_LINE.finditer(text)]


def _json(text: str) -> object:
    return json.loads(text) if text.strip().startswith(("{", "[")) else text


def test_a_line_past_the_end_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("x = 1\n")
    for value in ("one.py:2  x", {"path": "one.py", "line": 2}, {"called_path": "one.py", "called_line": 2}):
        with pytest.raises(AssertionError):
            _assert_within(tmp_path, {"asked": [value]})
