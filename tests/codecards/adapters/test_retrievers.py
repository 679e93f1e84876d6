"""Retrievers for LangChain and LlamaIndex work with the real packages."""

from collections.abc import Iterator

import pytest

from codecards import Engine, Settings
from tests.support.indexed import write_repository
from tests.support.shop import PAGE, TOKENS

QUESTION = "where are expired tokens removed"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = write_repository(tmp_path_factory.mktemp("shop"), TOKENS + PAGE)
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        yield engine


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"  # neither of the two runs on trio


@pytest.mark.anyio
async def test_langchain_gets_documents(shop: Engine) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is missing: pip install 'codecards[langchain]'")
    from codecards.adapters.langchain import CodecardsRetriever

    first, *_ = retriever_documents = CodecardsRetriever(engine=shop, limit=3).invoke(QUESTION)
    assert first.id == "shop/tokens.py::TokenStore.purge_expired"
    assert first.page_content.startswith("    def purge_expired")
    assert {
        "path": "shop/tokens.py",
        "start_line": 4,
        "end_line": 6,
        "verdict": "found",
    }.items() <= first.metadata.items()
    assert await CodecardsRetriever(engine=shop, limit=3).ainvoke(QUESTION) == retriever_documents
    assert CodecardsRetriever(engine=shop, paths=["web/**"]).invoke("timeout")[0].metadata["name"] == "showTimeout"
    assert (CodecardsRetriever(engine=shop) | len).invoke("zqxv wkjhg") == 0


@pytest.mark.anyio
async def test_llama_index_gets_nodes(shop: Engine) -> None:
    pytest.importorskip("llama_index.core", reason="llama-index-core is missing: pip install 'codecards[llama-index]'")
    from codecards.adapters.llama_index import CodecardsRetriever

    first, *_ = nodes = CodecardsRetriever(shop, limit=3).retrieve(QUESTION)
    assert first.node.node_id == "shop/tokens.py::TokenStore.purge_expired"
    assert first.text.startswith("    def purge_expired")
    assert first.score == pytest.approx(shop.recall(QUESTION).hits[0].score)
    assert first.metadata["path"] == "shop/tokens.py"
    again = await CodecardsRetriever(shop, limit=3).aretrieve(QUESTION)
    assert [one.node.node_id for one in again] == [one.node.node_id for one in nodes]
    assert CodecardsRetriever(shop, languages=["javascript"]).retrieve("timeout")[0].metadata["name"] == "showTimeout"
