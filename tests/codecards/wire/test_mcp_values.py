"""The JSON value of an answer has few tokens, and names targets as the tools accept them."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecards.config import Settings
from codecards.engine import Engine
from codecards.mcp.text import recall_text
from codecards.router.compress.token_count import estimate_tokens
from codecards.wire.mcp_values import calls_value, card_value, hit_value, non_empty, recall_value, shown_value
from tests.support.indexed import write_repository

FILES = """
#- shop/prices.py
def discount(amount: float, rate: float = 0.1) -> float:
    \"\"\"Take a tenth off large amounts, and say what is left of them.\"\"\"
    return amount * (1 - rate) if amount > 100 else amount


def gift(amount: float) -> float:
    return discount(amount)


if True:
    def twice(): ...
else:
    def twice(): return 2
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    with Engine(write_repository(tmp_path_factory.mktemp("shop"), FILES), Settings(n_workers=1)) as made:
        made.refresh()
        yield made


@pytest.mark.parametrize("expand", [False, True])
def test_a_value_has_at_most_1_5_times_the_tokens_of_its_text(engine: Engine, expand: bool) -> None:
    found = engine.recall("where is the discount taken off")
    value = recall_value(found, [hit_value(hit, expand=expand) for hit in found.hits], [])
    n_tokens = estimate_tokens(json.dumps(value, separators=(",", ":")))
    assert n_tokens <= 1.5 * estimate_tokens(recall_text(value))


def test_empty_fields_and_defaults_are_left_out(engine: Engine) -> None:
    assert non_empty(text="", rows=[], flag=False, nothing=None, number=0, name="a") == {"number": 0, "name": "a"}
    hit = next(hit for hit in engine.recall("gift").hits if hit.card.name == "gift")
    value = hit_value(hit)
    assert (value["start_line"], value["end_line"], "changed" in value, "summary" in value) == (6, 7, False, False)
    assert "signature" not in hit_value(hit, expand=True)


def test_an_id_is_given_if_path_and_name_are_ambiguous(engine: Engine) -> None:
    ids = [card_value(card).get("id") for card in engine.symbols(name="twice")]
    assert ids == [None, "shop/prices.py::twice~2"]


def test_a_changed_file_is_marked(tmp_path: Path) -> None:
    engine = Engine(write_repository(tmp_path, FILES), Settings(n_workers=1))
    engine.refresh()
    file = tmp_path / "shop/prices.py"
    file.write_text("\n" + file.read_text(encoding="utf-8").replace("0.1", "0.2"), encoding="utf-8")
    assert hit_value(engine.recall("discount").hits[0])["changed"] is True
    assert shown_value(engine.show("discount"), "")["stale"] is True
    engine.close()


def test_the_target_of_calls_is_given_by_its_id(engine: Engine) -> None:
    value = calls_value(engine.callers("discount"), "callers")
    assert value["target"] == "shop/prices.py::discount"
    assert [(row["name"], row["line"]) for row in value["callers"]] == [("gift", 7)]  # type: ignore[attr-defined]
