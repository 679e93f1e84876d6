"""Transformer vectors are computed in the background, used as far as they exist, and reported in every answer."""

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
from codecards.cli.print_answers import retriever_state
from codecards.config import Settings, settings_from_environment
from codecards.engine import Engine
from codecards.errors import WriterBusyError
from codecards.mcp.background import VectorBackfill
from codecards.mcp.served_project import ServedProject
from codecards.mcp.tools import answer
from codecards.retrieval.embed.onnx import OnnxEmbedder
from codecards.retrieval.vectors.transformer_model import STORE_FILE
from codecards.wire.answers import retriever_json
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
    return next(one for one in retrievers if one.name == "transformer_vectors")


def test_without_vectors_the_retriever_is_off_and_says_how_to_compute_them(engine: Engine) -> None:
    for retrievers in (engine.status().retrievers, engine.recall(QUESTION).retrievers):
        assert not transformer(retrievers).ready
        assert "index --transformer" in transformer(retrievers).reason


def test_a_partly_filled_store_is_used_and_reports_its_coverage(engine: Engine) -> None:
    filled = engine.backfill_vectors(limit=1)
    n_cards = engine.status().n_cards
    assert (filled.n_new, filled.n_left) == (1, n_cards - 1)
    state = transformer(engine.status().retrievers)
    assert (state.ready, state.share) == (True, 1 / n_cards)
    assert state.reason.startswith(f"1 of {n_cards} cards, {100 // n_cards} %; the rest takes about 1 s")
    assert "found by words, symbols and static vectors only" in state.reason
    assert retriever_json(state)["share"] == round(1 / n_cards, 4)
    assert retriever_state(state).startswith("in part (1 of")
    assert transformer(engine.recall(QUESTION).retrievers).ready
    reported: list[tuple[str, int, int]] = []
    assert engine.backfill_vectors(lambda *values: reported.append(values)).n_left == 0
    assert reported[-1] == ("embedding", n_cards, n_cards)
    assert transformer(engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")


def test_texts_to_embed_come_from_the_index_and_not_from_the_files(engine: Engine, root: Path) -> None:
    (root / "shop" / "tokens.py").unlink()
    (root / "shop" / "login.py").write_text("LATER = 1\n")
    filled = engine.backfill_vectors()
    assert (filled.n_new, filled.n_left) == (engine.status().n_cards, 0)


def test_a_name_does_not_use_transformer_vectors(engine: Engine) -> None:
    engine.backfill_vectors()
    status = transformer(engine.recall("TokenStore.purge").retrievers)
    assert not status.ready
    assert "a name" in status.reason


def test_the_score_of_a_hit_is_the_sum_of_its_terms(engine: Engine) -> None:
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
        (Settings(embedder="none"), "only with"),
        (Settings(embedder="minilm"), "only with"),
    ],
)
def test_without_transformer_vectors_the_status_says_why_and_none_are_computed(
    root: Path, settings: Settings, why: str
) -> None:
    with Engine(root, settings) as engine:
        engine.refresh()
        assert engine.backfill_vectors().n_new == 0
        assert why in transformer(engine.status().retrievers).reason
        assert why in transformer(engine.recall(QUESTION).retrievers).reason
        assert not (engine.folder.path / STORE_FILE).exists()


def test_the_environment_switches_transformer_vectors_off() -> None:
    assert not settings_from_environment({"CODECARDS_TRANSFORMER": "0"}).transformer
    assert settings_from_environment({}).transformer


def test_only_one_process_computes_vectors_while_readers_go_on(engine: Engine, root: Path) -> None:
    with Engine(root, Settings(n_workers=1)) as other:

        def concurrently(_stage: str, _n_done: int, _n_total: int) -> None:
            with pytest.raises(WriterBusyError):
                other.backfill_vectors()
            assert other.recall(QUESTION).hits

        assert engine.backfill_vectors(concurrently).n_left == 0


