"""Targets as users and agents write them are resolved to symbols and files."""

from collections.abc import Iterator

import pytest

from codecards.engine import Engine
from codecards.errors import AmbiguousTargetError, TargetNotFoundError
from tests.support.indexed import write_repository

REPO = """\
#- app/prices.py
def total(items):
    return sum(items)
#- lib/prices.py
def total(items):
    return len(items)
#- lib/only.py
def once():
    return total([])
#- methods.py
def go():
    pass


class Car:
    def go(self):
        pass
#- lib/total.rs
fn other() {}
#- odd\\name.py
def odd():
    return 1
#- [ab].py
def bracket():
    return 1
#- a.py
def plain():
    return 1
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    root = write_repository(tmp_path_factory.mktemp("targets"), REPO)
    with Engine.open(root, build=False) as engine:
        engine.refresh()
        yield engine


def test_a_path_that_matches_two_files_is_ambiguous(engine: Engine) -> None:
    with pytest.raises(AmbiguousTargetError) as raised:
        engine.symbols(path="prices.py")
    assert raised.value.candidates == ("app/prices.py", "lib/prices.py")
    with pytest.raises(AmbiguousTargetError):
        engine.similar("prices.py", 1)


@pytest.mark.parametrize("written", ["lib/only.py", "./lib/only.py", "only.py", "lib\\only.py", "only"])
def test_a_path_that_matches_one_file_is_found_however_it_is_written(engine: Engine, written: str) -> None:
    assert [card.name for card in engine.symbols(path=written)] == ["once"]


@pytest.mark.parametrize(("written", "name"), [("odd\\name.py", "odd"), ("[ab].py", "bracket"), ("a.py", "plain")])
def test_an_exact_path_takes_precedence_over_every_other_interpretation(
    engine: Engine, written: str, name: str
) -> None:
    assert [card.name for card in engine.symbols(path=written)] == [name]


def test_a_symbol_of_one_file_is_found_by_the_end_of_its_path(engine: Engine) -> None:
    target = engine.callers("total", path="lib/prices.py").target
    assert target == engine.callers("total", path="./lib/prices.py").target
    assert target is not None
    assert target.path == "lib/prices.py"


def test_an_ambiguous_symbol_does_not_resolve_to_a_file_of_that_name(engine: Engine) -> None:
    with pytest.raises(AmbiguousTargetError) as raised:
        engine.show("total")
    assert raised.value.candidates == ("app/prices.py::total", "lib/prices.py::total")
    assert engine.show("total.rs").path == "lib/total.rs"
    assert engine.show("only").path == "lib/only.py"


def test_in_one_file_a_full_name_takes_precedence_over_the_end_of_another(engine: Engine) -> None:
    target = engine.callers("go", path="methods.py").target
    assert target is not None
    assert target.qualified_name == "go"


def test_an_unknown_path_is_not_found(engine: Engine) -> None:
    with pytest.raises(TargetNotFoundError, match="missing"):
        engine.symbols(path="missing.py")
