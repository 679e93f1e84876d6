"""Compactions: fields, budgets, chains, summarisers."""

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.errors import BudgetTooSmallError
from codecards.router.compress.compaction import compact
from codecards.router.compress.entities import survival
from codecards.router.compress.excerpts import handle_of
from codecards.router.compress.summaries import Summariser, SummariserConfig
from codecards.router.compress.token_count import estimate_tokens

STORY = """
I looked at src/auth/token_validator.py:118 and saw TimeoutError: tcp connect timed out.
tried one retry, it failed again
switched to async socks proxy because the sync socket blocks the worker
commit a3f2c9d brought in `validate_token()`, see auth.token.Validator
npm run build gives error[E0425]: cannot find value
Conclusion: the sync socket blocks the worker, we need a non-blocking approach.
Should the pool be shared by both?
"""


@pytest.mark.seed("S1-19", "S1-28", "S1-40", "S4-20")
def test_a_compaction_has_the_fields() -> None:
    result = compact(STORY, 500)
    assert result.file == ("src/auth/token_validator.py:118",)
    assert "TimeoutError: tcp connect timed out" in result.error
    assert result.commit == ("a3f2c9d",)
    assert len(result.attempts) == 2
    assert result.conclusion.startswith("Conclusion: the sync socket")
    assert result.open_questions == ("Should the pool be shared by both?",)
    assert result.change_reason == ("switched to async socks proxy because the sync socket blocks the worker",)


@pytest.mark.seed("S1-36", "S1-37")
def test_every_entity_survives_word_for_word_within_the_budget() -> None:
    assert survival(STORY, compact(STORY, 500).as_text()) == 1.0


@pytest.mark.seed("S1-36")
def test_entities_enter_before_statements_if_room_is_short() -> None:
    result = compact(STORY, 110)
    assert result.file
    assert not result.attempts
    assert "lines" in result.dropped[0].what


@pytest.mark.seed("S1-20")
def test_preserve_keys_keep_their_lines() -> None:
    assert compact("api: v2 only\nnoise\n" * 3, 200, ["api"]).preserved == {"api": "api: v2 only"}


@pytest.mark.seed("S4-20")
def test_a_chain_of_compactions_keeps_the_reasons() -> None:
    first = compact(STORY, 500)
    second = compact("Conclusion: done with src/b.py", 500, previous=first)
    assert second.previous == first.conclusion
    assert second.change_reason == first.change_reason
    assert second.file == (*first.file, "src/b.py")


def test_a_target_smaller_than_the_empty_result_is_refused() -> None:
    with pytest.raises(BudgetTooSmallError) as refused:
        compact(STORY, 5)
    assert compact(STORY, refused.value.needed_tokens).handle == handle_of(STORY)


@pytest.mark.seed("S2-54")
@for_all(st.text(max_size=2_000), st.integers(60, 400))
@hypothesis_settings(max_examples=80, deadline=None)
def test_a_compaction_never_exceeds_its_target(source: str, target: int) -> None:
    result = compact(source, target)
    assert estimate_tokens(result.as_text()) <= target
    assert result.handle == handle_of(source)
    assert "open_questions" in json.loads(result.as_text())


def hang(_text: str, _tokens: int) -> str:
    time.sleep(30)
    return "late"


def fail(_text: str, _tokens: int) -> str:
    raise OSError("no model")


@pytest.mark.parametrize(
    ("summariser", "why"),
    [
        (hang, "no answer in 0.05 s"),
        (fail, "failed (OSError: no model)"),
        (lambda text, _: text * 2, "not shorter than its source"),
        (lambda _text, tokens: "path_validator " * (tokens + 5), "were allowed"),
        (lambda _text, _tokens: "", "no text"),
        (lambda _text, _tokens: None, "no text"),
    ],
)
def test_without_a_usable_summary_the_rules_choose_and_the_notice_says_why(summariser: Summariser, why: str) -> None:
    found = compact(STORY * 40, 500, summariser=SummariserConfig(summariser, 0.05))
    assert why in found.notice
    assert replace(found, notice="") == compact(STORY * 40, 500)
    assert "notice" not in json.loads(found.as_text())


def test_a_good_summariser_words_the_conclusion() -> None:
    found = compact(STORY, 500, summariser=SummariserConfig(lambda _text, _tokens: "Use async."))
    assert (found.conclusion, found.notice) == ("Use async.", "")


def test_a_summary_takes_the_room_of_lines_never_that_of_paths_and_errors() -> None:
    source = "\n".join(f"tried src/file_{number}.py: KeyError: 'k{number}', because it is late" for number in range(90))
    by_rules = compact(source, 600)
    asked: list[int] = []

    def summariser(_text: str, tokens: int) -> str:
        asked.append(tokens)
        return "All keys are late."

    found = compact(source, 600, summariser=SummariserConfig(summariser))
    assert (found.file, found.error) == (by_rules.file, by_rules.error)
    assert estimate_tokens(found.as_text()) <= 600
    small = compact(source[:600], 600, summariser=SummariserConfig(summariser))
    assert asked[-1] > 100
    assert small.conclusion == "All keys are late."
    assert small.attempts
