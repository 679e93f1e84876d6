"""Embeds a query and compares it with the vectors of cards."""

import numpy as np

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.issue import split_issue
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import Floats
from codecards.retrieval.vectors.card_vectors import Similarity
from codecards.retrieval.vectors.transformer_vectors import TransformerLookup

MAX_EMBEDDED_CHARACTERS = 2_000

USERS_MODEL = "sentence-transformers:"
"""Beginning of the name of an embedder that a user brings; it may know Chinese."""


def query_similarity(
    index: DerivedIndex, query: Query, transformer: TransformerLookup | None = None
) -> Similarity | None:
    """Return how near a query is to cards; None without vectors, and where the embedder knows none of its words.

    Args:
        index: Whose vectors.
        query: As parsed.
        transformer: Asks the deep lane; None where it takes no part.
    """
    if index.vectors is None or index.embedder is None or query.kind == "path":
        return None
    text = query.text
    if query.english is not None and not index.embedder.name.startswith(USERS_MODEL):
        text = (
            query.english
        )  # our own models read English alone; of Chinese they would make nothing that means anything
    elif query.is_issue and query.kind != "trace" and not query.hunks:
        issue = split_issue(text)
        text = f"{issue.title}\n{issue.prose}"
    if not text:
        return None
    vector: Floats = index.embedder.embed_queries([text[:MAX_EMBEDDED_CHARACTERS]])[0]
    if not np.any(vector):
        return None
    # Measured on questions in English alone; the model knows no Chinese, and little of its translation word by word.
    asks_transformer = query.kind == "question" and not query.is_issue and query.english is None
    by_transformer = (
        transformer(text[:MAX_EMBEDDED_CHARACTERS]) if transformer is not None and asks_transformer else None
    )
    return index.vectors.similarity(vector, by_transformer)
