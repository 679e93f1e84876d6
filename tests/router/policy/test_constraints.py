"""Constraints in the user's text."""

from pathlib import Path

import pytest

from codecards.router.policy.constraints import MAX_CONSTRAINT_CHARACTERS, find_constraints

PROMPTS = Path(__file__).with_name("constraints.tsv")
"""A row a prompt: its text, then its constraints. The rows were written in four rounds; each round but the first was
measured before the rules were adapted to it: precision / recall .87 / .77, .92 / .79 and 1.00 / .85."""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix it. Do not touch the migrations! Thanks", ("Do not touch the migrations!",)),
        ("记住，我不用 requests。", ("记住，我不用 requests",)),
        ("Must we change it?", ()),
        ("what time is it", ()),
        ("tests must pass; never push", ("tests must pass", "never push")),
        ("Is that right? Do not touch a.py.", ("Do not touch a.py",)),
        ("when must the nightly export run", ()),
        ("where is the rule that users must not share tokens checked", ()),
        ("The test fails with: AssertionError: value must be positive", ()),
        ("explain why this function should never return None", ()),
        ("I don't know why it always fails", ()),
        ("Look at this:\n```\n# never call this twice\n```\n", ()),
    ],
)
def test_constraints_are_found_in_a_users_text(text: str, expected: tuple[str, ...]) -> None:
    assert find_constraints(text) == expected


@pytest.mark.seed("S4-19")
def test_constraints_are_told_from_questions_reports_and_small_talk() -> None:
    """Fails with the rule of one word ("must", "never" …): precision .52, recall .60."""
    n_right = n_found = n_wanted = 0
    for row in PROMPTS.read_text(encoding="utf-8").splitlines():
        prompt, *wanted = (cell.replace("\\n", "\n") for cell in row.split("\t"))
        found = {one.rstrip(".!?") for one in find_constraints(prompt)}
        n_right += len(found & {one.rstrip(".!?") for one in wanted})
        n_found, n_wanted = n_found + len(found), n_wanted + len(wanted)
    assert n_wanted > 150
    assert n_right / n_found >= 0.95
    assert n_right / n_wanted >= 0.85


@pytest.mark.parametrize(
    "piece", ["a", " ", "`", '"', "do not ", "must ", "don't,", "不要", "find ", "- ", "never ever "]
)
def test_a_hostile_prompt_of_a_megabyte_is_read(piece: str) -> None:
    assert len(find_constraints(piece * (1_000_000 // len(piece)))) <= 1
    assert len(find_constraints(f"{piece * (MAX_CONSTRAINT_CHARACTERS // len(piece))}\n" * 5_000)) <= 3
