"""Changes of the working memory."""

import pytest

from codecards.router.memory.working_memory import (
    MAX_MEMOS,
    ClosedFileSummary,
    FileChange,
    TaskState,
    WorkingMemory,
    with_change,
    with_memo,
    with_task,
)


@pytest.mark.seed("S2-8", "S2-48")
def test_a_goal_is_replaced_and_never_appended_to() -> None:
    memory = WorkingMemory(TaskState("old", constraints=("keep",)))
    assert with_task(memory, "new").task.goal == "new"
    assert with_task(memory, "new").task.constraints == ("keep",)


@pytest.mark.seed("S2-10", "S2-48")
def test_the_reason_of_a_change_is_cut() -> None:
    memory = with_change(WorkingMemory(TaskState("x")), FileChange("a.py", "edit", "because\n" + "detail " * 100))
    assert len(memory.changes[0].reason) == 200


@pytest.mark.seed("S0-35")
def test_the_number_of_memos_is_limited() -> None:
    memory = WorkingMemory(TaskState("x"))
    for number in range(MAX_MEMOS + 5):
        memory = with_memo(memory, ClosedFileSummary(f"{number}.py", "m"))
    assert [memo.path for memo in memory.memos] == [f"{number}.py" for number in range(5, MAX_MEMOS + 5)]
