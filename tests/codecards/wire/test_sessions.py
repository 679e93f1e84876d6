"""The JSON shapes of sessions."""

import json

import pytest

from codecards.router.memory.working_memory import (
    FileChange,
    MemoryFile,
    Mode,
    TaskState,
    WorkingMemory,
)
from codecards.wire.sessions import memory_as_json


@pytest.mark.seed("S2-35", "S2-7")
def test_a_working_memory_has_a_json_form_with_task_files_changes_and_notes() -> None:
    entry = MemoryFile("src/order/service.py", 0.92, Mode.FULL, "create_order, update_status")
    change = FileChange("src/order/service.py", "add cancel_order", "unpaid orders can be cancelled")
    memory = WorkingMemory(
        TaskState("add an endpoint that cancels an order", "implementing", ("do not change payments",)),
        files=(entry,),
        changes=(change,),
        archive_refs=("2025-11-03-order-refactor.md",),
    )
    written = json.loads(json.dumps(memory_as_json(memory)))
    assert written["task"] == {
        "goal": "add an endpoint that cancels an order",
        "status": "implementing",
        "constraints": ["do not change payments"],
    }
    (file,) = written["files"]
    assert (file["path"], file["relevance"], file["mode"]) == ("src/order/service.py", 0.92, "full")
    assert file["digest"] == "create_order, update_status"
    assert written["changes"] == [
        {
            "path": "src/order/service.py",
            "action": "add cancel_order",
            "reason": "unpaid orders can be cancelled",
            "status": "pending_test",
        }
    ]
    assert written["archive_refs"] == ["2025-11-03-order-refactor.md"]
