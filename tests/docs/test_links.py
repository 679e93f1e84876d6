"""The documents link to files and headings that exist, and name the variables that the code reads."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    ROOT / "benchmarks" / "README.md",
    ROOT / "training" / "README.md",
]
LINK = re.compile(r"\]\(([^)\s]+)\)")
VARIABLE = re.compile(r"\bCODECARDS_[A-Z_]+\b")
SET_FOR_PROGRAMS = {"CODECARDS_TARGET_TOKENS"}
"""Variables that codecards sets, not reads."""


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        place, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = page.parent / place if place else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_variable_is_documented_and_every_documented_one_is_read() -> None:
    sources = [
        path for folder in ("codecards", "indexer", "retrieval", "router") for path in (ROOT / folder).rglob("*.py")
    ]
    text = "\n".join(path.read_text(encoding="utf-8") for path in sources)
    settings = (ROOT / "codecards" / "config.py").read_text(encoding="utf-8")
    documented = set(VARIABLE.findall((ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")))
    assert set(VARIABLE.findall(settings)) - {"CODECARDS_"} - SET_FOR_PROGRAMS <= documented
    assert {name for name in documented if f'"{name}"' not in text} == set()
    assert not SET_FOR_PROGRAMS & documented
