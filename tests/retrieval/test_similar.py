"""Similar cards."""

from pathlib import Path

import pytest

from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.similar import similar
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed

REPOSITORY = """
#- export/csv_export.py
def export_csv(rows, path):
    \"\"\"Write rows of a report to a file with a header line.\"\"\"
    header = list(rows[0])
    with open(path, "w") as file:
        file.write(",".join(header))
        for row in rows:
            file.write(",".join(str(row[name]) for name in header))
#- export/excel.py
def export_excel(rows, path):
    \"\"\"Write rows of a report to a sheet with a header line.\"\"\"
    header = list(rows[0])
    sheet = make_sheet(path)
    sheet.append(header)
    for row in rows:
        sheet.append([row[name] for name in header])
#- auth/login.py
def log_in(user, password):
    if check(user, password):
        return open_session(user)
#- math/primes.py
def is_prime(number):
    return all(number % other for other in range(2, number))
"""


def card_id(made: IndexedText, name: str) -> int:
    return next(card.card_id for card in made.cards_by_id.values() if card.name == name)


@pytest.mark.parametrize("embedder", [None, WordEmbedder()])
def test_an_analogous_implementation_comes_first(tmp_path: Path, embedder: WordEmbedder | None) -> None:
    made = indexed(tmp_path, REPOSITORY, embedder=embedder)
    ranking = similar(made.index, made, card_id(made, "export_excel"))
    assert ranking.hits[0].card.name == "export_csv"
    assert ranking.verdict in ("found", "weak")
    for hit in ranking.hits:
        assert hit.card.name != "export_excel"
        assert sum(term.value for term in hit.terms) == pytest.approx(hit.score)


def test_filters_limit_similar_cards(tmp_path: Path) -> None:
    made = indexed(tmp_path, REPOSITORY)
    ranking = similar(made.index, made, card_id(made, "export_excel"), filters=Filters(paths=("auth/",)))
    assert "export_csv" not in [hit.card.name for hit in ranking.hits]


def test_a_unique_card_has_no_similar_card(tmp_path: Path) -> None:
    made = indexed(tmp_path, REPOSITORY)
    assert similar(made.index, made, card_id(made, "is_prime")).verdict == "none"
    assert similar(made.index, made, 10_000).verdict == "none"
