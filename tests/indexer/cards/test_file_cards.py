"""Stored texts appear in answers, so they contain no secrets."""

import pytest

from codecards.indexer.cards.file_cards import record_of_bytes
from codecards.indexer.cards.record import pack
from codecards.indexer.problems import Coverage, Reason
from codecards.indexer.text.secrets import MASK

KEY = "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


def stored_texts(source: str, language: str) -> list[tuple[str, str, str]]:
    """Return (name, signature, doc) of each card, after a check that nothing stored contains a secret."""
    record = record_of_bytes(source.encode(), language)
    drafts = record.contents.drafts
    assert not any(
        KEY in text or TOKEN in text for one in drafts for text in (one.qualified_name, one.signature, one.doc)
    )
    assert not any(secret.encode() in pack(record).facts for secret in (KEY, TOKEN))
    return [(one.name, one.signature, one.doc) for one in drafts]


def test_secrets_in_values_default_arguments_and_docs_are_masked() -> None:
    source = f'API_KEY = "{KEY}"\n\n\ndef pay(key="{KEY}"):\n    """Logs in with {TOKEN}."""\n'
    assert stored_texts(source, "python") == [
        ("API_KEY", f'API_KEY = "{MASK}"', ""),
        ("pay", f'def pay(key="{MASK}")', f"Logs in with {MASK}."),
    ]


def test_secrets_in_headings_and_leading_comments_are_masked() -> None:
    assert stored_texts(f"# Use {TOKEN}\n\ntext\n", "markdown")[0][0] == f"Use {MASK}"
    assert stored_texts(f"# Key: {TOKEN}\nimport os\n\nprint(os)\n", "python")[0][2] == f"Key: {MASK}"


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"4d" * 32 + b"\nsize 12345678\n"


@pytest.mark.parametrize("language", ["python", "javascript", "sql", "markdown", ""])
@pytest.mark.parametrize("data", [POINTER, POINTER.replace(b"\n", b"\r\n"), b"/annex/objects/SHA256E-s1--4d.dat\n"])
def test_pointers_to_large_files_have_no_cards(language: str, data: bytes) -> None:
    contents = record_of_bytes(data, language).contents
    assert contents.drafts == ()
    assert [(reason, coverage) for reason, _, coverage in contents.problems] == [(Reason.LFS_POINTER, Coverage.NONE)]


def test_a_text_about_pointers_is_no_pointer() -> None:
    assert record_of_bytes(b"# See\n" + POINTER, "markdown").contents.drafts


def test_source_maps_have_no_cards() -> None:
    data = b'{"version":3,"file":"a.js","sources":["../src/a.ts"],"names":[],"mappings":"AAAA;AACA"}'
    assert [reason for reason, _, _ in record_of_bytes(data, "").contents.problems] == [Reason.BUILT]
