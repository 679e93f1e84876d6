"""LangChain: an engine as a retriever (extra `codecards[langchain]`)."""

from collections.abc import Sequence

from codecards.engine import Engine
from codecards.wire.answers import hit_metadata

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
except ImportError as error:
    raise ImportError("langchain-core is not installed; pip install 'codecards[langchain]'") from error


class CodecardsRetriever(BaseRetriever):
    """Retrieves cards of a project as documents, best first; the async calls run in a thread."""

    engine: Engine
    """Is not closed by the retriever."""
    limit: int = 8
    """Most documents, 1 to 200."""
    paths: Sequence[str] = ()
    """Globs as in .gitignore; documents lie in one of them."""
    languages: Sequence[str] = ()
    kinds: Sequence[str] = ()

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        recall = self.engine.recall(
            query, limit=self.limit, paths=self.paths, languages=self.languages, kinds=self.kinds
        )
        return [
            Document(id=hit.card.symbol_id, page_content=hit.text, metadata=hit_metadata(hit, recall))
            for hit in recall.hits
        ]
