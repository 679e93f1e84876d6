"""The deep lane of an engine: filled when somebody has time, used as far as it is filled, said in every answer."""

import json
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codecards.answers import RetrieverStatus
from codecards.config import Settings, settings_from_environment
from codecards.engine import Engine
from codecards.errors import WriterBusyError
from codecards.mcp.background import VectorBackfill
from codecards.mcp.served_project import ServedProject
from codecards.mcp.tools import answer
from codecards.retrieval.embed.onnx import OnnxEmbedder
from codecards.retrieval.vectors.transformer_model import STORE_FILE
from tests.codecards.mcp.test_served_project import eventually, never
from tests.support.indexed import write_repository

SHOP = """\
#- shop/tokens.py
class TokenStore:
    def purge(self, now):
        return [token for token in self.tokens if token.expires < now]
#- shop/login.py
from shop.tokens import TokenStore


def log_out(now):
    return TokenStore().purge(now)
"""
QUESTION = "how are expired tokens thrown away"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "shop", SHOP)


@pytest.fixture
def engine(root: Path) -> Iterator[Engine]:
    with Engine(root, Settings(n_workers=1)) as made:
        made.refresh()
        yield made


def transformer(retrievers: tuple[RetrieverStatus, ...]) -> RetrieverStatus:
    return next(lane for lane in retrievers if lane.name == "transformer_vectors")


def test_without_vectors_the_lane_is_off_and_says_how_it_is_filled(engine: Engine) -> None:
    for retrievers in (engine.status().retrievers, engine.recall(QUESTION).retrievers):
        assert not transformer(retrievers).ready
        assert "index --transformer" in transformer(retrievers).reason


def test_a_lane_that_is_filled_in_part_answers_and_says_how_far_it_is(engine: Engine) -> None:
    filled = engine.backfill_vectors(limit=1)
    n_cards = engine.status().n_cards
    assert (filled.n_new, filled.n_left) == (1, n_cards - 1)
    state = transformer(engine.status().retrievers)
    assert (state.ready, state.reason) == (True, f"1 of {n_cards} cards")
    assert transformer(engine.recall(QUESTION).retrievers).ready
    told: list[tuple[str, int, int]] = []
    assert engine.backfill_vectors(lambda *values: told.append(values)).n_left == 0
    assert told[-1] == ("embedding", n_cards, n_cards)
    assert transformer(engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")


def test_texts_to_embed_come_from_the_index_and_not_from_the_files(engine: Engine, root: Path) -> None:
    (root / "shop" / "tokens.py").unlink()
    (root / "shop" / "login.py").write_text("LATER = 1\n")
    filled = engine.backfill_vectors()
    assert (filled.n_new, filled.n_left) == (engine.status().n_cards, 0)


def test_a_name_needs_no_second_opinion(engine: Engine) -> None:
    engine.backfill_vectors()
    lane = transformer(engine.recall("TokenStore.purge").retrievers)
    assert not lane.ready
    assert "a name" in lane.reason


def test_the_score_of_a_hit_is_still_the_sum_of_its_terms(engine: Engine) -> None:
    engine.backfill_vectors()
    for hit in engine.recall(QUESTION).hits:
        assert sum(term.value for term in hit.terms) == pytest.approx(hit.score)


def test_vectors_outlive_generations_and_are_shared_by_engines(engine: Engine, root: Path) -> None:
    engine.backfill_vectors()
    text = (root / "shop" / "login.py").read_text()
    (root / "shop" / "login.py").write_text(text.replace("log_out", "leave"))
    engine.refresh(full=True)
    assert transformer(engine.status().retrievers).reason != ""
    with Engine(root, Settings(n_workers=1)) as other:
        assert other.backfill_vectors().n_new == 1
    assert transformer(engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Settings(transformer=False), "switched off"),
        (Settings(embedder="none"), "beside"),
        (Settings(embedder="minilm"), "beside"),
    ],
)
def test_a_lane_that_is_not_wanted_says_why_and_is_not_filled(root: Path, settings: Settings, why: str) -> None:
    with Engine(root, settings) as engine:
        engine.refresh()
        assert engine.backfill_vectors().n_new == 0
        assert why in transformer(engine.status().retrievers).reason
        assert why in transformer(engine.recall(QUESTION).retrievers).reason
        assert not (engine.folder.path / STORE_FILE).exists()


def test_the_environment_switches_it_off() -> None:
    assert not settings_from_environment({"CODECARDS_TRANSFORMER": "0"}).transformer
    assert settings_from_environment({}).transformer


