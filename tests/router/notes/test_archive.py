"""The archive: notes on disk, reviews, concurrent processes."""

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from codecards.errors import AmbiguousTargetError, TargetNotFoundError, UsageError
from codecards.indexer.text.secrets import MASK, mask_secrets
from codecards.router.notes.archive import Archive
from codecards.router.notes.note import Anchor, NoteDraft
from tests.support.archives import Code, archive_in, filled


@pytest.mark.seed("S2-19", "S2-20")
def test_a_note_is_one_readable_file(tmp_path: Path) -> None:
    note = archive_in(tmp_path).add(NoteDraft("Order refactor", "Stream the rows.", rejected=("pandas: too heavy",)))
    (path,) = (tmp_path / "archive").iterdir()
    assert path.name == "2025-11-03-order-refactor-00000001.md"
    text = path.read_text(encoding="utf-8")
    assert text.endswith("# Order refactor\n\nStream the rows.\n")
    assert "pandas: too heavy" in text
    assert note.created == "2025-11-03T10:00:00Z"


def test_a_correction_replaces_the_text_and_keeps_the_old_one(tmp_path: Path) -> None:
    archive = filled(tmp_path, "The staging service listens on port 8080.", "Deploys need approval.")
    first = archive.notes()[0].note_id
    archive.correct(first, "The staging service listens on port 9443.")
    again = archive_in(tmp_path)
    (hit,) = again.search("staging service port")
    assert (hit.note.note_id, "9443" in hit.note.text, "8080" in hit.note.text) == (first, True, False)
    assert [revision.text for revision in again.show(first).history] == ["The staging service listens on port 8080."]
    assert len(again.notes()) == 2


def test_a_removed_note_is_gone(tmp_path: Path) -> None:
    archive = filled(tmp_path, "The build cache lives on the blue disk.")
    archive.remove(archive.notes()[0].note_id)
    assert archive.search("build cache") == []
    with pytest.raises(TargetNotFoundError):
        archive.remove("00000001")


@pytest.mark.seed("S2-55")
def test_a_review_lists_changed_code_then_low_confidence_then_duplicates_then_new_notes(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    archive.add(NoteDraft("", "sure and new"))
    archive.add(NoteDraft("", "about f", anchors=(Anchor("f", "a.py", "1"),)))
    archive.add(NoteDraft("", "a guess", confidence=0.2))
    archive.add(NoteDraft("", "sure and new!"))
    for number in range(20):
        archive.add(NoteDraft("", f"topic{number} colour{number} shape{number}"))
    reasons = [item.reason for item in archive.review(Code())]
    assert reasons[:4] == ["its code is gone", "confidence 0.20", "says the same as 00000001", "new"]
    assert len(reasons) == 12


def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path) -> None:
    archive = filled(tmp_path, "good")
    bad = {
        "a.md": b"no front matter",
        "b.md": b"---\nid: [\n---\nx",
        "c.md": b"---\nformat: 9\nid: c\n---\nx",
        "d.md": b"\xff\xfe",
    }
    for name, data in bad.items():
        (archive.folder / name).write_bytes(data)
    assert [note.text for note in archive.notes()] == ["good"]
    assert {one.name for one in archive.damaged} == set(bad)
    assert all((archive.folder / name).read_bytes() == data for name, data in bad.items())


def test_a_note_edited_and_renamed_by_hand_is_read(tmp_path: Path) -> None:
    archive = filled(tmp_path, "before")
    (path,) = archive.folder.glob("*.md")
    path.rename(path.with_name("mine.md")).write_text(
        path.with_name("mine.md").read_text(encoding="utf-8").replace("before", "after the edit"), encoding="utf-8"
    )
    assert archive.show("00000001").text == "after the edit"


@pytest.mark.parametrize("note_id", ["../secret", "", "a/b", "..\\x", "\0", "nosuch"])
def test_an_id_never_leads_out_of_the_archive(tmp_path: Path, note_id: str) -> None:
    (tmp_path / "secret.md").write_text("x", encoding="utf-8")
    with pytest.raises(TargetNotFoundError):
        filled(tmp_path, "good").show(note_id)


def test_a_prefix_that_matches_several_ids_is_refused(tmp_path: Path) -> None:
    with pytest.raises(AmbiguousTargetError):
        filled(tmp_path, "one", "two").show("0000000")


@pytest.mark.parametrize("text", ["", " \n", "x" * 100_001])
def test_a_note_without_text_or_with_too_much_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError):
        archive_in(tmp_path).add(NoteDraft("title", text))


KEYS = (
    "AK" + "IA" + "ABCDEFGHIJKLMNOP",
    "gh" + "p_" + "a1" * 18,
    "password = 'hunter2hunter2'",
    "https://u:p4ssw0rd@host/x",
)


@pytest.mark.parametrize("secret", KEYS)
def test_secrets_are_masked_before_they_are_written(tmp_path: Path, secret: str) -> None:
    archive_in(tmp_path).add(NoteDraft(f"t {secret}", f"text {secret} end", rejected=(secret,)))
    (path,) = (tmp_path / "archive").glob("*.md")
    written = path.read_text(encoding="utf-8")
    assert MASK in written
    assert secret.rpartition("=")[2].strip(" '") not in written


@pytest.mark.parametrize(
    "text", ["the password field is checked", "token w3i17q", "commit a3f2c9d", "see api_key parameter"]
)
def test_plain_words_are_not_masked(text: str) -> None:
    assert mask_secrets(text) == text


def add_many(folder: Path, writer: int) -> None:
    archive = Archive(folder)
    for number in range(10):
        archive.add(NoteDraft("", f"writer {writer} note {number}: token w{writer}i{number}q"))


def correct_many(folder: Path, writer: int, note_id: str) -> None:
    for number in range(10):
        Archive(folder).correct(note_id, f"text {writer} {number}")


def test_several_processes_lose_no_note_and_no_correction(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    shared = Archive(folder).add(NoteDraft("", "first"))
    with ProcessPoolExecutor(3, get_context("spawn")) as pool:
        work = [pool.submit(add_many, folder, writer) for writer in range(3)]
        work += [pool.submit(correct_many, folder, writer, shared.note_id) for writer in range(3)]
        for one in work:
            one.result()
    archive = Archive(folder)
    assert len(archive.notes()) == 31
    assert len(archive.show(shared.note_id).history) == 30
    assert [hit.note.text for hit in archive.search("w1i7q")] == ["writer 1 note 7: token w1i7q"]
    assert archive.damaged == ()


def test_archived_notes_are_listed_apart_and_still_found(tmp_path: Path) -> None:
    archive = filled(tmp_path, "old plan", "new plan")
    archive.set_archived("00000001")
    assert [note.text for note in archive.notes(archived=False)] == ["new plan"]
    assert [note.text for note in archive.notes(archived=True)] == ["old plan"]
    assert len(archive.search("plan")) == 2
    archive.set_archived("00000001", archived=False)
    assert len(archive.notes(archived=False)) == 2
