"""Static vectors and their calibration."""

from pathlib import Path

import numpy as np
import pytest

from codecards.indexer.store.derived import GenerationDiff
from codecards.retrieval.derive import DerivedIndexBuilder
from codecards.retrieval.vectors.build_card_vectors import build_card_vectors
from codecards.retrieval.vectors.calibration import Calibration, calibrate
from codecards.retrieval.vectors.card_vectors import CardVectors
from tests.support.indexed_text import WordEmbedder, indexed

REPOSITORY = "#- a.py\n" + "\n".join(
    f"def word{number}():\n    return 'alpha{number} beta{number}'\n" for number in range(40)
)


def unchanged(folder: Path) -> GenerationDiff:
    """Return the second generation of an index, in which nothing changes."""
    return GenerationDiff(folder / "1", folder / "2", (), frozenset(), (), lambda _entry: None)


def test_faiss_and_the_matrix_product_find_the_same_cards(tmp_path: Path) -> None:
    embedder = WordEmbedder()
    made = indexed(tmp_path, REPOSITORY, embedder=embedder)
    plain = made.index.vectors
    assert plain is not None
    change = unchanged(tmp_path)
    DerivedIndexBuilder(None).derive(change)
    build_card_vectors(change, embedder, faiss_from=1)
    with_faiss = CardVectors(change.new_folder / "vectors")
    assert (change.new_folder / "vectors" / "cards.faiss").exists()
    for text in ("alpha3 beta3", "word17", "return"):
        query = embedder.embed_queries([text])[0]
        _, expected = plain.similarity(query).nearest(5)
        similarity = with_faiss.similarity(query)
        rows, cosines = similarity.nearest(5)
        assert cosines == pytest.approx(expected, abs=1e-3)
        assert similarity.cards(rows) == pytest.approx(cosines, abs=1e-3)


@pytest.mark.parametrize("faiss_from", [1, 1_000])
def test_cached_similarities_equal_fresh_ones(tmp_path: Path, faiss_from: int) -> None:
    embedder = WordEmbedder()
    indexed(tmp_path, REPOSITORY, embedder=embedder)
    change = unchanged(tmp_path)
    DerivedIndexBuilder(None).derive(change)
    build_card_vectors(change, embedder, faiss_from=faiss_from)
    vectors = CardVectors(change.new_folder / "vectors")
    query = embedder.embed_queries(["alpha3 beta3"])[0]
    asked_before = vectors.similarity(query)
    asked_before.nearest(20)
    asked_before.cards(np.array([1, 3, 5]))
    for limit in (1, 5, 30):
        assert asked_before.nearest(limit)[1] == pytest.approx(vectors.similarity(query).nearest(limit)[1])
    rows = np.array([0, 3, 4, 5])
    assert asked_before.cards(rows) == pytest.approx(vectors.similarity(query).cards(rows))


@pytest.mark.seed("S2-27")
@pytest.mark.parametrize(("cosine", "value"), [(0.2, 0.5), (0.4, 0.7), (0.3, 0.6), (-1.0, 0.0), (1.0, 1.0)])
def test_the_scale_has_chance_at_a_half_and_the_floor_at_its_98th_percentile(cosine: float, value: float) -> None:
    assert Calibration(0.2, 0.4).calibrated(cosine) == pytest.approx(value)


def test_two_in_a_hundred_off_topic_questions_reach_the_floor() -> None:
    embedder = WordEmbedder()
    texts = [f"alpha{number} beta{number} where token" for number in range(200)]
    calibration = calibrate(embedder, embedder.embed_documents(texts).astype(np.float16))
    assert calibration.calibrated(calibration.high) == pytest.approx(0.7)
    assert calibration.middle < calibration.high


def test_an_index_without_cards_has_a_calibration() -> None:
    assert 0 <= calibrate(WordEmbedder(), np.zeros((0, 64), np.float16)).calibrated(0.3) <= 1
