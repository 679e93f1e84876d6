"""An engine as a LlamaIndex retriever; needs the extra `codecards[llama-index]`."""

from collections.abc import Sequence

from anyio import to_thread

from codecards.engine import Engine
from codecards.wire.answers import hit_metadata

try:
    from llama_index.core.base.base_retriever import BaseRetriever
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
except ImportError as error:
    raise ImportError("llama-index-core is not installed; pip install 'codecards[llama-index]'") from error


class CodecardsRetriever(BaseRetriever):
    """Retrieves cards of a project as nodes, best first.

    Args:
        engine: The engine; the retriever does not close it.
        limit: Most nodes, 1 to 200.
        paths: As for `Engine.recall`, like `languages` and `kinds`.
        languages: See `paths`.
        kinds: See `paths`.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        limit: int = 8,
        paths: Sequence[str] = (),
        languages: Sequence[str] = (),
        kinds: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self._engine = engine
        self._limit, self._paths, self._languages, self._kinds = limit, paths, languages, kinds

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        recall = self._engine.recall(
            query_bundle.query_str,
            limit=self._limit,
            paths=self._paths,
            languages=self._languages,
            kinds=self._kinds,
        )
        return [
            NodeWithScore(
                node=TextNode(id_=hit.card.symbol_id, text=hit.text, metadata=hit_metadata(hit, recall)),
                score=hit.score,
            )
            for hit in recall.hits
        ]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await to_thread.run_sync(self._retrieve, query_bundle)
