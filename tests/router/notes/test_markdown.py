"""Note files are read back without loss."""

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from codecards.router.notes.markdown import read_note, write_note
from codecards.router.notes.note import Anchor, Note, Revision

any_text = st.text(max_size=80)


notes = st.builds(
    Note,
    note_id=st.just("ab12"),
    title=st.text(st.characters(codec="utf-8", categories=["L", "N", "P"]), max_size=20),
    text=any_text,
    created=st.just("2025-11-03T10:00:00Z"),
    anchors=st.lists(st.builds(Anchor, st.just("A.b"), st.just("src/a.py"), st.just("00ff")), max_size=2).map(tuple),
    rejected=st.lists(st.text("ab:'#-\n 中", min_size=1, max_size=20), max_size=2).map(tuple),
    confidence=st.sampled_from([0.0, 0.25, 1.0]),
    archived=st.booleans(),
    history=st.lists(st.builds(Revision, st.text("ab\n-:中 ", min_size=1, max_size=30), st.just("t")), max_size=2).map(
        tuple
    ),
)


@pytest.mark.seed("S2-19", "S2-17", "S2-56")
@for_all(notes)
def test_a_note_is_read_back_as_it_was_written(note: Note) -> None:
    assert read_note(write_note(note), "x.md") == note


def test_a_file_with_a_byte_order_mark_is_read() -> None:
    note = Note("ab12", "title", "text", "2026-01-01T00:00:00Z")
    assert read_note(b"\xef\xbb\xbf" + write_note(note), "x.md") == note