def test_a_damaged_store_disables_transformer_vectors_and_nothing_else(engine: Engine) -> None:
    engine.backfill_vectors()
    engine.close()
    (engine.folder.path / STORE_FILE).write_bytes(b"x" * 5000)
    assert engine.recall(QUESTION).hits
    assert not transformer(engine.status().retrievers).ready
    engine.backfill_vectors()
    assert transformer(engine.status().retrievers).ready


def test_vectors_of_a_changed_model_are_not_used(engine: Engine) -> None:
    engine.backfill_vectors()
    engine.transformer.close()
    store = engine.transformer._model.stored_vectors(engine.folder.path)
    assert store is not None
    store._connection.execute("UPDATE meta SET canary = ?", (bytes(len(store.probe_vectors.tobytes())),))
    store.close()
    with Engine(engine.root, Settings(n_workers=1)) as other:
        status = transformer(other.recall(QUESTION).retrievers)
        assert (status.ready, "other vectors" in status.reason) == (False, True)


# the server


def test_a_server_computes_vectors_in_the_background_and_answers_in_the_meantime(root: Path) -> None:
    served = ServedProject(root, Settings(n_workers=1))
    try:
        served.start()
        assert served.refresh(never) is not None
        assert served.recall(QUESTION, 3, (), ()).hits
        assert eventually(
            lambda: transformer(served.engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")
        )
        assert transformer(served.recall(QUESTION, 3, (), ()).retrievers).ready
        value = answer(served, "recall", {"query": QUESTION}).value
        assert "transformer_vectors" in str(value["retrievers"]).split()
        (root / "shop" / "pay.py").write_text("def charge(card):\n    return card\n", encoding="utf-8")
        assert eventually(lambda: served.engine.status().n_files == 3)
        assert eventually(
            lambda: transformer(served.engine.status().retrievers) == RetrieverStatus("transformer_vectors", True, "")
        )
    finally:
        served.close()


def test_a_read_only_server_uses_existing_vectors_and_adds_none(root: Path) -> None:
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


def test_the_backfill_waits_while_a_question_is_answered_and_stops_at_once(engine: Engine) -> None:
    backfill = VectorBackfill(engine, lambda: False)
    with backfill.paused():
        backfill.start()
        backfill.wake()
        assert not transformer(engine.status().retrievers).ready
        backfill.close()
    assert backfill._thread is not None
    backfill._thread.join(10)
    assert not backfill._thread.is_alive()
    assert not transformer(engine.status().retrievers).ready


def test_a_question_does_not_wait_for_the_model_to_load(root: Path) -> None:
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


def test_no_question_waits_while_a_low_priority_thread_computes_the_first_vectors(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, go_on = threading.Event(), threading.Event()

    def slowly(self: OnnxEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        started.set()
        assert go_on.wait(60)
        return np.eye(len(texts), self.dimensions, dtype=np.float32)

    monkeypatch.setattr(OnnxEmbedder, "embed_documents", slowly)
    engine.transformer.waits_for_model = False
    backfill = threading.Thread(target=engine.backfill_vectors)
    backfill.start()
    try:
        assert started.wait(60)
        assert engine.recall(QUESTION).hits
        assert not transformer(engine.status().retrievers).ready
    finally:
        go_on.set()
        backfill.join()


# the command line


def test_index_transformer_computes_vectors_and_reports_them(root: Path) -> None:
    command = [sys.executable, "-m", "codecards", "-C", str(root), "index", "--transformer"]
    value = json.loads(subprocess.run([*command, "--json"], capture_output=True, check=True).stdout)
    assert value["transformer"]["new"] == value["cards"] > 0
    assert (value["transformer"]["left"], value["transformer"]["ready"]) == (0, True)
    again = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    assert "transformer vectors: 0 cards embedded; ready" in again
    status = subprocess.run([*command[:-2], "status"], capture_output=True, check=True, text=True).stdout
    assert "  transformer_vectors: ready\n" in status
