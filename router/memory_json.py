"""The working memory as the Context Mode article writes it: task, files, changes, archive_refs; and our own fields."""

from collections.abc import Mapping

import msgspec

from codecards.errors import StateFileError
from codecards.router.working_memory import WorkingMemory


def memory_as_json(memory: WorkingMemory) -> dict[str, object]:
    """Return the memory as JSON values; what has its default is left out, but for the article's own fields."""
    task = memory.task
    found: dict[str, object] = {
        "task": {"goal": task.goal, "status": task.status, "constraints": list(task.constraints)},
        "files": [
            {
                "path": entry.path,
                "relevance": round(entry.relevance, 4),
                "mode": entry.mode.value,
                "digest": entry.digest,
                "purpose": entry.purpose,
                "last_access_turn": entry.last_access_turn,
                "pinned": entry.pinned,
                "why": entry.why,
            }
            for entry in memory.files
        ],
        "changes": [msgspec.to_builtins(change) for change in memory.changes],
        "archive_refs": list(memory.archive_refs),
        "open_questions": list(memory.open_questions),
        "memos": [msgspec.to_builtins(memo) for memo in memory.memos],
        "todo": [msgspec.to_builtins(item) for item in memory.todo],
        "turn": memory.turn,
    }
    return found


def memory_from_json(data: Mapping[str, object]) -> WorkingMemory:
    """Return the memory of JSON values; unknown fields are ignored, missing ones have their default.

    Raises:
        StateFileError: A field has another type than it must have, or there is no goal.
    """
    try:
        return msgspec.convert(dict(data), type=WorkingMemory)
    except msgspec.ValidationError as error:
        raise StateFileError(f"This is no working memory: {error}") from error
