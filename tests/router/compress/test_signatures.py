"""The definition around some lines, found by indentation."""

import pytest

from codecards.router.compress.signatures import enclosing

PYTHON = """\
import os

class A:
    def one(self):
        x = 1

        return x

    def two(self):
        return 2

y = 3
"""
JAVA = """\
public class A {
    public int one() {
        return 1;
    }

    public int two() {
        return 2;
    }
}
"""


@pytest.mark.parametrize(
    ("text", "lines", "expected"),
    [
        (PYTHON, (5, 5), (4, 7)),
        (PYTHON, (4, 5), (4, 7)),
        (PYTHON, (6, 6), (6, 6)),
        (PYTHON, (5, 10), (3, 10)),
        (PYTHON, (10, 10), (9, 10)),
        (PYTHON, (12, 12), (12, 12)),
        (JAVA, (3, 3), (2, 4)),
        (JAVA, (3, 7), (1, 9)),
    ],
)
def test_the_innermost_definition_around_the_lines(
    text: str, lines: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert enclosing(text.splitlines(), *lines) == expected
