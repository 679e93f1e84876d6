"""Finds candidate files by their words, with tantivy; one document per file.

A document has each token of the file once in up to three fields, by how often it occurs, and the tokens of its path and
names in two more. Queries set the weight of every field of every token, so the order of candidates does not depend on
tantivy's own counts: a deleted file that is still in a segment changes no score.
"""

import os
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import tantivy

INDEX_FIELDS = ("text", "often", "very_often", "names", "place")
"""Tokens of the cards; those that occur at least `OFTEN` times, at least `VERY_OFTEN` times; of names; of the path."""
OFTEN = 3
VERY_OFTEN = 8
_FIELD_WEIGHTS = (1.0, 0.5, 0.4, 1.2, 1.5)
"""Factor of each field on a token's weight; with these, at least .985 of the right files are among the first 100."""
_HEAP_BYTES = 64_000_000
_COPIED = (".json", ".lock")
"""Suffixes of the files that tantivy replaces; segments never change and are hard-linked."""


@dataclass(frozen=True, slots=True)
class FileDocument:
    """The document of one file."""

    file_id: int
    text: str
    """Tokens separated by spaces, like the fields below."""
    often: str
    very_often: str
    names: str
    place: str


class KeywordIndex:
    """Finds candidate files by weighted tokens; safe for several threads."""

    def __init__(self, folder: Path) -> None:
        """Open the index in a folder.

        Raises:
            ValueError: The index is missing or damaged.
        """
        self._index = tantivy.Index.open(str(folder))
        self._searcher = self._index.searcher()

    def candidates(self, weights: Iterable[tuple[str, float]], limit: int) -> list[tuple[int, float]]:
        """Return (file id, score) of the best files, best first; equal scores are ordered by id.

        Args:
            weights: Tokens and their weights; rarer tokens weigh more.
            limit: Number of files.
        """
        schema, fields = self._index.schema, tuple(zip(INDEX_FIELDS, _FIELD_WEIGHTS, strict=True))
        clauses = [
            (tantivy.Occur.Should, _constant(schema, field, token, weight * field_weight))
            for token, weight in weights
            for field, field_weight in fields
        ]
        if not clauses or limit < 1:
            return []
        # Half as many again, so that ties at the limit are decided by id and not by their order on disk.
        hits = self._searcher.search(tantivy.Query.boolean_query(clauses), limit + limit // 2, count=False).hits
        addresses = [address for _, address in hits]
        ids = self._searcher.fast_field_values("file_id", addresses)  # None only where a segment lacks the field
        file_ids = np.array([file_id or 0 for file_id in ids], np.int64)
        scores = np.round(np.array([score for score, _ in hits], np.float64), 4)
        best = np.lexsort((file_ids, -scores))[:limit]
        return list(zip(file_ids[best].tolist(), scores[best].tolist(), strict=True))


def write_keyword_index(
    folder: Path, old_folder: Path | None, removed_ids: Iterable[int], documents: Iterable[FileDocument]
) -> None:
    """Write the index of a new generation.

    Args:
        folder: The new folder, which is created.
        old_folder: The index of the previous generation, which is left unchanged; None to start empty.
        removed_ids: Files of the old index that are removed or replaced.
        documents: Documents of new and changed files.

    Raises:
        OSError: The index can't be written.
        ValueError: The old index is damaged.
    """
    folder.mkdir(parents=True)
    if old_folder is None:
        index = tantivy.Index(_schema(), path=str(folder))
    else:
        _link_segments(old_folder, folder)
        index = tantivy.Index.open(str(folder))
    writer = index.writer(_HEAP_BYTES, 1)
    for file_id in removed_ids:
        writer.delete_documents_by_term("file_id", file_id)
    for document in documents:
        writer.add_document(_tantivy_document(document))
    writer.commit()
    writer.wait_merging_threads()


def _link_segments(old_folder: Path, folder: Path) -> None:
    """Hard-link the files of the old index that never change, and copy the others."""
    for path in old_folder.iterdir():
        target = folder / path.name
        if path.suffix == ".lock":
            continue
        if path.suffix in _COPIED:
            shutil.copyfile(path, target)
            continue
        try:
            os.link(path, target)
        except OSError:  # another file system, or one without hard links
            shutil.copyfile(path, target)


def _schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_unsigned_field("file_id", indexed=True, fast=True)
    for field in INDEX_FIELDS:
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="basic")
    return builder.build()


def _tantivy_document(document: FileDocument) -> tantivy.Document:
    made = tantivy.Document()
    made.add_unsigned("file_id", document.file_id)
    for field in INDEX_FIELDS:
        if text := getattr(document, field):
            made.add_text(field, text)
    return made


def _constant(schema: tantivy.Schema, field: str, token: str, weight: float) -> tantivy.Query:
    return tantivy.Query.const_score_query(tantivy.Query.term_query(schema, field, token, "basic"), weight)


def join_tokens(vocabulary: Sequence[str], positions: Iterable[int]) -> str:
    """Return the tokens at some positions of a vocabulary, separated by spaces."""
    return " ".join([vocabulary[position] for position in positions])
