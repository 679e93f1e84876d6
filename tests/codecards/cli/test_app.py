"""The command line: JSON on stdout, messages on stderr, and the documented exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.indexed import index_of, write_repository

REPO = "#- a.py\ndef one():\n    return two()\n\n\ndef two():\n    return 1\n"


def run(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "codecards", "-C", str(root), *arguments], capture_output=True, text=True, check=False
    )


def answer(root: Path, *arguments: str) -> dict[str, Any]:
    done = run(root, *arguments, "--json")
    assert done.returncode == 0, done.stderr
    value: dict[str, Any] = json.loads(done.stdout)
    return value


def test_index_query_change_and_clean(tmp_path: Path) -> None:
    write_repository(tmp_path, REPO)
    report = answer(tmp_path, "index")
    assert (report["generation"], report["complete"], report["cards"]) == (1, True, 2)
    recall = answer(tmp_path, "recall", "one", "--expand", "--explain")
    assert recall["verdict"] == "found"
    callers = answer(tmp_path, "callers", "two")
    assert [one["name"] for one in callers["callers"]] == ["one"]
    (tmp_path / "a.py").write_text("def three():\n    return 3\n")
    symbols = answer(tmp_path, "symbols")  # indexes the change first
    assert [one["name"] for one in symbols["symbols"]] == ["three"]
    answer(tmp_path, "clean")
    assert not index_of(tmp_path).path.exists()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("recall", ""), 2),
        (("recall",), 2),
        (("show", "nothing_here"), 2),
        (("show", "../../etc/passwd"), 3),
        (("frobnicate",), 2),
        (("recall", '((("unbalanced [std::vector<int>'), 0),
        (("recall", "the of and"), 0),
        (("recall", "x" * 50_000), 0),
    ],
)
def test_exit_codes(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    write_repository(tmp_path, REPO)
    done = run(tmp_path, *arguments)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_project_is_an_error_of_one_line(tmp_path: Path) -> None:
    done = run(tmp_path / "missing", "index")
    assert done.returncode == 3
    assert "does not exist" in done.stderr
    assert len(done.stderr.strip().split("\n")) == 1


def test_the_doctor_reports_damage_and_repairs_it(tmp_path: Path) -> None:
    write_repository(tmp_path, REPO)
    answer(tmp_path, "index")
    database = index_of(tmp_path).database
    database.write_bytes(database.read_bytes()[:4096])
    sick = run(tmp_path, "doctor")
    assert (sick.returncode, "fault:" in sick.stdout, "internal error" in sick.stderr) == (3, True, False)
    assert run(tmp_path, "doctor", "--repair").returncode == 0
    assert "no damage found" in run(tmp_path, "doctor").stdout


def test_indexing_an_unchanged_tree_imports_nothing_that_builds_or_ranks(tmp_path: Path) -> None:
    write_repository(tmp_path, REPO)
    os.utime(tmp_path / "a.py", (10**9, 10**9))  # a file with a recent time is read again
    answer(tmp_path, "index")
    code = (
        "import sys; from codecards.__main__ import main\ntry:\n    main()\nexcept SystemExit:\n    print(*sys.modules)"
    )
    command = [sys.executable, "-c", code, "-C", str(tmp_path), "index", "--json"]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")[1].split()
    builders = {"symbol_table", "edge_resolution", "workers", "generation", "reading"}
    heavy = {"numpy", "faiss", "tantivy", "tokenizers", "onnxruntime", "rich", "networkx", "tree_sitter"}
    assert "codecards.indexer.build.refresh" in loaded
    assert not heavy & set(loaded)
    assert not {f"codecards.indexer.{name}" for name in builders} & set(loaded)


@pytest.mark.seed("S0-7")
def test_the_doctor_lists_files_that_are_not_in_utf_8(tmp_path: Path) -> None:
    (tmp_path / "greet.py").write_bytes("# 登录超时后清理会话\ndef greet():\n    return 1\n".encode("gb18030"))
    (tmp_path / "plain.py").write_text("def plain():\n    return 'é'\n", encoding="utf-8")
    assert run(tmp_path, "index").returncode == 0
    done = run(tmp_path, "doctor", "--json")
    assert [(one["path"], one["encoding"]) for one in json.loads(done.stdout)["not_utf8"]] == [("greet.py", "gb18030")]


COMMANDS_AS_JSON = """\
import json
from importlib import import_module
import click
from typer.main import get_command, get_group
from codecards.cli.app import COMMANDS, app
group = get_command(app)
context = click.Context(group)
rows = []
for name, lazy in COMMANDS.items():
    command = group.get_command(context, name)
    rows.append([name, lazy.summary, lazy.hidden, command.help.split("\\n")[0], command.hidden])
groups = [get_group(import_module(module).app) for module in {one.module for one in COMMANDS.values()}]
defined = [name for one in groups for name in ([one.name] if one.name else one.commands)]
print(json.dumps({"rows": rows, "defined": defined}))
"""


def test_the_table_of_commands_is_complete_and_shows_the_commands_own_help() -> None:
    done = subprocess.run([sys.executable, "-c", COMMANDS_AS_JSON], capture_output=True, text=True, check=True)
    value = json.loads(done.stdout)
    assert sorted(value["defined"]) == sorted(name for name, *_ in value["rows"])
    for name, summary, hidden, own_help, is_hidden in value["rows"]:
        assert (name, summary, hidden) == (name, own_help, is_hidden)


def test_a_mistyped_command_gets_one_suggestion(tmp_path: Path) -> None:
    done = run(tmp_path, "indx")
    assert done.returncode == 2
    assert done.stderr.count("Did you mean 'index'?") == 1
