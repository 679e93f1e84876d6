"""README.zh-CN.md says the same as README.md: headings, code, commands, links and numbers agree."""

import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENGLISH = (ROOT / "README.md").read_text(encoding="utf-8")
CHINESE = (ROOT / "README.zh-CN.md").read_text(encoding="utf-8")
HEADING = re.compile(r"^(#+) ", re.MULTILINE)
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
LINK = re.compile(r"\]\(([^)]+)\)")
OTHER_LANGUAGE = {"README.md", "README.zh-CN.md"}


def sections(text: str) -> list[str]:
    """Return the text between headings of the second level, the introduction first."""
    return re.split(r"^## .*$", FENCE.sub("", text), flags=re.MULTILINE)


def test_headings_have_the_same_levels_in_the_same_order() -> None:
    english, chinese = (HEADING.findall(FENCE.sub("", text)) for text in (ENGLISH, CHINESE))
    assert english == chinese


def test_code_blocks_are_equal() -> None:
    assert FENCE.findall(ENGLISH) == FENCE.findall(CHINESE)


@pytest.mark.parametrize("number", range(len(sections(ENGLISH))))
def test_a_section_has_the_same_commands_links_and_numbers(number: int) -> None:
    english, chinese = sections(ENGLISH)[number], sections(CHINESE)[number]
    for pattern in (re.compile(r"`([^`\n]+)`"), LINK, NUMBER):
        found, expected = (Counter(pattern.findall(text)) for text in (chinese, english))
        assert set(found - expected | (expected - found)) <= OTHER_LANGUAGE


def test_each_names_the_other() -> None:
    assert "(README.zh-CN.md)" in ENGLISH
    assert "(README.md)" in CHINESE


def test_the_english_page_stays_short() -> None:
    assert ENGLISH.count("\n") <= 150
