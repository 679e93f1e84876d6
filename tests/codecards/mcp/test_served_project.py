"""A served project answers in every state of its index, and keeps the index up to date."""

import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from codecards.config import Settings
from codecards.errors import ProjectNotFoundError, SnapshotError
from codecards.mcp import refresher
from codecards.mcp.served_project import ServedProject
from tests.support.indexed import write_repository

FILES = "#- a.py\ndef first():\n    return 1\n#- b.py\ndef second():\n    return first()\n"


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedProject]:
    project = ServedProject(write_repository(tmp_path / "p", FILES), Settings(n_workers=1))
    yield project
    project.close()


def never() -> bool:
    return False


def eventually(holds: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 30
    while not holds() and time.monotonic() < deadline:
        time.sleep(0.05)
    return holds()


def names(project: ServedProject, query: str) -> list[str]:
    return [hit.card.name for hit in project.recall(query, 3, (), ()).hits]


def test_without_an_index_the_files_are_searched(served: ServedProject) -> None:
    found = served.recall("first", 3, (), ())
    assert found.generation == 0
    assert found.hits[0].card.path == "a.py"
    with pytest.raises(SnapshotError):
        served.ask(lambda engine: engine.callers("first"))


def test_the_first_build_waits_for_the_first_question(served: ServedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresher, "FIRST_QUESTION_S", 600.0)
    served.start()
    assert served.recall("first", 3, (), ()).generation == 0
    assert eventually(served.has_index)


def test_a_refresh_does_not_wait_for_a_first_question(served: ServedProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresher, "FIRST_QUESTION_S", 600.0)
    served.start()
    assert served.refresh(never) is not None


def test_a_started_project_indexes_and_follows_changes(served: ServedProject) -> None:
    served.start()
    assert served.refresh(never) is not None
    assert names(served, "first")[0] == "first"
    (served.root / "c.py").write_text("def third():\n    return 3\n", encoding="utf-8")
    assert eventually(lambda: "third" in names(served, "third"))


@pytest.mark.parametrize("harm", ["removed", "damaged", "of another version"])
def test_a_lost_index_is_rebuilt_while_questions_are_answered_from_the_files(served: ServedProject, harm: str) -> None:
    served.engine.refresh()
    folder = served.engine.folder
    if harm == "removed":
        shutil.rmtree(folder.path)
    elif harm == "damaged":
        folder.database.write_bytes(b"x" * folder.database.stat().st_size)
    else:
        folder.manifest_path.write_text('{"format": 999}', encoding="utf-8")
    assert served.recall("first", 3, (), ()).hits[0].card.path == "a.py"
    served.start()
    assert eventually(lambda: served.has_index() and served.recall("first", 3, (), ()).generation > 0)


def test_a_read_only_project_writes_nothing(tmp_path: Path) -> None:
    root = write_repository(tmp_path / "p", FILES)
    project = ServedProject(root, Settings(n_workers=1), read_only=True)
    project.start()
    assert project.recall("first", 3, (), ()).hits
    project.close()
    assert not (root / ".codecards").exists()


def test_a_missing_folder_is_an_error(served: ServedProject) -> None:
    shutil.rmtree(served.root)
    with pytest.raises(ProjectNotFoundError):
        served.recall("first", 3, (), ())


def test_a_refresh_ends_when_its_caller_gives_up(served: ServedProject) -> None:
    assert served.refresh(lambda: True) is None


def test_closing_stops_a_build_without_an_error(served: ServedProject) -> None:
    served.start()
    served.close()
    assert not served.indexing.error
