"""Token ledgers: groups, alarms, effective ratio, statistics."""

from dataclasses import replace

import pytest

from codecards.router.assemble.assembly import assemble
from codecards.router.memory.ledger import (
    KINDS_OF_CONTEXT,
    ROUND_LINES,
    SHARES,
    LedgerLine,
    LineUse,
    ShownLines,
    TokenLedger,
    effective_ratio,
    summarise_ledgers,
)
from tests.support.context_package import ENTRIES, PACKAGE, TEXTS


@pytest.mark.seed("S0-2", "S0-4", "S1-1", "S1-32")
def test_the_ledger_groups_its_lines() -> None:
    ledger = assemble(replace(PACKAGE, tool_schema="recall(query)"), ENTRIES, TEXTS).ledger
    total = sum(line.tokens for line in ledger.lines)
    for groups in (SHARES, ROUND_LINES, KINDS_OF_CONTEXT):
        assert sum(ledger.grouped(groups).values()) == total
    assert ledger.by_category()["tool_schema"] > 0
    assert ledger.by_category()["tool_results"] > 0
    assert [line.position for line in ledger.lines] == list(range(len(ledger.lines)))


@pytest.mark.seed("S1-33", "S1-34")
def test_alarms_are_raised_at_their_thresholds() -> None:
    noisy = TokenLedger(1, 100, 100, (LedgerLine("recent", "tool_results", 71), LedgerLine("task", "task", 29)))
    assert len(noisy.alarms(0.39)) == 2
    assert (
        TokenLedger(1, 100, 100, (LedgerLine("recent", "tool_results", 70), LedgerLine("task", "task", 30))).alarms(0.4)
        == ()
    )


@pytest.mark.seed("S1-33")
@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (LineUse("a.py", 3, 1, 10), 0.5),
        (LineUse("a.py", 3, 1, 5), 0.25),
        (LineUse("a.py", 3), 0.5),
        (LineUse("a.py", 9, 1, 10), 0.0),
        (LineUse("c.py", 3), 0.0),
    ],
)
def test_the_effective_ratio_is_what_was_used_later(use: LineUse, expected: float) -> None:
    supplied = [ShownLines("a.py", 1, 10, 100, 2), ShownLines("b.py", 1, 10, 100, 2)]
    assert effective_ratio(supplied, [use]) == pytest.approx(expected)


def test_without_supplied_lines_there_is_no_ratio() -> None:
    assert effective_ratio([], []) is None


@pytest.mark.seed("S4-18", "S1-46")
def test_the_statistics_of_a_session() -> None:
    summary = summarise_ledgers([TokenLedger(1, 9, 100), TokenLedger(2, 9, 300)])
    assert (summary.mean_tokens, summary.peak_tokens, summary.deviation_tokens) == (200, 300, 100)


@pytest.mark.seed("S4-24")
def test_each_ledger_line_has_tokens_source_and_position() -> None:
    lines = assemble(PACKAGE, ENTRIES, TEXTS).ledger.lines
    file = next(line for line in lines if line.name == "open_file")
    assert (file.source, file.category, file.tokens > 5, file.position > 2) == ("src/a.py", "files", True, True)
