"""Sections of reStructuredText, AsciiDoc and Org documents."""

import pytest

from codecards.indexer.parse.languages import Capability, capabilities, detect_language
from tests.support.extraction_outline import facts_of, outline

RST = """\
    =====
    Guide
    =====

    Intro text
    ----------
    is here: *text*.

    Using :func:`~shop.cart`
    ------------------------

    Text of a paragraph::

        Not a heading
        -------------

    ----

    Deeper
    ~~~~~~
    More.

    =====  =====
    a      b
    =====  =====

    Last
    ----
    """
ASCIIDOC = """\
    = Guide
    :toc:

    == First *part* ==
    Text.

    ----
    == not a heading
    ----

    Underlined
    ~~~~~~~~~~
    Deep.

    == Second
    """
ORG = """\
    #+TITLE: Notes
    * TODO [#A] First item :tag:other:
    Body.
    ** Deeper [[https://example.org][link]]
    #+BEGIN_SRC org
    * not a heading
    #+END_SRC
    * Second
    """


def test_rst_headings_have_the_levels_of_their_forms() -> None:
    assert outline(RST, "rst") == [
        "section Guide 1-28",
        "section Guide.Intro text 5-7",
        "section Guide.Using ~shop.cart 9-25",
        "section Guide.Using ~shop.cart.Deeper 19-25",
        "section Guide.Last 27-28",
    ]
    assert facts_of(RST, "rst").definitions[1].doc == "is here: *text*."


def test_asciidoc_listings_have_no_headings() -> None:
    assert outline(ASCIIDOC, "asciidoc") == [
        "section Guide 1-15",
        "section Guide.First part 4-13",
        "section Guide.First part.Underlined 11-13",
        "section Guide.Second 15-15",
    ]


def test_org_headings_lose_state_priority_and_tags() -> None:
    assert outline(ORG, "org") == [
        "section First item 2-7",
        "section First item.Deeper link 4-7",
        "section Second 8-8",
    ]


@pytest.mark.parametrize(("path", "language"), [("a.rst", "rst"), ("a.adoc", "asciidoc"), ("a.org", "org")])
def test_documents_give_sections_and_no_calls(path: str, language: str) -> None:
    assert detect_language(path, b"") == language
    assert capabilities(language) == {Capability.DEFINITIONS, Capability.DOCUMENTATION}
    assert Capability.CALLS in capabilities("python")
    assert capabilities("") == frozenset()


@pytest.mark.parametrize("language", ["rst", "asciidoc", "org"])
def test_a_document_without_headings_has_no_sections(language: str) -> None:
    assert outline("Some words.\n\nMore words.\n", language) == []
