"""Which notes enter a context."""

import pytest

from codecards.router.assemble.relevant_notes import relevant_notes
from codecards.router.notes.note import Anchor, AnchorState, Note, with_states
from tests.support.archives import Code


@pytest.mark.seed("S2-18", "S4-4", "S1-48")
def test_of_a_thousand_notes_only_those_with_a_reason_enter() -> None:
    many = [Note(f"{number}", "", f"colour{number} shape{number}", "t") for number in range(1_000)]
    special = [
        Note("likeness", "csv export", "stream rows of users", "t", rejected=("pandas: too heavy",)),
        Note("samefile", "", "x", "t", files=("src/a.py",)),
        Note("changing", "", "y", "t", anchors=(Anchor("f", "src/b.py", "1"),)),
        Note("settled", "", "z", "t", files=("src/a.py",), archived=True),
    ]
    found = relevant_notes(
        [*many, *special], goal="export users as csv", files=["src/a.py", "src/b.py"], about_to_change=["src/b.py"]
    )
    assert [(segment.source, segment.why) for segment in found] == [
        ("note changing", "about to change formerly changed code"),
        ("note samefile", "same files"),
        ("note likeness", "like an earlier task"),
    ]
    assert "rejected: pandas: too heavy" in found[2].text


def test_states_are_shown_with_a_note() -> None:
    note = with_states(Note("1", "", "x", "t", (Anchor("f", "a.py", "1"),)), Code())
    assert note.anchors[0].state is AnchorState.GONE
    assert relevant_notes([note], goal="", files=["a.py"])[0].state == "gone"
