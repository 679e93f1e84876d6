"""Without an index, the files themselves are searched, within a short time."""

from pathlib import Path

import pytest

from codecards.answers import Recall
from codecards.errors import OutsideProjectError, TargetNotFoundError
from codecards.features.live_search import live_file, live_recall
from codecards.indexer.walk.files import DiscoverySettings
from tests.support.indexed import write_repository

SHOP = """
#- shop/cart.py
class Cart:
    def total(self, items):
        return discount(sum(items))
#- shop/prices.py
RATE = 0.9


def take_discount_off(amount):
    return amount * RATE if amount > 100 else amount
#- tests/test_prices.py
def test_discount():
    assert take_discount_off(200) == 180
#- web/cart.js
export function total(items) { return items.length }
"""


def ask(root: Path, query: str, **limits: tuple[str, ...]) -> Recall:
    return live_recall(root, query, 5, DiscoverySettings(), 0.0, **limits)


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return write_repository(tmp_path, SHOP)


def test_a_fully_spelled_name_is_found_first_at_its_definition(shop: Path) -> None:
    found = ask(shop, "take_discount_off")
    assert (found.verdict, found.hits[0].card.path, found.hits[0].card.name_line) == ("found", "shop/prices.py", 4)
    assert found.generation == 0
    assert found.notices


def test_rare_words_weigh_more(shop: Path) -> None:
    assert ask(shop, "discount rate").hits[0].card.path == "shop/prices.py"


def test_hits_match_the_requested_paths_and_languages(shop: Path) -> None:
    assert {hit.card.path for hit in ask(shop, "total", paths=("web/**",)).hits} == {"web/cart.js"}
    assert {hit.card.path for hit in ask(shop, "total", languages=("python",)).hits} == {"shop/cart.py"}


def test_words_that_no_file_holds_find_nothing(shop: Path) -> None:
    assert ask(shop, "kubernetes ingress").verdict == "none"
    assert ask(shop, "?!").verdict == "none"


def test_other_encodings_are_searched_as_text(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_bytes("# 检查令牌是否过期\nx = 1\n".encode("gb18030"))
    (tmp_path / "b.txt").write_bytes("expired token\n".encode("utf-16"))
    assert ask(tmp_path, "令牌").hits[0].card.path == "a.py"
    assert ask(tmp_path, "expired token").hits[0].card.path == "b.txt"


def test_lines_of_a_file_are_shown_without_an_index(shop: Path) -> None:
    shown = live_file(shop, "./shop/../shop/prices.py", 4, 5, DiscoverySettings())
    assert (shown.path, shown.first_line, shown.last_line) == ("shop/prices.py", 4, 5)
    assert shown.text.startswith("def take_discount_off")


@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "shop/\0", "shop", "none.py", ".env"])
def test_only_files_that_would_be_indexed_are_shown(shop: Path, path: str) -> None:
    (shop / ".env").write_text("KEY=1\n", encoding="utf-8")
    with pytest.raises((OutsideProjectError, TargetNotFoundError)):
        live_file(shop, path, 1, 0, DiscoverySettings())
