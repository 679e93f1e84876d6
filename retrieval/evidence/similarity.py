"""Query similarity: embeds a query and compares it with the vectors of cards."""

import numpy as np

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.query.issue import split_issue
from codecards.retrieval.query.query import Query
from codecards.retrieval.store.columns import Floats
from codecards.retrieval.vectors.card_vectors import Similarity
from codecards.retrieval.vectors.transformer_vectors import TransformerLookup

MAX_EMBEDDED_CHARACTERS = 2_000
CUSTOM_MODEL_PREFIX = "sentence-transformers:"
"""Beginning of the name of an embedder that the user configured; it may know Chinese."""


def query_similarity(
    index: DerivedIndex, query: Query, transformer: TransformerLookup | None = None
) -> Similarity | None:
    """Return the similarity of a query to cards; None without vectors, or if the embedder knows no word of it.

    Args:
        index: Has the vectors.
        query: As parsed.
        transformer: Looks up transformer vectors; None if they are not used.
    """
    if index.vectors is None or index.embedder is None or query.kind == "path":
        return None
    text = query.text
    if query.english is not None and not index.embedder.name.startswith(CUSTOM_MODEL_PREFIX):
        # The models that codecards brings know English only.
        text = query.english
    elif query.is_issue and query.kind != "trace" and not query.hunks:
        issue = split_issue(text)
        text = f"{issue.title}\n{issue.prose}"
    if not text:
        return None
    vector: Floats = index.embedder.embed_queries([text[:MAX_EMBEDDED_CHARACTERS]])[0]
    if not np.any(vector):
        return None
    # Measured on English questions only: the model does not know Chinese, and was not trained on word-by-word translations.
    asks_transformer = query.kind == "question" and not query.is_issue and query.english is None
    if transformer is None or not asks_transformer:
        return index.vectors.similarity(vector)
    return index.vectors.similarity(vector, transformer(text[:MAX_EMBEDDED_CHARACTERS]))
