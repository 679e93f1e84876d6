"""Rivals: requests to drivers and their answers, and codecards as one of them."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.sets.queries import LabelledQuery, QuerySource, Span
from benchmarks.systems.registry import SYSTEMS
from benchmarks.systems.rivals import Codecards, Driven, RivalUnavailableError, program

ECHO = """
import json, os, sys
request = json.load(sys.stdin)
for tree, queries in request["trees"].items():
    for query_id, text in queries:
        row = {"id": query_id, "results": [[text, request["depth"], request["level"]]], "query_ms": 2.5}
        print(json.dumps(row | {"verdict": os.environ["XDG_CACHE_HOME"]}))
"""


def ask(text: str) -> LabelledQuery:
    return LabelledQuery("1", "t", text, "python", "", ())


def test_a_driver_gets_the_request_and_its_lines_are_answers(tmp_path: Path) -> None:
    driver = tmp_path / "echo.py"
    driver.write_text(ECHO, encoding="utf-8")
    rival = Driven("echo", str(driver), settings={"level": 20})
    (answer,) = rival.answers({tmp_path: [ask("où ?")]}, tmp_path / "state", depth=10, repeat=1)
    assert answer.results == (Span("où ?", 10, 20),)
    assert (answer.query_ms, answer.verdict) == (2.5, str(tmp_path / "state"))


def test_a_driver_that_fails_makes_its_rival_unavailable(tmp_path: Path) -> None:
    driver = tmp_path / "bad.py"
    driver.write_text("raise SystemExit('no model here')", encoding="utf-8")
    with pytest.raises(RivalUnavailableError, match="bad: no model here"):
        list(Driven("bad", str(driver)).answers({tmp_path: [ask("x")]}, tmp_path, depth=10, repeat=1))


def test_a_program_of_a_missing_environment_is_an_error() -> None:
    with pytest.raises(RivalUnavailableError, match="before its environment was created"):
        program(None, "semble")


def test_every_system_can_be_created_and_has_its_own_name() -> None:
    names = [make().name for make in SYSTEMS.values()]
    assert len(set(names)) == len(SYSTEMS)


def test_this_project_is_measured_through_its_command_and_its_library(tmp_path: Path) -> None:
    tree, state = tmp_path / "tree", tmp_path / "state"
    tree.mkdir()
    (tree / "store.py").write_text("def purge_sessions(now):\n    return now\n", encoding="utf-8")
    rival = Codecards(embedder="none")
    rival.prepare(tmp_path)
    indexed = rival.index(tree, state)
    assert indexed.return_code == 0, indexed.errors
    assert rival.disk_bytes(tree, state) > 0
    recalled = rival.recall(tree, state, "purge_sessions")
    assert "store.py" in recalled.output
    (answer,) = rival.answers({tree: [ask("purge_sessions")]}, tmp_path / "states", depth=5, repeat=2)
    assert answer.results[0] == Span("store.py", 1, 2)
    assert len(answer.tokens) == len(answer.results)


def test_the_trees_of_one_repository_share_an_index(tmp_path: Path) -> None:
    source = QuerySource("owner/shop", "c0ffee")
    asked = {
        tmp_path / name: [replace(ask("purge_sessions"), id=name, tree=name, source=source)]
        for name in ("shop-1", "shop-2")
    }
    for tree, text in zip(asked, ("def purge_sessions(): ...\n", "\n\ndef purge_sessions(): ...\n"), strict=True):
        tree.mkdir()
        (tree / "store.py").write_text(text, encoding="utf-8")
        (tree / f"{tree.name.replace('-', '')}.py").write_text("limit = 1\n", encoding="utf-8")
    rival = Codecards(embedder="none")
    rival.prepare(tmp_path)
    answers = list(rival.answers(asked, tmp_path / "states", depth=5, repeat=1))
    assert [answer.results[0] for answer in answers] == [Span("store.py", 1, 1), Span("store.py", 3, 3)]
    assert [folder.name for folder in (tmp_path / "states").iterdir()] == ["owner+shop"]
