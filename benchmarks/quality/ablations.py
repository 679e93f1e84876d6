"""Ablations: the loss without each term of the score, each family of signals, and each way of finding candidates.

Every query is ranked once; a term is then subtracted from the scores, so that all variants see the same evidence.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import get_args

import numpy as np

from benchmarks.quality.metrics import DEPTH, function_reciprocal_rank, ndcg, recall, target_ranks
from benchmarks.quality.run import by_tree
from benchmarks.result_files import new_result, write_result
from benchmarks.sets.queries import LabelledQuery, Span, read_queries
from benchmarks.systems.codecards_index import open_index
from codecards.retrieval.evidence.similarity import query_similarity
from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.card_ranking import rank_cards, sum_terms
from codecards.retrieval.rank.card_signals import CARD_SIGNALS
from codecards.retrieval.rank.file_signals import FILE_SIGNALS
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import ScoredCandidates, rank
from codecards.retrieval.rank.signals import Family

FAMILIES: Mapping[str, tuple[str, ...]] = {
    family: (
        *(row.name for row in FILE_SIGNALS if row.family == family),
        *(row.term for row in CARD_SIGNALS if row.family == family),
    )
    for family in get_args(Family)
}
"""Family → the terms that are left out with it."""
WHOLE = "all"
RECALL = "recall@10"
"""Recall of files, of all candidates and of each way to find them alone: a second way exists for recall."""
METRICS = ("ndcg@10", "function_mrr", RECALL)


@dataclass(frozen=True, slots=True)
class Row:
    """One metric of one query under one variant."""

    variant: str
    metric: str
    value: float


def without(ranked: ScoredCandidates, terms: Sequence[str]) -> ScoredCandidates:
    """Return scored candidates without some terms; those of cards are named `card_<name>`."""
    file_scores = ranked.file_scores.copy()
    for name in terms:
        if name in ranked.terms:
            file_scores -= ranked.terms[name]
    cards = ranked.cards
    dropped = {name for name in cards.terms if f"card_{name}" in terms}
    kept = {name: values for name, values in cards.terms.items() if name not in dropped}
    changed = sum_terms(cards.cards, cards.card_file, kept, cards.shares, len(file_scores), cards.diversity_penalty)
    return replace(ranked, file_scores=file_scores, cards=changed)


def variants(ranked: ScoredCandidates) -> Iterator[tuple[str, ScoredCandidates]]:
    """Yield the name and the scores of each variant: whole, without a term, without a family."""
    yield WHOLE, ranked
    for name in (*ranked.terms, *(f"card_{name}" for name in ranked.cards.terms)):
        yield f"without {name}", without(ranked, (name,))
    for family, names in FAMILIES.items():
        yield f"without family {family}", without(ranked, names)


def rows_of_query(index: DerivedIndex, query: LabelledQuery) -> Iterator[Row]:
    """Yield the metrics of one query under each variant, and the recall of each way to find its candidates."""
    asked = read_query(query.text)
    similarity = query_similarity(index, asked)
    ranked = rank(index, asked, similarity, Filters())
    if ranked is None:
        return
    for name, changed in variants(ranked):
        yield from _scores(index, query, name, changed)
    yield _recall(index, query, WHOLE, ranked)
    if similarity is not None:
        # One of the two ways to find candidates, words and vectors, is left out.
        by_words = rank(index, asked, None, Filters())
        nearest, _ = similarity.nearest(DEPTH)
        files = list(dict.fromkeys(index.file_of_card[nearest].tolist()))
        if by_words is not None:
            yield from _scores(index, query, "words alone", by_words)
            yield _recall(index, query, "words alone", by_words)
        ranks = target_ranks([Span(index.path(file)) for file in files], _files_of(query), "file")
        yield Row("vectors alone, by file", "ndcg@10", ndcg(ranks))
        yield Row("vectors alone, by file", RECALL, recall(ranks))


def measure(queries: Sequence[LabelledQuery], trees: Path, state: Path, embedder: str) -> dict[str, dict[str, float]]:
    """Return variant → metric → mean over the queries; a query without a term counts unchanged."""
    values: list[dict[tuple[str, str], float]] = []
    for tree, asked in by_tree(queries, trees).items():
        index = open_index(tree, state / tree.name, embedder)
        for query in asked:
            values.append({(row.variant, row.metric): row.value for row in rows_of_query(index, query)})
    names = sorted({key for row in values for key in row})
    table: dict[str, dict[str, float]] = {}
    for variant, metric in names:
        # A query without the term of a variant has the metrics of the whole.
        known = [row.get((variant, metric), row.get((WHOLE, metric))) for row in values]
        table.setdefault(variant, {})[metric] = fmean(value for value in known if value is not None)
    return table


def main(arguments: list[str] | None = None) -> int:
    """Measure the ablations of query files, print them, write a result file, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks ablations", description=__doc__)
    parser.add_argument("--queries", type=Path, nargs="+", required=True)
    parser.add_argument(
        "--trees", type=Path, nargs="+", required=True, help="folder of each file's trees, or one for all"
    )
    parser.add_argument("--limit", type=int, default=0, help="most queries of a file, spread evenly over it")
    parser.add_argument("--cache", type=Path, required=True, help="for indexes; kept between runs")
    parser.add_argument("--embedder", default="static")
    parser.add_argument("--no-save", action="store_true", help="write no result file")
    options = parser.parse_args(arguments)
    if len(options.trees) not in (1, len(options.queries)):
        parser.error("--trees takes one folder, or one for each query file")
    figures, counts = {}, {}
    for path, trees in zip(options.queries, options.trees * (len(options.queries) // len(options.trees)), strict=True):
        queries = spread([query for query in read_queries(path) if (trees / query.tree).is_dir()], options.limit)
        table = measure(queries, trees, options.cache / "ablations" / path.stem, options.embedder)
        figures[path.stem], counts[path.stem] = table, len(queries)
        sys.stdout.write(f"{path.stem}: {len(queries)} queries\n" + "\n".join(lines_of(table)) + "\n")
    if not options.no_save:
        settings = {"n_queries": counts, "embedder": options.embedder}
        sys.stdout.write(f"{write_result(new_result('ablations', settings, figures))}\n")
    return 0


def spread(queries: Sequence[LabelledQuery], limit: int) -> list[LabelledQuery]:
    """Return at most so many queries, evenly spread over all; all of them for 0."""
    if not limit or len(queries) <= limit:
        return list(queries)
    return [queries[place * len(queries) // limit] for place in range(limit)]


def lines_of(table: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return the table as text: the whole first, then the variants by falling loss."""
    whole = table.get(WHOLE, {})
    metric = next((name for name in METRICS if name in whole), METRICS[0])
    order = sorted((name for name in table if name != WHOLE), key=lambda name: table[name].get(metric, 0.0))
    lines = [f"  {WHOLE:32s} " + "  ".join(f"{name} {whole[name]:.4f}" for name in METRICS if name in whole)]
    for name in order:
        changes = (f"{key} {value - whole.get(key, 0.0):+.4f}" for key, value in sorted(table[name].items()))
        lines.append(f"  {name:32s} " + "  ".join(changes))
    return lines


def _recall(index: DerivedIndex, query: LabelledQuery, variant: str, ranked: ScoredCandidates) -> Row:
    """Return the share of the right files among the first ten files."""
    best = np.argsort(-ranked.file_scores, kind="stable")[:DEPTH]
    files = [Span(index.path(int(row))) for row in ranked.evidence.matches.files[best]]
    return Row(variant, RECALL, recall(target_ranks(files, _files_of(query), "file")))


def _scores(index: DerivedIndex, query: LabelledQuery, variant: str, ranked: ScoredCandidates) -> Iterator[Row]:
    columns = index.columns
    cards = [ranked.cards.cards[one.card] for one in rank_cards(ranked.cards, ranked.file_scores, DEPTH)]
    results = [
        Span(index.path(int(index.file_of_card[card])), int(columns.first_line[card]), int(columns.last_line[card]))
        for card in cards
    ]
    yield Row(variant, "ndcg@10", ndcg(target_ranks(results, query.targets)))
    function = function_reciprocal_rank(results, query.functions)
    if function is not None:
        yield Row(variant, "function_mrr", function)


def _files_of(query: LabelledQuery) -> list[Span]:
    return [Span(path) for path in dict.fromkeys(target.path for target in query.targets)]


if __name__ == "__main__":
    sys.exit(main())
