"""Chinese questions about English code."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codecards.retrieval.evidence.translation import segment, translate
from codecards.retrieval.query.query import read_query
from codecards.retrieval.store.glossary import programming_terms
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed

SHOP = """\
#- shop/session_store.py
class SessionStore:
    def remove_expired(self, now):
        return [one for one in self.sessions if one.expires < now]
#- shop/upload.py
def upload_file(path, retries):
    return send(path, retries)
#- shop/debounce.py
def debounce(call, wait):
    return call
#- shop/catalog.py
def list_products(page):
    # 订单超时以后的处理
    return page
"""


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    """A repository of English code with one Chinese comment."""
    return indexed(tmp_path_factory.mktemp("shop"), SHOP)


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("过期的会话在哪里删除", "shop/session_store.py"),
        ("上传文件失败重试", "shop/upload.py"),
        ("防抖函数", "shop/debounce.py"),
        ("订单超时", "shop/catalog.py"),  # a Chinese comment has it
        ("SessionStore 如何移除过期数据", "shop/session_store.py"),
    ],
)
def test_a_chinese_question_finds_english_code(shop: IndexedText, query: str, path: str) -> None:
    assert shop.paths(query)[0] == path


def test_an_unknown_word_is_not_found(shop: IndexedText) -> None:
    assert shop.ask("量子纠缠望远镜").verdict == "none"
    assert shop.ask("删除量子纠缠望远镜银河").verdict != "found"


def test_the_longest_known_word_wins_and_stretches_between_words_are_kept() -> None:
    glossary = {"文件": (("file", 1.0),), "文件系统": (("filesystem", 1.0),), "的": ()}
    found = [(concept.chinese, concept.english) for concept in segment("本文件系统的文件", glossary)]
    assert found == [
        ("本", ()),
        ("文件系统", (("filesystem", 1.0),)),
        ("的", ()),
        ("文件", (("file", 1.0),)),
    ]


def test_a_single_character_is_a_word_only_between_known_words() -> None:
    glossary = {"库": (("library", 1.0),), "安装": (("install", 1.0),)}
    assert [concept.english for concept in segment("安装库", glossary)] == [(("install", 1.0),), (("library", 1.0),)]
    assert [concept.english for concept in segment("库存", glossary)] == [()]


def test_the_names_of_a_word_and_its_characters_are_one_term_with_less_weight(shop: IndexedText) -> None:
    query = translate(shop.index, read_query("删除 upload"))
    translated, typed = query.terms[:2]
    assert (translated.token, typed.token) == ("remov", "upload") or translated.token == "delet"
    assert {token for token, _ in translated.others} >= {"删除"}
    assert translated.weight < typed.weight
    assert query.english == "remove upload"  # the name of 删除 that the index has


def test_a_question_without_chinese_is_unchanged(shop: IndexedText) -> None:
    query = read_query("remove expired sessions")
    assert translate(shop.index, query) is query


def test_the_translation_is_embedded(tmp_path: Path) -> None:
    asked: list[str] = []

    class Listening(WordEmbedder):
        def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
            asked.extend(texts)
            return self.embed_documents(texts)

    indexed(tmp_path, SHOP, embedder=Listening()).ask("上传文件")
    assert asked[-1] == "upload file"  # the texts before it are those of the calibration


def test_the_list_of_terms_is_short_and_each_word_is_in_it_once() -> None:
    text = Path(__file__).parents[3].joinpath("retrieval/store/chinese_terms.txt").read_text(encoding="utf-8")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith("#")]
    assert len(rows) <= 600
    assert len({row[0] for row in rows}) == len(rows) == len(programming_terms())
    assert all(word.isascii() and word.islower() for row in rows for word in row[1:])
