"""Search: which cards answer a query, in which order, and when none does."""

import random
from pathlib import Path

import pytest

from codecards.errors import UsageError
from codecards.retrieval.search import Filters
from tests.support.indexed_text import IndexedText, WordEmbedder, indexed

SHOP = '''
#- src/auth/token_store.py
"""Keeps the tokens of sessions."""


class TokenStore:
    """Tokens by session."""

    def purge(self, now: float) -> int:
        """Remove sessions that are expired."""
        return self.sweep(now)

    def sweep(self, limit: float) -> int:
        return int(limit)


def make_store() -> TokenStore:
    return TokenStore()
#- src/auth/login.py
from auth.token_store import TokenStore


def log_in(user: str, store: TokenStore) -> bool:
    """Check the password and open a session."""
    store.purge(0.0)
    return bool(user)
#- src/http/request_parser.py
def parse_request(raw: str) -> list[str]:
    """Split the raw text into method, path and headers."""
    return raw.split()


def parse_request_line(line: str) -> str:
    return line
#- src/http/rate_limit.py
class RateLimiter:
    """Token bucket that slows clients down."""

    def allow(self, client: str) -> bool:
        return bool(client)
#- tests/test_request_parser.py
from http.request_parser import parse_request


def test_parse_request_splits_the_text():
    assert parse_request("GET / HTTP") == ["GET", "/", "HTTP"]
#- docs/requests.md
# Requests

How parse_request and TokenStore are used, and where expired sessions are removed.
#- src/legacy.py
def unrelated(total):
    return total * 2
'''


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    return indexed(tmp_path_factory.mktemp("shop"), SHOP)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("parse_request", "parse_request"),
        ("parseRequest", "parse_request"),
        ("parse request", "parse_request"),
        ("TokenStore", "TokenStore"),
        ("TokenStore.purge", "TokenStore.purge"),
        ("TokenStore::purge()", "TokenStore.purge"),
        ("where are expired sessions removed", "TokenStore.purge"),
        ("split raw text into method path headers", "parse_request"),
        ("check password", "log_in"),
        ("ratelimit", "RateLimiter"),
    ],
)
def test_the_card_that_is_asked_for_comes_first(shop: IndexedText, query: str, name: str) -> None:
    answer = shop.ask(query)
    assert answer.hits[0].card.qualified_name == name
    assert answer.verdict == "found"


ERRORS = '''
#- stock/count.py
def take(store, n):
    if n < 0:
        raise ValueError("the number of items must be at least one")
    return store.lower(n)


def number_of_items(store):
    return store.items


def put(store, n):
    return store.higher(n)
#- stock/items.py
class Items:
    """The items must be a number, and at least one."""

    def at_least_one(self, number):
        return number
'''


def test_what_an_error_says_finds_the_function_that_raises_it(tmp_path: Path) -> None:
    answer = indexed(tmp_path, ERRORS).ask("number of items must be at least one")
    assert answer.hits[0].card.qualified_name == "take"
    assert any(term.name == "message" and term.value > 0 for term in answer.hits[0].terms)


def test_a_question_about_a_subject_shows_cards_of_different_files_first(shop: IndexedText) -> None:
    paths = [hit.card.path for hit in shop.ask("request parser").hits]
    assert paths[0] != paths[1]


@pytest.mark.seed("S2-46")
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("tests for parse_request", "tests/test_request_parser.py"),
        ("src/http/rate_limit.py", "src/http/rate_limit.py"),
        ("rate_limit.py", "src/http/rate_limit.py"),
        ("documentation of requests", "docs/requests.md"),
    ],
)
def test_the_file_that_is_asked_for_comes_first(shop: IndexedText, query: str, path: str) -> None:
    assert shop.paths(query)[0] == path


@pytest.mark.seed("S2-53")
def test_a_definition_comes_before_its_uses_its_tests_and_its_documentation(shop: IndexedText) -> None:
    paths = shop.paths("parse_request")
    assert paths[0] == "src/http/request_parser.py"
    assert "tests/test_request_parser.py" in paths[1:]


def test_every_file_comes_once_before_any_comes_twice(shop: IndexedText) -> None:
    paths = shop.paths("session token request", limit=20)
    n_files = len(set(paths))
    assert len(paths) > n_files
    assert len(set(paths[:n_files])) == n_files


@pytest.mark.parametrize("query", ["parse_request", "where are expired sessions removed", "src/legacy.py", "token"])
def test_the_terms_of_a_score_sum_to_it(shop: IndexedText, query: str) -> None:
    for hit in shop.ask(query).hits:
        assert sum(term.value for term in hit.terms) == pytest.approx(hit.score)
        assert all(term.value for term in hit.terms if term.name != "card")


