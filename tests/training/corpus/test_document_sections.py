"""Sections of documents, and the names of code that they mention."""

import pytest

from training.corpus.document_sections import Section, read_sections

MARKDOWN = """\
Intro with `ignored()`.

# Keep *values* for [later](later.md)

A store keeps `Store` values, see `store.purge()` and `now`.

```python
def helper(): ...
helper()
store = open_store(path)
print(store)
```

## Empty one
"""
RESTRUCTURED = """\
Keep values for later
=====================

A store keeps :class:`~shop.Store` values, see :py:meth:`purge them <Store.purge>`.

.. code-block:: python

    store = open_store(path)

.. autofunction:: shop.close_store

.. unknown-directive:: x

    text

Further down
------------

>>> store.read_all(1)
"""


@pytest.mark.parametrize(
    ("suffix", "text", "sections"),
    [
        (
            ".md",
            MARKDOWN,
            [
                (
                    "Keep values for later",
                    "A store keeps Store values, see store.purge() and now.",
                    {"Store", "store.purge", "open_store", "print"},
                ),
                ("Empty one", "", set()),
            ],
        ),
        (
            ".rst",
            RESTRUCTURED,
            [
                (
                    "Keep values for later",
                    "A store keeps ~shop.Store values, see purge them <Store.purge>.",
                    {"shop.Store", "Store.purge", "open_store", "shop.close_store"},
                ),
                ("Further down", "", {"store.read_all"}),
            ],
        ),
    ],
)
def test_a_section_has_its_heading_first_paragraph_and_names(
    suffix: str, text: str, sections: list[tuple[str, str, set[str]]]
) -> None:
    assert read_sections(suffix, text) == [
        Section(heading, paragraph, frozenset(names)) for heading, paragraph, names in sections
    ]


@pytest.mark.parametrize("suffix", [".md", ".rst"])
@pytest.mark.parametrize(
    "text", ["", "no heading", "====\n", ".. include:: /etc/passwd\n", "`open", "# \n", "a\n=\n\n::\n"]
)
def test_odd_documents_are_read(suffix: str, text: str) -> None:
    assert all("root:" not in section.paragraph for section in read_sections(suffix, text))
