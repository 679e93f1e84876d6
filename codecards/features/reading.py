"""Questions whose answer is text to read: exact texts, bundles, several questions at once, the overview of a project."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from codecards.answers import Bundle, Overview, Recall
from codecards.errors import UsageError

# As in the engine, methods import what they need.
if TYPE_CHECKING:
    from codecards.features.recall import RecallQuery

MAX_QUESTIONS = 10
"""Questions of one call."""
DEFAULT_OVERVIEW_TOKENS = 1_500


class ReadingQuestions:
    """What `Engine` answers with texts to read."""

    @property
    def root(self) -> Path:
        """The project's folder."""
        raise NotImplementedError

    def recall(self, query: str, *, limit: int = 8, paths: Sequence[str] = (), languages: Sequence[str] = ()) -> Recall:
        """Return the cards that answer a question, best first."""
        raise NotImplementedError

    def _recall_query(self) -> "RecallQuery":
        raise NotImplementedError

    def recall_all(
        self, queries: Sequence[str], *, limit: int = 8, paths: Sequence[str] = (), languages: Sequence[str] = ()
    ) -> list[Recall]:
        """Return the answers to several questions, in their order; a card is whole in the first answer that has it.

        Raises:
            UsageError: There is no question, or there are more than ten, or one is empty.
        """
        if not 1 <= len(queries) <= MAX_QUESTIONS:
            raise UsageError(f"{len(queries)} questions in one call; ask 1 to {MAX_QUESTIONS}")
        return [self.recall(query, limit=limit, paths=paths, languages=languages) for query in queries]

    def literal(
        self, text: str, *, limit: int = 20, paths: Sequence[str] = (), languages: Sequence[str] = ()
    ) -> Recall:
        """Return the cards around every line that holds a text word for word, case included; sources first.

        The first search makes signatures of all files; later ones read only files that may hold the text. The notices tell how many
        lines and files hold it, or that none does.

        Args:
            text: What to look for; it may have several lines.
            limit: Most cards.
            paths: Globs as in .gitignore.
            languages: Names of languages.

        Raises:
            SnapshotError: There is no index.
            UsageError: The text is empty.
        """
        return self._exact(text, "literal", limit, paths, languages)

    def regex(
        self, pattern: str, *, limit: int = 20, paths: Sequence[str] = (), languages: Sequence[str] = ()
    ) -> Recall:
        """Return the cards around every match of a regular expression of Python's syntax; otherwise like `literal`.

        Raises:
            SnapshotError: There is no index.
            UsageError: The pattern is invalid, or may take forever.
        """
        return self._exact(pattern, "regex", limit, paths, languages)

    def bundle(
        self, query: str, budget_tokens: int, *, paths: Sequence[str] = (), languages: Sequence[str] = ()
    ) -> Bundle:
        """Return the functions to read for a question, whole and within a number of tokens.

        They are the best hits, and what the first of them call.

        Raises:
            SnapshotError: There is no index.
            UsageError: The query is empty, or the budget too small.
        """
        from codecards.features.bundle import bundle_of
        from codecards.retrieval.rank.filters import Filters

        return bundle_of(self._recall_query(), query, budget_tokens, Filters(tuple(paths), tuple(languages)))

    def overview(self, path: str = "", *, budget_tokens: int = DEFAULT_OVERVIEW_TOKENS) -> Overview:
        """Return what the project, or a folder of it, is: packages, entry points, most used definitions, tests, configuration.

        Args:
            path: A folder, from the root; "" for the whole project.
            budget_tokens: Most tokens of the text.

        Raises:
            SnapshotError: There is no index.
            TargetNotFoundError: No indexed file lies in the folder.
            UsageError: The budget is too small.
        """
        from codecards.features.overview import overview_of

        return overview_of(self._recall_query(), self.root, path, budget_tokens)

    def _exact(self, wanted: str, kind: str, limit: int, paths: Sequence[str], languages: Sequence[str]) -> Recall:
        from codecards.features.text_matches import TextFilter

        if not 1 <= limit <= 200:
            raise UsageError(f"a limit of {limit} is out of range; use 1 to 200")
        search = self._recall_query().text_search
        return search.answer(wanted, kind, TextFilter(tuple(paths), tuple(languages)), limit)
