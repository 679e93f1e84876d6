"""Writes the files of `tests/data`: one of each format that this version puts on disk.

    python -m tests.support.format_files

Run it, and commit what it writes, before the number of a format is raised: the old file stays as it is then, and
`tests/codecards/test_formats.py` shows that a later version reads it, or refuses or replaces it with a clear message.
"""

import shutil
import tempfile
from pathlib import Path

import numpy as np

from codecards import Engine, Settings, ToolCall
from codecards.agents.record import FORMAT as RECORD_FORMAT
from codecards.agents.record import InstalledFile, Record, save_record
from codecards.indexer.index_folder import FORMAT as INDEX_FORMAT
from codecards.project.tuned_weights import FORMAT as WEIGHTS_FORMAT
from codecards.project.tuned_weights import TunedWeightsFile
from codecards.retrieval.rank.tuned_weights import GROUPS, TunedWeights
from codecards.retrieval.store.folder import FORMAT as DERIVED_FORMAT
from codecards.retrieval.vectors.transformer_store import FORMAT as STORE_FORMAT
from codecards.retrieval.vectors.transformer_store import make_store
from codecards.router.memory.bundle import FORMAT as BUNDLE_FORMAT
from codecards.router.memory.state import FORMAT as STATE_FORMAT
from codecards.router.notes.markdown import FORMAT as NOTE_FORMAT
from tests.support.indexed import write_repository
from tests.support.shop import LOGIN, TOKENS

DATA = Path(__file__).parents[1] / "data"
SHOP = TOKENS + LOGIN
MODEL = "a-model-1"
"""Identity of the model in the store of transformer vectors."""
NOTE_TITLE = "Login timeout"
GOAL = "change the login timeout"


def data_file(kind: str, number: int, suffix: str = "") -> Path:
    """Return the path of a kind of file in a format."""
    return DATA / kind / f"format-{number}{suffix}"


def main() -> None:
    """Write the files of today's formats."""
    with tempfile.TemporaryDirectory() as folder:
        _write_project_files(Path(folder) / "shop")
        _write_tuned_weights(Path(folder))
    save_record(
        _new(data_file("install_record", RECORD_FORMAT, ".json")),
        Record(files=(InstalledFile("AGENTS.md", ("codex",), True, (), "0" * 64, ((0, 10),)),)),
    )
    store_path = _new(data_file("transformer_vectors", STORE_FORMAT, ".db"))
    store = make_store(store_path, MODEL, np.eye(4, 8, dtype=np.float32))
    store.close()


def _write_project_files(root: Path) -> None:
    """Write an index, the state and the bundle of a session, and a note."""
    write_repository(root, SHOP)
    with Engine(root, Settings(n_workers=1)) as engine:
        engine.refresh()
        session = engine.session("timeout", goal=GOAL, constraints=["keep the API"])
        session.open_file("shop/tokens.py", purpose="see how tokens expire")
        session.record(ToolCall("run", text="pytest -q", result="1 failed", failed=True))
        session.recall("where are expired tokens removed")
        session.before_generation("go on")
        note = session.commit_note(title=NOTE_TITLE, conclusion="the default stays 900 s", files=["shop/tokens.py"])
        bundle = session.export()
    state_folder = root / ".codecards"
    for lock in (state_folder / "index").rglob("*.lock"):
        lock.unlink()
    archive = _new(data_file("index", INDEX_FORMAT, f"-derived-{DERIVED_FORMAT}.zip"))
    shutil.make_archive(str(archive.with_suffix("")), "zip", state_folder / "index")
    shutil.copy(state_folder / "sessions" / "timeout" / "state.json", _new(data_file("session", STATE_FORMAT, ".json")))
    _new(data_file("bundle", BUNDLE_FORMAT, ".json")).write_bytes(bundle)
    (note_file,) = (state_folder / "archive").rglob(f"*{note.note_id}*.md")
    shutil.copy(note_file, _new(data_file("note", NOTE_FORMAT, ".md")))


def _write_tuned_weights(folder: Path) -> None:
    file = TunedWeightsFile(folder)
    file.write(TunedWeights(dict.fromkeys(GROUPS, 1.25), "0.1.0", "0" * 40, "2025-12-01", 120, 0.5, 0.52))
    shutil.copy(file.path, _new(data_file("tuned_weights", WEIGHTS_FORMAT, ".json")))


def _new(path: Path) -> Path:
    """Return a path with nothing there and its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    return path


if __name__ == "__main__":
    main()
