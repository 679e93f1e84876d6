"""Compaction, entities, excerpts and compressors."""

import json
import time
from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.errors import BudgetTooSmallError
from codecards.router.compress.compaction import compact
from codecards.router.compress.entities import find_entities, survival
from codecards.router.compress.excerpts import CAP_SENTENCE, cap_output, focused, handle_of, head_and_tail
from codecards.router.compress.summaries import Summariser, SummariserConfig
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.compress.tool_output import compress

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
def test_entities_enter_before_logic_where_room_is_short() -> None:
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
def test_a_bad_summariser_leaves_the_rules_words_and_the_result_says_why(summariser: Summariser, why: str) -> None:
    found = compact(STORY * 40, 500, summariser=SummariserConfig(summariser, 0.05))
    assert why in found.notice
    assert replace(found, notice="") == compact(STORY * 40, 500)
    assert "notice" not in json.loads(found.as_text())


def test_a_good_summariser_words_the_conclusion() -> None:
    found = compact(STORY, 500, summariser=SummariserConfig(lambda _text, _tokens: "Use async."))
    assert (found.conclusion, found.notice) == ("Use async.", "")


def test_a_summariser_takes_the_room_of_lines_never_that_of_paths_and_errors() -> None:
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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see src/a/b.py:12 now", {("path", "src/a/b.py:12")}),
        ("KeyError: 'x'", {("error", "KeyError: 'x'")}),
        ("at deadbee1 or 1234567", {("commit", "deadbee1")}),
        ("call parse_url() of http.client", {("symbol", "parse_url()"), ("symbol", "http.client")}),
        ("ECONNRESET and TS2304", {("error", "ECONNRESET"), ("error", "TS2304")}),
        ("plain words only", set()),
    ],
)
def test_entities(text: str, expected: set[tuple[str, str]]) -> None:
    assert {(entity.kind, entity.text) for entity in find_entities(text)} == expected


LONG = "".join(f"line {number}\n" for number in range(1, 400))


@pytest.mark.seed("S2-25", "S2-29")
def test_a_cut_text_keeps_head_and_tail_and_says_so() -> None:
    cut = head_and_tail(LONG, 200, estimate_tokens, handle=handle_of(LONG))
    assert cut.startswith("line 1\n")
    assert cut.endswith("line 399\n")
    assert f"left out; restore {handle_of(LONG)}" in cut


@pytest.mark.seed("S2-50")
def test_the_output_cap_uses_the_articles_sentence() -> None:
    text = LONG * 40
    capped = cap_output(text, estimate_tokens)
    assert CAP_SENTENCE in capped
    assert 7_000 < estimate_tokens(capped) <= 8_000
    assert cap_output(LONG, estimate_tokens) == LONG


@for_all(st.text(max_size=3_000), st.integers(1, 300))
@hypothesis_settings(max_examples=100, deadline=None)
def test_a_cut_text_fits_and_is_never_empty(text: str, budget: int) -> None:
    cut = head_and_tail(text, budget, estimate_tokens)
    assert estimate_tokens(cut) <= budget
    assert cut or not text


@pytest.mark.seed("S0-29")
@pytest.mark.parametrize("focus", [(200, 210), (1, 1), (399, 900)])
def test_a_focus_shows_its_lines(focus: tuple[int, int]) -> None:
    shown = focused(LONG, [focus], 150, estimate_tokens)
    assert f"line {focus[0]}\n" in shown
    assert estimate_tokens(shown) <= 150


PYTEST = (
    "============ test session starts ============\n"
    + "".join(f"tests/test_a.py::test_{number} PASSED [ 1%]\n" for number in range(80))
    + "E   AssertionError: 1 != 2\ntests/test_a.py:12: AssertionError\n==== 1 failed, 80 passed in 1.2s ====\n"
)
TRACE = (
    "Traceback (most recent call last):\n"
    + '  File "app.py", line 3, in main\n    run()\n'
    + "".join(f'  File "/x/site-packages/lib/m{number}.py", line {number}, in f\n    g()\n' for number in range(9))
    + "ValueError: bad\n"
)
GIT_LOG = "".join(
    f"commit {number:07x}abc\nAuthor: A <a@b.c>\nDate:   Mon\n\n    Subject {number}\n\n    Body text\n\n"
    for number in range(5)
)
CARGO = "   Compiling serde v1.0\n" * 30 + "error[E0425]: cannot find value `x`\n --> src/main.rs:2:5\n"


@pytest.mark.seed("S1-47", "S1-34")
@pytest.mark.parametrize(
    ("output", "kept", "gone"),
    [
        (PYTEST, ["AssertionError: 1 != 2", "1 failed, 80 passed", "80 lines of passed"], "test_5 PASSED"),
        (TRACE, ["app.py", "ValueError: bad", "7 library frames"], "m4.py"),
        (GIT_LOG, ["Subject 0", "Subject 4", "0000003abc"], "Body text"),
        (CARGO, ["error[E0425]", "src/main.rs:2:5"], "serde"),
        (json.dumps({"rows": list(range(500))}), ['"rows"', "497 more items"], "100"),
        ("\n".join(f"src/file_{number}.py" for number in range(60)), ["file_0.py", "48 more names"], "file_50"),
    ],
)
def test_outputs_lose_their_filler_only(output: str, kept: list[str], gone: str) -> None:
    shorter = compress(output)
    assert all(text in shorter for text in kept)
    assert gone not in shorter
    assert len(shorter) * 2 < len(output)


@for_all(st.text(max_size=500))
def test_compressing_never_makes_longer(text: str) -> None:
    assert len(compress(text)) <= len(text)
