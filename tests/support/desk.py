"""A project in memory with its sessions on disk."""

from collections.abc import Sequence
from pathlib import Path

from codecards.router.memory.state import TaskSpec
from codecards.router.memory.store import SessionStore
from codecards.router.notes.archive import Archive
from codecards.router.ports import FoldedHit, InMemoryTexts, Project, Signal
from codecards.router.session import Session

FILES = {
    "user/service.py": "import csv\n\ndef list_users():\n    return db.all()\n",
    "utils/exporter.py": "def stream_rows(rows):\n    yield from rows\n",
    "reports/excel.py": "from utils.exporter import stream_rows\n\ndef export_excel(users):\n    ...\n",
    "other.py": "x = 1\n",
}


class Finder:
    """Finds files by words in path or text."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files, self.queries = files, list[str]()

    def recall(self, query: str, limit: int) -> Sequence[FoldedHit]:
        """Return the files that contain a word of the query."""
        self.queries.append(query)
        words = [word for word in query.lower().replace("_", " ").split() if len(word) > 3]
        hits = [path for path, text in self.files.items() if any(word in (path + text).lower() for word in words)]
        return [FoldedHit(path, path, self.files[path].splitlines()[0], score=1.0) for path in hits][:limit]

    def near_words(self, query: str) -> Sequence[str]:
        """Return fixed words."""
        del query
        return ("exporter", "stream_rows")

    def near(self, paths: Sequence[str]) -> Sequence[Signal]:
        """Return a signal that the Excel report calls the exporter."""
        return [Signal("utils/exporter.py", 0.6, "called by reports/excel.py")] if "reports/excel.py" in paths else []


class Desk:
    """A project in memory with its sessions on disk."""

    def __init__(self, folder: Path) -> None:
        self.files = dict(FILES)
        self.finder = Finder(self.files)
        self.store = SessionStore(folder / "sessions")
        self.archive = Archive(folder / "archive")
        self.project = Project(
            InMemoryTexts(self.files), neighbours=self.finder, recaller=self.finder, vocabulary=self.finder
        )

    def start(self, name: str = "task", goal: str = "add CSV export of users", budget: int = 12_000) -> Session:
        """Return a new session."""
        return Session.start(self.store, name, self.project, self.archive, TaskSpec(goal, budget_tokens=budget))

    def again(self, name: str = "task") -> Session:
        """Return the session as another process would see it."""
        return Session(self.store, name, self.project, self.archive)
