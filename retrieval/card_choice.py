"""Card choice: which card is shown for a file, and in which order cards come."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from codecards.retrieval.column_building import runs
from codecards.retrieval.columns import KINDS, Floats, Int64s
from codecards.retrieval.derived_index import DerivedIndex
from codecards.retrieval.file_evidence import Evidence
from codecards.retrieval.filters import Filters
from codecards.retrieval.stack_frames import Frame
from codecards.retrieval.symbol_evidence import NamedCards
from codecards.retrieval.text_evidence import share_of
from codecards.retrieval.vector_lane import Similarity
from codecards.retrieval.weights import ASKED_SYMBOL, CARD

_PART, _DECLARATION = KINDS.index("part"), KINDS.index("declaration")


@dataclass(frozen=True, slots=True)
class CardScores:
    """The candidates' cards, and what speaks for each; K cards."""

    cards: Int64s
    """(K,): rows, ascending."""
    card_file: Int64s
    """(K,): place in the candidate files."""
    terms: Mapping[str, Floats]
    """Name → (K,): already weighted."""
    total: Floats
    """(K,): their sum."""


def score_cards(
    index: DerivedIndex,
    evidence: Evidence,
    named: Sequence[NamedCards],
    frames: Mapping[int, float],
    similarity: Similarity | None,
    filters: Filters,
    *,
    is_symbol_asked: bool,
) -> CardScores:
    """Return what speaks for each card that may be shown.

    Args:
        index: The index.
        evidence: Of the candidate files.
        named: Exact definitions of the query's names.
        frames: Card row → how surely a stack frame lies in it.
        similarity: How near cards are; None without vectors.
        filters: Which cards may be shown.
        is_symbol_asked: Whether the query is a name and nothing else.
    """
    columns = index.columns
    files = evidence.matches.files
    lengths = columns.card_offset[files + 1] - columns.card_offset[files]
    cards = runs(columns.card_offset[files], lengths)
    card_file = np.repeat(np.arange(len(files)), lengths)
    keep = filters.cards(index, cards)
    cards, card_file = cards[keep], card_file[keep]
    kind = columns.kind[cards]
    symbol = np.zeros(len(cards), np.float32)
    for one in named:
        np.maximum(symbol, _spread(one.cards, one.values, cards), out=symbol)
    frame_rows = np.array(sorted(frames), np.int64)
    frame_values = np.array([frames[row] for row in frame_rows.tolist()], np.float32)
    terms = {
        "words": _spread(evidence.matches.cards, share_of(evidence.card_words), cards),
        "name": _spread(evidence.matches.cards, evidence.names.by_card, cards),
        "symbol": symbol,
        "frame": _spread(frame_rows, frame_values, cards),
        "part": (kind == _PART).astype(np.float32),
        "nameless": (columns.folded_name[cards] == 0).astype(np.float32),
        "declaration": (kind == _DECLARATION).astype(np.float32),
    }
    if similarity is not None:
        terms["meaning"] = similarity.cards(cards)
    weights = {**CARD, "symbol": ASKED_SYMBOL} if is_symbol_asked else CARD
    weighted = {name: weights[name] * values for name, values in terms.items()}
    total = np.asarray(np.sum(list(weighted.values()), axis=0), np.float32)
    return CardScores(cards, card_file, weighted, total)


def order_cards(scores: CardScores, file_scores: Floats, limit: int) -> list[tuple[int, int]]:
    """Return (place in the scores, place of the file) of the cards to show, best first.

    Each file shows its best card; further cards of the best files follow after all files are there.

    Args:
        scores: Of the cards.
        file_scores: (F,); minus infinity for files that are not shown.
        limit: How many.
    """
    order = np.lexsort((scores.cards, -scores.total, scores.card_file))
    bounds = np.searchsorted(scores.card_file[order], np.arange(len(file_scores) + 1))
    shown: list[tuple[int, int]] = []
    by_file = np.lexsort((np.arange(len(file_scores)), -np.round(file_scores, 5)))
    depth = 0
    while len(shown) < limit:
        before = len(shown)
        for file in by_file.tolist():
            if file_scores[file] == -np.inf:
                continue
            place = int(bounds[file]) + depth
            if place < bounds[file + 1]:
                shown.append((int(order[place]), file))
        if len(shown) == before:
            break
        depth += 1
    return shown[:limit]


def frame_cards(index: DerivedIndex, frames: Sequence[Frame]) -> tuple[dict[int, float], dict[int, float]]:
    """Return file row → weight, and card row → weight, of the places that stack frames name.

    The frame next to the error weighs 1, each further one three quarters of the one before.
    """
    columns = index.columns
    files: dict[int, float] = {}
    cards: dict[int, float] = {}
    weight = 1.0
    for frame in _from_innermost(frames):
        rows = index.files_ending(frame.path, loosely=True)
        if not rows or len(rows) > 5:
            continue
        for row in rows:
            files[row] = max(files.get(row, 0.0), weight)
            mine = np.arange(columns.card_offset[row], columns.card_offset[row + 1])
            around = mine[(columns.first_line[mine] <= frame.line) & (columns.last_line[mine] >= frame.line)]
            if len(around):
                innermost = int(around[np.argmin(columns.last_line[around] - columns.first_line[around])])
                cards[innermost] = max(cards.get(innermost, 0.0), weight)
        weight *= 0.75
    return files, cards


def _from_innermost(frames: Sequence[Frame]) -> Sequence[Frame]:
    """Return frames with the one next to the error first: Python writes it last, everybody else first."""
    is_python = bool(frames) and frames[0].path.endswith((".py", ".pyx", ".pyi"))
    return frames[::-1] if is_python else frames


def _spread(rows: Int64s, values: Floats, cards: Int64s) -> Floats:
    """Return (K,): the values of some cards, 0 for the others. Rows need not be sorted or among the cards."""
    found = np.zeros(len(cards), np.float32)
    if len(cards) and len(rows):
        place = np.minimum(np.searchsorted(cards, rows), len(cards) - 1)
        inside = cards[place] == rows
        np.maximum.at(found, place[inside], values[inside])
    return found
