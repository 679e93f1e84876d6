"""Signals of a report's title, names and trace."""

from pathlib import Path

import numpy as np
import pytest

from codecards.retrieval.evidence.issues import IssueEvidence
from codecards.retrieval.query.query import read_query
from codecards.retrieval.rank.file_signals import FILE_SIGNALS
from codecards.retrieval.rank.filters import Filters
from codecards.retrieval.rank.ranking import file_values, rank
from tests.support.indexed_text import IndexedText, indexed

STORE = """
#- shop/invoice.py
def round_total(total):
    return round(total, 2)


def print_invoice(lines):
    return round_total(sum(lines))
#- shop/basket.py
def add(basket, line):
    # The total is rounded when the invoice is printed.
    basket.append(line)
#- shop/server.py
def handle(request):
    return request
#- shop/session.py
class SessionStore:
    def open(self, user):
        return user
#- tests/test_invoice.py
def test_the_invoice_rounds_the_total_up_when_it_is_printed():
    assert print_invoice([1.005]) == 1.01
"""
PROSE = (
    "I have tried this with several versions on Linux and on other systems, and I always see the same thing, whichever "
    "way I start it. I expected something else, and so does the documentation, as far as I can tell from what it says. "
    "Please tell me whether there is anything more that I can do to help with this, for I would like to see it fixed."
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> IndexedText:
    return indexed(tmp_path_factory.mktemp("store"), STORE)


def values_of(made: IndexedText, report: str, name: str) -> dict[str, float]:
    """Return path → value of a signal, for files with a value."""
    index, query = made.index, read_query(report)
    assert query.is_issue
    found = rank(index, query, None, Filters())
    assert found is not None
    row = next(row for row in FILE_SIGNALS if row.name == name)
    assert isinstance(found.evidence, IssueEvidence)
    values = file_values(row, found.evidence)
    assert values is not None
    return {
        index.path(int(row)): float(value)
        for row, value in zip(found.evidence.matches.files, values, strict=True)
        if value
    }


def test_names_with_words_of_the_title_count_and_mere_mentions_do_not(store: IndexedText) -> None:
    found = values_of(store, f"Total of an invoice is rounded down\n\n{PROSE}", "title_names")
    assert "shop/basket.py" not in found
    assert found["shop/invoice.py"] > 0


def test_words_of_the_prose_are_not_names_of_the_title(store: IndexedText) -> None:
    assert not values_of(store, f"Wrong sum\n\nThe invoice is odd. {PROSE}", "title_names")


def test_a_name_in_the_title_counts_for_the_file_that_defines_it(store: IndexedText) -> None:
    assert set(values_of(store, f"SessionStore forgets users\n\n{PROSE}", "symbol_in_title")) == {"shop/session.py"}
    assert not values_of(store, f"Users are lost\n\nIt is SessionStore. {PROSE}", "symbol_in_title")


def test_words_between_backticks_are_a_signal_of_their_own(store: IndexedText) -> None:
    found = values_of(store, f"Users are lost\n\nAn invoice is lost after `open` too. {PROSE}", "span_card")
    assert set(found) == {"shop/session.py"}
    assert not values_of(store, f"Users are lost\n\nAn invoice is lost after open too. {PROSE}", "span_card")


def test_every_file_of_a_trace_counts_equally(store: IndexedText) -> None:
    frames = [("shop/server.py", 2), *[("shop/basket.py", 3)] * 12, ("shop/invoice.py", 2)]
    trace = "\n".join(f'  File "/srv/{path}", line {line}, in it' for path, line in frames)
    report = f"The shop fails\n\n{PROSE}\n\n```\nTraceback (most recent call last):\n{trace}\nValueError: no\n```\n"
    found = values_of(store, report, "in_trace")
    assert set(found) == {"shop/server.py", "shop/basket.py", "shop/invoice.py"}
    assert np.unique(list(found.values())).tolist() == [1.0]


def test_a_test_with_the_words_of_a_report_ranks_below_the_code(tmp_path: Path) -> None:
    report = f"The invoice rounds the total up when it is printed\n\n`print_invoice([1.005])` is 1.01. {PROSE}"
    paths = indexed(tmp_path, STORE).paths(report)
    assert paths[0] == "shop/invoice.py"
    assert paths.index("tests/test_invoice.py") > paths.index("shop/basket.py")
