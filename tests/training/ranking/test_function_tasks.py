"""Documentation, names and errors of functions ask for them, on trees without the documentation."""

import random

import pytest

from training.ranking.function_tasks import mine_file

PYTHON = '''def outer(a):
    """Return the biggest of the items."""
    if not a:
        raise ValueError(f"the list of {a} must not be empty")
    return max(a)


class Box:
    """Holds things."""

    def is_full(self):
        # full means that nothing fits
        n = len(self.items)
        return n >= self.size
'''
GO = """package box

// Fill puts every item into the box.
// It stops at the first that does not fit.
func (b *Box) Fill(items []int) error {
\tfor _, item := range items {
\t\tb.put(item)
\t}
\treturn errors.New("the box has no room left")
}
"""


def test_documentation_asks_and_is_removed() -> None:
    tasks, stripped = mine_file("t", "a.py", PYTHON, random.Random(0))
    lines = stripped.decode().split("\n")
    assert "Return the biggest" not in stripped.decode()
    assert '"""Holds things."""' in stripped.decode()
    found = {task.category: task for task in tasks if task.category not in {"symbol", "message"}}
    (task,) = found.values()
    assert lines[task.targets[0].first_line - 1] == "def outer(a):"
    assert lines[task.targets[0].last_line - 1] == "    return max(a)"


@pytest.mark.parametrize(
    ("path", "text", "message"),
    [
        ("a.py", PYTHON, "the list of must not be empty"),
        ("a.go", GO, "the box has no room left"),
    ],
)
def test_the_text_of_a_raised_error_asks(path: str, text: str, message: str) -> None:
    tasks, _ = mine_file("t", path, text, random.Random(0))
    assert [task.text for task in tasks if task.category == "message"] == [message]


def test_a_name_of_several_words_asks() -> None:
    tasks, stripped = mine_file("t", "a.py", PYTHON, random.Random(0))
    (task,) = [task for task in tasks if task.category == "symbol"]
    assert task.text == "is_full"
    assert stripped.decode().split("\n")[task.targets[0].first_line - 1] == "    def is_full(self):"


def test_a_leading_comment_is_removed_and_lines_are_renumbered() -> None:
    tasks, stripped = mine_file("t", "a.go", GO, random.Random(0))
    assert b"puts every item" not in stripped
    assert {task.targets[0].first_line for task in tasks} == {3}