def test_two_never_fill_it_at_a_time_and_a_reader_needs_no_turn(engine: Engine, root: Path) -> None:
    with Engine(root, Settings(n_workers=1)) as other:

        def meanwhile(_what: str, _n_done: int, _n_total: int) -> None:
            with pytest.raises(WriterBusyError):
                other.backfill_vectors()
            assert other.recall(QUESTION).hits

        assert engine.backfill_vectors(meanwhile).n_left == 0


def test_damaged_vectors_cost_the_lane_and_nothing_else(engine: Engine) -> None:
    engine.backfill_vectors()
    engine.close()
    (engine.folder.path / STORE_FILE).write_bytes(b"x" * 5000)
    assert engine.recall(QUESTION).hits
    assert not transformer(engine.status().retrievers).ready
    engine.backfill_vectors()
    assert transformer(engine.status().retrievers).ready


def test_vectors_of_a_model_that_was_changed_are_not_used(engine: Engine) -> None:
    engine.backfill_vectors()
    engine.transformer.close()
    store = engine.transformer._model.stored_vectors(engine.folder.path)
    assert store is not None
    store._connection.execute("UPDATE meta SET canary = ?", (bytes(len(store.probe_vectors.tobytes())),))
    store.close()
    with Engine(engine.root, Settings(n_workers=1)) as other:
        lane = transformer(other.recall(QUESTION).retrievers)
        assert (lane.ready, "other vectors" in lane.reason) == (False, True)


# the server


def test_a_server_fills_the_lane_by_itself_and_answers_meanwhile(root: Path) -> None:
    served = ServedProject(root, Settings(n_workers=1))
    try:
        served.start()
        assert served.refresh(never) is not None
        assert served.recall(QUESTION, 3, (), ()).hits
        assert eventually(
            lambda: transformer(served.engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")
        )
        assert transformer(served.recall(QUESTION, 3, (), ()).retrievers).ready
        told = answer(served, "recall", {"query": QUESTION}).value
        assert "transformer_vectors" in str(told["retrievers"]).split()
        (root / "shop" / "pay.py").write_text("def charge(card):\n    return card\n", encoding="utf-8")
        assert eventually(lambda: served.engine.status().n_files == 3)
        assert eventually(
            lambda: transformer(served.engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")
        )
    finally:
        served.close()


def test_a_read_only_server_uses_what_is_there_and_adds_nothing(root: Path) -> None:
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        engine.backfill_vectors(limit=1)
    served = ServedProject(root, Settings(n_workers=1), read_only=True)
    try:
        served.start()
        assert eventually(lambda: transformer(served.recall(QUESTION, 3, (), ()).retrievers).ready)
        assert transformer(served.engine.status().retrievers).reason.startswith("1 of ")
    finally:
        served.close()


def test_filling_waits_while_somebody_is_answered_and_ends_at_once(engine: Engine) -> None:
    filling = VectorBackfill(engine, lambda: False)
    with filling.paused():
        filling.start()
        filling.wake()
        assert not transformer(engine.status().retrievers).ready
        filling.close()
    assert filling._thread is not None
    filling._thread.join(10)
    assert not filling._thread.is_alive()
    assert not transformer(engine.status().retrievers).ready


def test_a_model_that_is_being_loaded_is_not_waited_for(root: Path) -> None:
    with Engine(root, Settings(n_workers=1)) as first:
        first.refresh()
        first.backfill_vectors()
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.transformer.waits_for_model = False
        recall = engine.recall(QUESTION)
        assert recall.hits
        assert "being loaded" in transformer(recall.retrievers).reason
        engine.transformer.load_model()
        assert transformer(engine.recall(QUESTION).retrievers).ready


def test_no_question_waits_while_a_model_of_low_priority_makes_the_first_vectors(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, go_on = threading.Event(), threading.Event()

    def slowly(self: OnnxEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        at_work.set()
        assert go_on.wait(60)
        return np.eye(len(texts), self.dimensions, dtype=np.float32)

    monkeypatch.setattr(OnnxEmbedder, "embed_documents", slowly)
    engine.transformer.waits_for_model = False
    filling = threading.Thread(target=engine.backfill_vectors)
    filling.start()
    try:
        assert at_work.wait(60)
        assert engine.recall(QUESTION).hits
        assert not transformer(engine.status().retrievers).ready
    finally:
        go_on.set()
        filling.join()


# the command line


def test_index_deep_fills_the_lane_and_tells_it(root: Path) -> None:
    command = [sys.executable, "-m", "codecards", "-C", str(root), "index", "--transformer"]
    told = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert told["transformer"]["new"] == told["cards"] > 0
    assert (told["transformer"]["left"], told["transformer"]["ready"]) == (0, True)
    again = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert "transformer vectors: 0 cards embedded; ready" in again
    status = subprocess.run([*command[:-2], "status"], capture_output=True, check=True, text=True).stdout
    assert "  transformer_vectors: ready\n" in status
