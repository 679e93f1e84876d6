"""An engine as a LangChain retriever; needs the extra `codecards[langchain]`."""

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
    """Retrieves cards of a project as documents, best first; async calls run in a thread."""

    engine: Engine
    """The retriever does not close it."""
    limit: int = 8
    """Most documents, 1 to 200."""
    paths: Sequence[str] = ()
    """Globs as in .gitignore; a document's path matches one of them."""
    languages: Sequence[str] = ()
    """Names of languages; a document is in one of them."""
    kinds: Sequence[str] = ()
    """Kinds of cards; a document is of one of them."""

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        recall = self.engine.recall(
            query, limit=self.limit, paths=self.paths, languages=self.languages, kinds=self.kinds
        )
        return [
            Document(id=hit.card.symbol_id, page_content=hit.text, metadata=hit_metadata(hit, recall))
            for hit in recall.hits
        ]
