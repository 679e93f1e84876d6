"""A file of each format on disk is read, or refused or replaced with a message that says what to do."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from codecards import Engine, Settings
from codecards.agents.record import FORMAT as RECORD_FORMAT
from codecards.agents.record import read_record
from codecards.errors import (
    ConfigurationError,
    SnapshotError,
    SnapshotFormatError,
    StateFileError,
)
from codecards.indexer.index_folder import FORMAT as INDEX_FORMAT
from codecards.project.tuned_weights import FILE_NAME, TunedWeightsFile
from codecards.project.tuned_weights import FORMAT as WEIGHTS_FORMAT
from codecards.retrieval.rank.tuned_weights import GROUPS, weights_digest
from codecards.retrieval.store.folder import FORMAT as DERIVED_FORMAT
from codecards.retrieval.vectors.transformer_store import FORMAT as STORE_FORMAT
from codecards.retrieval.vectors.transformer_store import make_store, open_store
from codecards.router.memory.bundle import FORMAT as BUNDLE_FORMAT
from codecards.router.memory.bundle import read_bundle
from codecards.router.memory.state import FORMAT as STATE_FORMAT
from codecards.router.memory.state import decode_state
from codecards.router.notes.markdown import FORMAT as NOTE_FORMAT
from codecards.router.notes.markdown import read_note
from tests.support.format_files import DATA, GOAL, MODEL, NOTE_TITLE, SHOP, data_file
from tests.support.indexed import write_repository

NEWEST_INDEX = f"format-{INDEX_FORMAT}-derived-{DERIVED_FORMAT}"
QUESTION = "where are expired tokens removed"
OLDER = [
    (name, SnapshotFormatError, rf"has format {number}, this version reads {INDEX_FORMAT}; run `codecards index`")
    for name, number in (("format-1-derived-1", 1), ("format-2-derived-3", 2), ("format-2-derived-4", 2))
]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "shop", SHOP)


def unpack_index(root: Path, name: str) -> None:
    """Put the index of a format in the place of a project's index."""
    shutil.unpack_archive(DATA / "index" / f"{name}.zip", root / ".codecards" / "index")


@pytest.mark.parametrize(
    ("kind", "number", "suffix"),
    [
        ("bundle", BUNDLE_FORMAT, ".json"),
        ("index", INDEX_FORMAT, f"-derived-{DERIVED_FORMAT}.zip"),
        ("install_record", RECORD_FORMAT, ".json"),
        ("note", NOTE_FORMAT, ".md"),
        ("session", STATE_FORMAT, ".json"),
        ("transformer_vectors", STORE_FORMAT, ".db"),
        ("tuned_weights", WEIGHTS_FORMAT, ".json"),
    ],
)
def test_the_newest_format_has_a_file(kind: str, number: int, suffix: str) -> None:
    assert data_file(kind, number, suffix).exists(), "run `python -m tests.support.format_files`"


def test_every_older_index_has_a_test() -> None:
    assert {path.stem for path in (DATA / "index").iterdir()} == {NEWEST_INDEX, *(name for name, _, _ in OLDER)}


def test_an_index_of_this_format_is_opened(root: Path) -> None:
    unpack_index(root, NEWEST_INDEX)
    with Engine(root, Settings(n_workers=1)) as engine:
        assert engine.is_indexed()
        assert engine.check() == []
        assert engine.recall(QUESTION).hits[0].card.qualified_name == "TokenStore.purge_expired"


@pytest.mark.parametrize(("name", "error", "says"), OLDER)
def test_an_older_index_is_refused_and_rebuilt(root: Path, name: str, error: type[SnapshotError], says: str) -> None:
    unpack_index(root, name)
    with Engine(root, Settings(n_workers=1)) as engine:
        assert not engine.is_indexed()
        with pytest.raises(error, match=says):
            engine.recall(QUESTION)
        assert engine.refresh().complete
        assert engine.check() == []
        assert engine.recall(QUESTION).hits[0].card.qualified_name == "TokenStore.purge_expired"
    assert json.loads((root / ".codecards" / "index" / "manifest.json").read_text())["format"] == INDEX_FORMAT


