"""How well the class of a text is read: precision and recall of each class on `intents.tsv`.

Run with `-s` to see the table.
"""

from collections import Counter
from pathlib import Path

import pytest

from codecards.retrieval.query.query import read_query

LABELLED = Path(__file__).parent / "intents.tsv"
FLOORS: dict[str, tuple[float, float]] = {
    "function": (0.88, 0.93),
    "subject": (0.92, 0.85),
    "message": (0.93, 0.97),
    "symbol": (1.0, 1.0),
    "path": (1.0, 0.91),
    "trace": (1.0, 1.0),
    "report": (1.0, 1.0),
}
"""Class → least precision and recall: just under what was measured when the texts were labelled."""


def labelled_texts() -> list[tuple[str, str]]:
    """Return (class, text) of every row."""
    rows = [
        line.split("\t", 1) for line in LABELLED.read_text(encoding="utf-8").splitlines() if line[:1] not in ("#", "")
    ]
    return [(label, text.replace("\\n", "\n").replace("\\t", "\t")) for label, text in rows]


def class_of(text: str) -> str:
    """Return the class that the product reads a text as."""
    query = read_query(text)
    if query.kind != "question":
        return query.kind
    if query.is_issue:
        return "report"
    if query.intent.is_message:
        return "message"
    return "function" if query.intent.function >= 0.5 else "subject"


@pytest.fixture(scope="module")
def figures() -> dict[str, tuple[float, float]]:
    """Return class → precision and recall, and print them."""
    pairs = [(label, class_of(text)) for label, text in labelled_texts()]
    right = Counter(label for label, read in pairs if label == read)
    labelled, read_as = Counter(label for label, _ in pairs), Counter(read for _, read in pairs)
    found = {label: (right[label] / max(1, read_as[label]), right[label] / labelled[label]) for label in labelled}
    lines = [f"{label:10s} {labelled[label]:4d}  {one:.3f}  {other:.3f}" for label, (one, other) in found.items()]
    print("\n" + "\n".join(["class     texts  precision  recall", *lines]))  # noqa: T201 - shown with -s
    return found


@pytest.mark.parametrize("label", sorted(FLOORS))
def test_a_class_is_read_as_well_as_it_was(figures: dict[str, tuple[float, float]], label: str) -> None:
    precision, recall = figures[label]
    least_precision, least_recall = FLOORS[label]
    assert precision >= least_precision
    assert recall >= least_recall


def test_every_class_has_texts_and_a_floor() -> None:
    labels = Counter(label for label, _ in labelled_texts())
    assert set(labels) == set(FLOORS)
    assert min(labels.values()) >= 8
    assert sum(labels.values()) >= 200


def test_no_text_is_labelled_twice() -> None:
    texts = [text for _, text in labelled_texts()]
    assert len(set(texts)) == len(texts)
