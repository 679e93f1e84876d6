"""Every cost is counted, losses are shown, and the sums are right."""

import pytest

from codecards.savings.grep_baseline import Corpus
from codecards.savings.ledger import OfferedHit, ToolAnswerText, cost_of, session_cost, totals_of
from codecards.savings.questions import SavingsQuestion
from codecards.savings.usage_log import WindowEntry


def words(text: str) -> int:
    return len(text.split())


CORPUS = Corpus({"right.py": "purge expired " + "x " * 98, "wrong.py": "purge expired tokens " + "y " * 497}, words)
QUESTION = SavingsQuestion("purge expired tokens", ("right.py",), "file")


def answer(*paths: str) -> ToolAnswerText:
    return ToolAnswerText("one two three four", tuple(OfferedHit(path, 1, "card text here") for path in paths))


def test_a_hit_in_a_right_file_costs_the_answer_the_opened_hits_and_the_reread_file() -> None:
    cost = cost_of(QUESTION, CORPUS, 1000, lambda _: answer("wrong.py", "right.py"), 2000, words)
    assert (cost.schema, cost.answer, cost.opened, cost.reread, cost.fallback) == (1000, 3 + 4, 3 + 3, 100, 0)
    assert cost.found
    assert cost.baseline.read_tokens == 500 + 100
    assert cost.ours == 1000 + 7 + 6 + 100
    assert cost.net == cost.baseline.tokens - cost.ours < 0


def test_without_a_hit_in_a_right_file_grepping_is_added() -> None:
    cost = cost_of(QUESTION, CORPUS, 0, lambda _: answer("wrong.py"), 2000, words)
    assert (cost.found, cost.opened, cost.reread) == (False, 3, 0)
    assert cost.fallback == cost.baseline.tokens
    assert cost.net == -(7 + 3)


def test_sums_count_the_tasks_that_cost_more_and_the_schema_once_a_session() -> None:
    good = cost_of(QUESTION, CORPUS, 100, lambda _: answer("right.py"), 2000, words)
    bad = cost_of(QUESTION, CORPUS, 100, lambda _: answer(), 2000, words)
    totals = totals_of([good, bad])
    assert (totals.n_tasks, totals.n_found, totals.n_found_baseline, totals.n_negative) == (2, 1, 2, 1)
    assert totals.net == good.net + bad.net == totals.baseline - totals.ours
    assert totals.net_one_session == totals.net + 100


def test_no_tasks_sum_to_nothing() -> None:
    assert totals_of([]).net_one_session == 0


LOG = [
    WindowEntry("start", 0),
    WindowEntry("read", 70, paths=("right.py",)),
    WindowEntry("answer", 40, "purge expired tokens", ("right.py", "wrong.py")),
    WindowEntry("read", 100, paths=("right.py",)),
    WindowEntry("answer", 30, "right", ("right.py",)),
    WindowEntry("brief", 20),
    WindowEntry("read", 9, paths=("elsewhere.py",)),
]


def test_a_session_pays_for_schema_answers_briefs_and_reread_files() -> None:
    cost = session_cost("mcp", LOG, CORPUS, 1000, 2000)
    assert cost is not None
    assert (cost.n_starts, cost.schema, cost.answers, cost.briefs, cost.reread) == (1, 1000, 70, 20, 100)
    assert (cost.n_answers, cost.n_without) == (2, 1)
    assert cost.baseline == CORPUS.grep_and_read(["purge", "expired", "tokens"], ["right.py"], 2000).tokens
    assert cost.net == cost.baseline - 1190


def test_each_conversation_pays_for_the_schema() -> None:
    cost = session_cost("mcp", [*LOG, WindowEntry("start", 0)], CORPUS, 1000, 2000)
    assert cost is not None
    assert cost.schema == 2000


@pytest.mark.parametrize("log", [[], LOG[:2]])
def test_a_session_without_answers_has_no_cost(log: list[WindowEntry]) -> None:
    assert session_cost("mcp", log, CORPUS, 1000, 2000) is None
