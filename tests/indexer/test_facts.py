"""Kinds of definitions and cards."""

from codecards.indexer.facts import CALLABLE_KINDS, TYPE_KINDS, VALUE_KINDS, Kind
from codecards.retrieval.store.columns import KIND_NUMBERS

STORED_ORDER = (
    "class struct interface trait enum record object impl namespace module "
    "function method constructor property macro declaration type variable constant field "
    "table view procedure trigger index section cell window part"
)


def test_stored_numbers_of_kinds_do_not_change() -> None:
    assert list(Kind)[: len(STORED_ORDER.split())] == STORED_ORDER.split()
    assert [KIND_NUMBERS[kind] for kind in STORED_ORDER.split()] == list(range(29))


def test_a_kind_is_at_most_one_of_type_callable_and_value() -> None:
    assert not TYPE_KINDS & CALLABLE_KINDS
    assert not (TYPE_KINDS | CALLABLE_KINDS) & VALUE_KINDS
    assert all(kind.is_type + kind.is_callable + kind.is_value <= 1 for kind in Kind)
    assert Kind("class").is_type
    assert Kind("method").is_callable
    assert Kind("field").is_value