@pytest.mark.parametrize("query", ["parse_request", "where are expired sessions removed", "session token request"])
def test_scores_never_rise_from_hit_to_hit(shop: IndexedText, query: str) -> None:
    scores = [hit.score for hit in shop.ask(query, limit=50).hits]
    assert scores == sorted(scores, reverse=True)


def test_a_file_without_evidence_is_not_a_hit(shop: IndexedText) -> None:
    assert "src/legacy.py" not in shop.paths("where are expired sessions removed", limit=50)


def test_ranks_count_from_one_and_the_limit_holds(shop: IndexedText) -> None:
    assert [hit.rank for hit in shop.ask("request session token", limit=3).hits] == [1, 2, 3]


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("parse_request", "symbol"),
        ("src/http/rate_limit.py", "path"),
        ("where is the token purged", "question"),
        (
            'Traceback (most recent call last):\n  File "/x/src/auth/login.py", line 6, in log_in\nTypeError: no',
            "trace",
        ),
    ],
)
def test_the_answer_names_the_kind_of_query(shop: IndexedText, query: str, kind: str) -> None:
    assert shop.ask(query).kind == kind


def test_a_stack_trace_finds_the_function_around_its_innermost_frame(shop: IndexedText) -> None:
    trace = (
        "Traceback (most recent call last):\n"
        '  File "/srv/app/src/auth/login.py", line 6, in log_in\n    store.purge(0.0)\n'
        '  File "/srv/app/src/auth/token_store.py", line 9, in purge\n    return self.sweep(now)\n'
        "TypeError: can't sweep"
    )
    assert shop.names(trace)[:2] == ["TokenStore.purge", "log_in"]


def test_an_issue_text_finds_what_its_title_and_code_are_about(shop: IndexedText) -> None:
    issue = (
        "RateLimiter lets too many clients through\n\n"
        "When a client comes twice in a second it should be slowed down, but it is let through each time. I have tried "
        "this with several versions and always see the same thing, on Linux as well as on other systems.\n\n"
        "```python\nlimiter = RateLimiter()\nlimiter.allow('me')\n```\nSee `allow`."
    )
    assert shop.paths(issue)[0] == "src/http/rate_limit.py"


@pytest.mark.parametrize(
    ("filters", "paths"),
    [
        (Filters(paths=("src/http/**",)), {"src/http/request_parser.py", "src/http/rate_limit.py"}),
        (Filters(languages=("Markdown",)), {"docs/requests.md"}),
        (Filters(paths=("*.md",), languages=("python",)), set()),
    ],
)
def test_hits_are_limited_by_the_filters(shop: IndexedText, filters: Filters, paths: set[str]) -> None:
    assert {hit.card.path for hit in shop.ask("request token session client", 20, filters).hits} == paths


def test_hits_are_of_the_kinds_of_the_filter_without_excluded_cards(shop: IndexedText) -> None:
    only_classes = shop.ask("token store session client", 20, Filters(kinds=("class",))).hits
    assert {hit.card.name for hit in only_classes} == {"TokenStore", "RateLimiter"}
    first = only_classes[0].card
    rest = shop.ask("token store session client", 20, Filters(kinds=("class",), without=frozenset({first.card_id})))
    assert first not in [hit.card for hit in rest.hits]


@pytest.mark.parametrize("query", ["TokenStores", "parse_reqest", "TokenStor", "RateLimitter"])
def test_an_unknown_name_is_not_found_and_gives_similar_names(shop: IndexedText, query: str) -> None:
    answer = shop.ask(query)
    assert answer.verdict != "found"
    assert set(answer.suggestions) & {"TokenStore", "parse_request", "RateLimiter"}


@pytest.mark.parametrize("query", ["nonexistent_xyz_abc", "zzqx", "frobnicate the quuxinator", "彩虹"])
def test_a_query_that_shares_no_word_with_the_repository_has_no_hits(shop: IndexedText, query: str) -> None:
    answer = shop.ask(query)
    assert (answer.verdict, answer.hits) == ("none", ())


def test_nonsense_is_found_in_at_most_one_query_of_fifty(shop: IndexedText) -> None:
    random_words = random.Random(2)
    words = (
        "purple elephant banana wizard saxophone pudding umbrella glacier tango spoon violin pancake dragon pillow "
        "cactus meadow whisper lantern biscuit harvest sparrow compass thunder velvet marble orchard puppet candle "
        "feather text path token client method user line session"
    ).split()
    queries = [" ".join(random_words.choices(words, k=random_words.randint(3, 8))) for _ in range(200)]
    found = [query for query in queries if shop.ask(query).verdict == "found"]
    assert len(found) <= 4, found