def test_the_state_of_a_session_is_read(root: Path) -> None:
    state = decode_state(data_file("session", 1, ".json").read_bytes(), "state.json")
    assert (state.name, state.memory.task.goal, state.memory.task.constraints) == ("timeout", GOAL, ("keep the API",))
    assert [file.path for file in state.memory.files] == ["shop/tokens.py", "shop/login.py"]
    assert state.operations
    folder = root / ".codecards" / "sessions" / "timeout"
    folder.mkdir(parents=True)
    shutil.copy(data_file("session", 1, ".json"), folder / "state.json")
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        assert "def purge_expired" in engine.session("timeout").before_generation("go on").text


def test_an_older_state_of_a_session_is_refused_and_left_alone(root: Path) -> None:
    path = root / ".codecards" / "sessions" / "timeout" / "state.json"
    path.parent.mkdir(parents=True)
    shutil.copy(data_file("session", 0, ".json"), path)
    with (
        Engine(root, Settings(n_workers=1)) as engine,
        pytest.raises(StateFileError, match=f"has format 0; this version reads {STATE_FORMAT}"),
    ):
        engine.session("timeout", goal="another")
    assert path.read_bytes() == data_file("session", 0, ".json").read_bytes()


def test_a_bundle_is_read() -> None:
    bundle = read_bundle(data_file("bundle", 1, ".json").read_bytes())
    assert (bundle.session, bundle.memory.task.goal, list(bundle.hashes)) == (
        "timeout",
        GOAL,
        ["shop/tokens.py", "shop/login.py"],
    )


def test_an_older_bundle_is_refused() -> None:
    with pytest.raises(StateFileError, match=f"bundle has format 0; this version reads {BUNDLE_FORMAT}"):
        read_bundle(data_file("bundle", 0, ".json").read_bytes())


def test_a_note_is_read() -> None:
    note = read_note(data_file("note", 1, ".md").read_bytes(), "note.md")
    assert (note.title, note.text, note.files) == (NOTE_TITLE, "the default stays 900 s", ("shop/tokens.py",))


def test_an_older_note_is_refused() -> None:
    with pytest.raises(StateFileError, match=rf"note\.md has format 0; this version reads {NOTE_FORMAT}"):
        read_note(data_file("note", 0, ".md").read_bytes(), "note.md")


def test_tuned_weights_are_read(tmp_path: Path) -> None:
    value = json.loads(data_file("tuned_weights", 1, ".json").read_text()) | {"weights": weights_digest()}
    (tmp_path / FILE_NAME).write_text(json.dumps(value))
    tuned, problem = TunedWeightsFile(tmp_path).read()
    assert problem == ""
    assert tuned is not None
    assert tuned.factors == dict.fromkeys(GROUPS, 1.25)


@pytest.mark.parametrize("number", [0, 1])
def test_tuned_weights_of_another_version_are_passed_over(tmp_path: Path, number: int) -> None:
    value = json.loads(data_file("tuned_weights", number, ".json").read_text()) | {"weights": "of other weights"}
    (tmp_path / FILE_NAME).write_text(json.dumps(value))
    tuned, problem = TunedWeightsFile(tmp_path).read()
    assert tuned is None
    assert "another version; run `codecards tune --fit` again" in problem


def test_the_record_of_an_installation_is_read() -> None:
    record = read_record(data_file("install_record", 1, ".json"))
    assert [(file.path, file.agents, file.spans) for file in record.files] == [("AGENTS.md", ("codex",), ((0, 10),))]


def test_an_older_record_of_an_installation_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=f"has format 0; this version reads format {RECORD_FORMAT}"):
        read_record(data_file("install_record", 0, ".json"))


@pytest.mark.parametrize(("number", "is_read"), [(1, True), (0, False)])
def test_stored_transformer_vectors_are_read_or_replaced(tmp_path: Path, number: int, is_read: bool) -> None:
    path = tmp_path / "vectors.db"
    shutil.copy(data_file("transformer_vectors", number, ".db"), path)
    store = open_store(path, MODEL)
    assert (store is not None) == is_read
    if store is not None:
        assert store.probe_vectors.shape == (4, 8)
        store.close()
        return
    make_store(path, MODEL, np.eye(4, 8, dtype=np.float32)).close()
    replaced = open_store(path, MODEL)
    assert replaced is not None
    replaced.close()
