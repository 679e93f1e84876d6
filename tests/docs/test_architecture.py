"""docs/architecture.md names real folders and modules, and its walks stay short."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
WALKS = re.findall(r"^### (.*?)\n(.*?)(?=^##)", PAGE, re.MULTILINE | re.DOTALL)
PATH = re.compile(r"`((?:codecards|indexer|retrieval|router|benchmarks|training|tests)/[\w/]*(?:\.py)?)`")
LINKED = ("indexer", "retrieval", "router")


def test_every_path_exists() -> None:
    assert [path for path in PATH.findall(PAGE) if not (ROOT / path).exists()] == []


def test_every_folder_of_the_product_is_in_the_code_map() -> None:
    code_map = PAGE.split("## Code map")[1].split("## Three walks")[0]
    folders = {
        init.parent.relative_to(ROOT).as_posix() + "/"
        for top in ("codecards", *LINKED)
        for init in (ROOT / top).glob("*/__init__.py")
        if init.parent.name not in LINKED
    }
    assert folders - set(PATH.findall(code_map)) == set()


@pytest.mark.parametrize(("title", "walk"), WALKS, ids=[title for title, _ in WALKS])
def test_a_walk_has_at_most_twenty_rooms_each_a_module(title: str, walk: str) -> None:
    rooms = re.findall(r"^\d+\. `([^`]+)`", walk, re.MULTILINE)
    assert 10 < len(rooms) <= 20, title
    assert all(room.endswith(".py") for room in rooms)
    assert len(rooms) == len(re.findall(r"^\d+\. ", walk, re.MULTILINE))