@pytest.mark.parametrize("query", ["", "   ", "\n\t", "\0"])
def test_an_empty_query_is_refused(shop: IndexedText, query: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        shop.ask(query)


@pytest.mark.parametrize(
    "query",
    ["the", "?!", '"', "std::vector<int>", "a" * 50_000, "foo(" * 500, "[]{}()*.", "\ud800", "=", "../../etc/passwd"],
)
def test_any_text_is_answered(shop: IndexedText, query: str) -> None:
    assert shop.ask(query).verdict in ("found", "weak", "none")


def test_a_repository_without_files_gives_nothing(tmp_path: Path) -> None:
    answer = indexed(tmp_path, "").ask("where is the login")
    assert (answer.verdict, answer.hits) == ("none", ())


CHINESE = """
#- order.py
# 取消订单后恢复库存
def restore_stock(order):
    return order
#- discount.py
def member_price(price):
    # 会员折扣计算
    return price * 0.9
#- report.py
def gen_report(rows):  # 生成报告悬空引用
    return rows
#- login.py
# ログインの再試行を数える
def count_retries(user):
    return user
#- pay.py
# 결제 취소 처리
def cancel_payment(order):
    return order
"""


@pytest.mark.seed("S2-47")
@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("库存", "restore_stock"),
        ("取消订单 恢复库存", "restore_stock"),
        ("折扣", "member_price"),
        ("会员价格怎么计算", "member_price"),
        ("悬空引用", "gen_report"),
        ("gen_report", "gen_report"),
        ("再試行", "count_retries"),
        ("결제 취소", "cancel_payment"),
    ],
)
def test_a_question_in_another_script_finds_comments_in_it(tmp_path: Path, query: str, name: str) -> None:
    assert indexed(tmp_path, CHINESE).names(query)[0] == name


@pytest.mark.seed("S2-46")
def test_a_file_that_the_matches_use_ranks_higher(tmp_path: Path) -> None:
    repository = """
#- a/first.py
def handle():
    return "invoice"
#- a/second.py
def handle():
    return "invoice"
#- a/user.py
def invoice_report():
    return "invoice invoice"
"""
    assert indexed(tmp_path / "1", repository).paths("handle invoice")[:2] == ["a/first.py", "a/second.py"]
    linked = indexed(tmp_path / "2", repository, [("a/user.py", "a/second.py", 5)])
    assert linked.paths("handle invoice")[:2] == ["a/second.py", "a/first.py"]


@pytest.mark.seed("S2-13", "S2-37")
def test_vectors_are_used_and_named_among_the_retrievers(tmp_path: Path) -> None:
    with_vectors = indexed(tmp_path / "1", SHOP, embedder=WordEmbedder()).ask("expired sessions")
    without = indexed(tmp_path / "2", SHOP).ask("expired sessions")
    assert "static_vectors" in with_vectors.retrievers
    assert "static_vectors" not in without.retrievers
    assert any(term.name == "meaning_file" for term in with_vectors.hits[0].terms)
    for hit in with_vectors.hits:
        assert sum(term.value for term in hit.terms) == pytest.approx(hit.score, abs=1e-4)


def test_vectors_of_another_embedder_are_not_used(tmp_path: Path) -> None:
    shop = indexed(tmp_path, SHOP, embedder=WordEmbedder())
    other = WordEmbedder()
    other.identity = "fake-2"
    shop.embedder = other
    assert not shop.index.has_vectors


ROUTES = """
#- web/tree.py
def get_value(path):
    '''Match a route and parse its parameters.'''
    return {part: part for part in path.split("/") if part.startswith(":")}
#- tests/test_tree.py
def test_route_parameters_are_parsed_by_name():
    '''Route parameters are parsed.'''
    assert get_value("/:a") == {":a": ":a"}


def test_route_parameters_are_parsed_with_slashes():
    '''Where route parameters are parsed, slashes stay.'''
    assert get_value("/:a/") == {":a": ":a"}
"""


def test_a_question_about_an_action_finds_the_code_and_not_its_tests(tmp_path: Path) -> None:
    routes = indexed(tmp_path, ROUTES)
    assert routes.ask("where are route parameters parsed").hits[0].card.path == "web/tree.py"
    assert routes.ask("test that route parameters are parsed by name").hits[0].card.path == "tests/test_tree.py"


def test_the_explanation_of_a_term_lists_the_matching_words(shop: IndexedText) -> None:
    terms = shop.ask("where does the token store purge sessions").hits[0].terms
    details = {term.name: term.detail for term in terms}
    assert details["file_words"] == "words of the query in the whole file: token, store, purg, session, =tokenstore"
    assert details["file_name"] == "words of the query in the file's name: token, store, =tokenstore"
    assert terms[:2] == tuple(terms)[:2]
