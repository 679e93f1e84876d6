"""Constraints in the user's text."""

import pytest

from codecards.router.policy.constraints import find_constraints


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Fix it. Do not touch the migrations! Thanks", ("Do not touch the migrations!",)),
        ("记住，我不用 requests。", ("记住，我不用 requests",)),
        ("Must we change it?", ()),
        ("what time is it", ()),
        ("tests must pass; never push", ("tests must pass", "never push")),
    ],
)
def test_constraints_are_found_in_a_users_text(text: str, expected: tuple[str, ...]) -> None:
    assert find_constraints(text) == expected
