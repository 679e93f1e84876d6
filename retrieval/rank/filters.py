"""Filters: limit hits by path, language and kind."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from pathspec import GitIgnoreSpec

from codecards.retrieval.index import DerivedIndex
from codecards.retrieval.store.columns import Int64s, kinds_of


@dataclass(frozen=True, slots=True)
class Filters:
    """Limits on hits; an empty field limits nothing."""

    paths: tuple[str, ...] = ()
    """Globs as in .gitignore, from the root: "src/**", "*.py"; a path must match one of them."""
    languages: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    """Kinds of cards, values of `codecards.indexer.facts.Kind`."""
    without: frozenset[int] = frozenset()
    """Ids of cards that are never shown."""

    def files(self, index: DerivedIndex) -> NDArray[np.bool_]:
        """Return (n_files,): which files may be shown; a file without cards never is."""
        columns = index.columns
        allowed = np.diff(columns.card_offset) > 0
        if self.languages:
            wanted = {name.casefold() for name in self.languages}
            numbers = [number for number, name in enumerate(index.languages) if name.casefold() in wanted]
            allowed &= np.isin(columns.language, numbers)
        if self.paths:
            spec = GitIgnoreSpec.from_lines(self.paths)
            allowed &= np.fromiter((spec.match_file(path) for path in index.paths), np.bool_, columns.n_files)
        if self.kinds:
            fits = kinds_of(columns.kind, self.kinds)
            allowed &= np.bincount(index.file_of_card[fits], minlength=columns.n_files) > 0
        return allowed

    def cards(self, index: DerivedIndex, rows: Int64s) -> NDArray[np.bool_]:
        """Return which of some cards may be shown."""
        allowed = np.ones(len(rows), np.bool_)
        if self.kinds:
            allowed &= kinds_of(index.columns.kind[rows], self.kinds)
        if self.without:
            allowed &= ~np.isin(index.columns.card_id[rows], np.fromiter(self.without, np.int64, len(self.without)))
        return allowed
