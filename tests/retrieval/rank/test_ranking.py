"""Which of several matching files comes first."""

from pathlib import Path

import pytest

from codecards.retrieval.query.words import opposites
from codecards.retrieval.rank.weights import function_weights
from tests.support.indexed_text import indexed

STORES = '''
#- src/cache/session_store.py
class Store:
    """Session store behaviour over a cache."""
#- src/session/store.py
class Store:
    """Session store behaviour."""
#- src/cache/store.py
class Store:
    """Cache store behaviour."""
#- src/session/manager.py
class Manager:
    """Session behaviour."""
'''
ROLES = '''
#- src/readers/docbook.py
def load_docbook(text: str) -> str:
    """DocBook to a document."""
    return text
#- src/writers/docbook.py
def save_docbook(document: str) -> str:
    """A document to DocBook; DocBook blocks, DocBook inlines."""
    return document


def docbook_document(document: str) -> str:
    """DocBook document."""
    return document
#- src/document.py
class Document:
    """Blocks."""
'''
CODECS = """
#- src/codec.py
class Codec:
    pass
#- src/encoder.py
class Encoder:
    def run(self) -> None: ...
#- src/decoder.py
class Decoder:
    def run(self) -> None: ...
#- src/parsing.py
def parse(text: str) -> str:
    return text
"""
ROUTES = """
#- src/routing/route.py
class Route:
    def path(self) -> None: ...
#- src/routing/router.py
class Router:
    def controllers(self) -> None: ...
#- src/request.py
class Request: ...
"""
CRATES = """
#- net_client/src/frames.rs
/// Splits frames of the stream.
pub fn split_frames() {}
#- net_core/src/frames.rs
/// Splits frames of the stream, frames by frames.
pub fn split_frames() {}
pub fn count_frames() {}
"""


@pytest.mark.parametrize(
    ("text", "query", "path"),
    [
        pytest.param(STORES, "session store behaviour", "src/session/store.py", id="folder_and_file_are_two_words"),
        pytest.param(STORES, "cache store behaviour", "src/cache/store.py", id="folder_and_file_beside_a_longer_name"),
        pytest.param(ROLES, "how a DocBook document is read", "src/readers/docbook.py", id="reading_is_not_writing"),
        pytest.param(ROLES, "how it writes a DocBook document", "src/writers/docbook.py", id="writing_is_not_reading"),
        pytest.param(CODECS, "Codec combining Encoder and Decoder", "src/codec.py", id="a_type_opens_the_question"),
        pytest.param(CRATES, "how net_client splits frames", "net_client/src/frames.rs", id="a_folder_is_named"),
    ],
)
def test_the_file_that_is_meant_comes_first(tmp_path: Path, text: str, query: str, path: str) -> None:
    assert indexed(tmp_path, text).paths(query)[0] == path


def test_routing_names_both_a_router_and_a_route(tmp_path: Path) -> None:
    answer = indexed(tmp_path, ROUTES).ask("routing to controllers")
    named = {hit.card.path for hit in answer.hits if "file_name_exact" in {term.name for term in hit.terms}}
    assert named == {"src/routing/router.py", "src/routing/route.py"}


def test_a_question_about_both_of_two_opposites_lowers_neither(tmp_path: Path) -> None:
    answer = indexed(tmp_path, ROLES).ask("read and write a DocBook document")
    assert "opposite" not in {term.name for hit in answer.hits for term in hit.terms}


def test_a_capitalised_verb_at_the_beginning_is_not_a_name(tmp_path: Path) -> None:
    answer = indexed(tmp_path, CODECS).ask("Parse errors of the decoder")
    assert "type_in_text" not in {term.name for hit in answer.hits for term in hit.terms}


def test_opposites_are_symmetric() -> None:
    for stem, (same, other) in opposites().items():
        assert stem in same
        assert not same & other
        assert all(stem in opposites()[one][1] for one in other)


NULLS = '''
#- src/json_null.py
class JsonNull:
    """A null of JSON."""

    def __eq__(self, other: object) -> bool:
        """A JSON null equals every other JSON null."""
        return isinstance(other, JsonNull)

    def __hash__(self) -> int:
        """Every JSON null has the hash of null."""
        return 0
#- src/json_writer.py
class Writer:
    def write_null(self) -> None:
        self.put("null")

    def write_number(self, number: int) -> None:
        self.put(str(number))

    def write_text(self, text: str) -> None:
        self.put(text)
#- src/reader.py
class Reader:
    def number(self) -> int:
        return 1
'''
DEPENDS = '''
#- src/params.py
class Depends:
    pass
#- src/dependencies/tools.py
def solve(depends: bool) -> bool:
    """What depends on a dependency."""
    return depends
#- src/dependencies/models.py
class Dependant:
    """Depends on a dependency."""
#- src/other.py
def other() -> None: ...
'''

NAMESAKES = """
#- src/users/models.py
class User: ...
#- src/orders/models.py
class Order: ...
#- src/carts/models.py
class Cart: ...
#- src/checkout.py
class Checkout:
    \"\"\"Keeps prices rounded and adds taxes, discounts and parcels.\"\"\"
"""
SHORT_QUESTION = "models of a checkout"
LONG_QUESTION = (
    "Why do models of users, orders, carts keep prices rounded twice when a checkout adds taxes, discounts, parcels"
)


@pytest.mark.parametrize(("question", "common"), [(SHORT_QUESTION, set[str]()), (LONG_QUESTION, {"models.py"})])
def test_in_a_long_question_a_common_file_name_counts_less(tmp_path: Path, question: str, common: set[str]) -> None:
    hits = indexed(tmp_path, NAMESAKES).ask(question).hits

    def having(term_name: str) -> set[str]:
        return {Path(hit.card.path).name for hit in hits if term_name in {term.name for term in hit.terms}}

    assert having("file_name_exact") == {"models.py", "checkout.py"}
    assert having("file_name_common") == common


def test_boilerplate_methods_rank_lower(tmp_path: Path) -> None:
    assert indexed(tmp_path, NULLS).names("where is a JSON null written")[0] == "Writer.write_null"


def test_a_name_finds_the_file_that_defines_it(tmp_path: Path) -> None:
    assert indexed(tmp_path, DEPENDS).paths("Depends")[0] == "src/params.py"


def test_the_enclosing_name_counts_no_more_than_the_whole_question(tmp_path: Path) -> None:
    for hit in indexed(tmp_path, NULLS).ask("where is a JSON null written").hits:
        assert all(term.value <= function_weights("none")["parent"] for term in hit.terms if term.name == "card_parent")
