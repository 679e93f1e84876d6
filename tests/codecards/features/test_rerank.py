"""The configured reranker reorders the first hits, and the answer says whether it did."""

import importlib.util
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from codecards import Engine, Settings
from codecards.errors import EmbedderError, UsageError
from codecards.features.rerank import HitReranker
from tests.support.indexed import write_repository

REPOSITORY = "".join(
    f"#- m{number}.py\ndef hold_{number}():\n    '''Keep login tokens for a while.'''\n    return {number}\n"
    for number in range(12)
)


class Likes:
    """A model that prefers texts with one word, and records what it read."""

    def __init__(self, word: str) -> None:
        self.word = word
        self.read: list[str] = []

    def score(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return 1 for a text with the word."""
        self.read += texts
        return [float(self.word in text) for text in texts]


def engine_with(root: Path, model: Likes) -> Engine:
    """Return an indexed engine whose reranker is a stand-in."""
    engine = Engine(write_repository(root, REPOSITORY), Settings(n_workers=1, embedder="none"))
    engine.refresh()
    engine._reranker = HitReranker("stand-in", lambda _place: model)
    return engine


def test_the_best_card_of_the_model_comes_first_even_from_below_the_limit(tmp_path: Path) -> None:
    with engine_with(tmp_path, Likes("nothing")) as engine:
        before = engine.recall("keep login tokens", limit=10)
        tenth = before.hits[-1].card.name
        engine._reranker = HitReranker("stand-in", lambda _place: Likes(f"def {tenth}"))
        after = engine.recall("keep login tokens", limit=3)
    assert after.hits[0].card.name == tenth
    assert len(after.hits) == 3
    gain = {term.name: term.value for term in after.hits[0].terms}["reranker"]
    assert gain > 0
    assert sum(term.value for term in after.hits[0].terms) == pytest.approx(after.hits[0].score)


def test_the_model_reads_path_name_and_code_of_the_first_ten_hits_only(tmp_path: Path) -> None:
    model = Likes("nothing")
    with engine_with(tmp_path, model) as engine:
        first = engine.recall("keep login tokens", limit=12).hits[0].card
    assert len(model.read) == 10
    assert model.read[0].startswith(f"{first.path} {first.qualified_name}\ndef {first.name}():")


@pytest.mark.parametrize(("query", "was_used"), [("keep login tokens", True), ("hold_3", False), ("m3.py", False)])
def test_the_answer_says_whether_the_model_was_used(tmp_path: Path, query: str, was_used: bool) -> None:
    with engine_with(tmp_path, Likes("nothing")) as engine:
        retrievers = {lane.name: lane for lane in engine.recall(query).retrievers}
    assert retrievers["reranker"].ready is was_used
    assert bool(retrievers["reranker"].reason) is not was_used


def test_why_not_explains_the_order_of_the_model(tmp_path: Path) -> None:
    with engine_with(tmp_path, Likes("nothing")) as engine:
        ninth = engine.recall("keep login tokens", limit=10).hits[8].card
        assert engine.why_not(ninth.path, "keep login tokens").reason == "outranked"
        engine._reranker = HitReranker("stand-in", lambda _place: Likes(f"def {ninth.name}"))
        assert engine.why_not(ninth.path, "keep login tokens").reason == "found"


def test_a_folder_without_a_reranker_is_an_error_and_one_that_vanishes_is_off_in_the_status(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="There is no reranker"):
        Settings(reranker=str(tmp_path / "nowhere"))
    (tmp_path / "model").mkdir()
    settings = Settings(n_workers=1, embedder="none", reranker=str(tmp_path / "model"))
    (tmp_path / "model").rmdir()
    root = write_repository(tmp_path, REPOSITORY)
    with Engine(root, settings) as engine:
        engine.refresh()
        lane = engine.status().retrievers[-1]
        assert (lane.name, lane.ready) == ("reranker", False)
        assert "not a folder" in lane.reason
        with pytest.raises(EmbedderError, match="not a folder"):
            engine.recall("keep login tokens")


def test_the_command_line_reports_a_missing_requirement_in_one_line(tmp_path: Path) -> None:
    write_repository(tmp_path, REPOSITORY)
    command = [sys.executable, "-m", "codecards", "-C", str(tmp_path), "recall", "keep login tokens"]
    done = subprocess.run([*command, "--reranker", str(tmp_path)], capture_output=True, text=True, check=False)
    assert done.returncode == 3
    last_line = done.stderr.strip().split("\n")[-1]
    is_installed = importlib.util.find_spec("sentence_transformers") is not None
    assert ("can't be loaded" if is_installed else "install codecards[transformers]") in last_line
    assert "Traceback" not in done.stderr
