"""Operations: hits in a row, stale reads."""

import pytest

from codecards.router.memory.operations import Operation, hits_in_a_row, stale_reads, unloadable


def recalls(*found: str, turn: int = 10) -> list[Operation]:
    """Return one retrieval for each word; it found one file for each letter."""
    return [
        Operation(number, turn, "recall", tuple(f"{letter}.py" for letter in letters))
        for number, letters in enumerate(found, 1)
    ]


@pytest.mark.seed("S0-16")
@pytest.mark.parametrize("kind", ["open", "read", "search", "list", "references", "callers", "recall"])
def test_every_kind_of_read_is_stale_once_its_file_is_written(kind: str) -> None:
    looked = [Operation(1, 1, kind, ("a.py", "b.py")), Operation(2, 1, kind, ("c.py",))]
    assert stale_reads([*looked, Operation(3, 2, "edit", ("a.py",))]) == {1}
    assert stale_reads([*looked, Operation(3, 2, "edit", ("a.py",), failed=True)]) == set()
    assert stale_reads([*looked, Operation(3, 2, "run", ("a.py",))]) == set()


@pytest.mark.seed("S0-14", "S0-15", "S0-16")
def test_a_stale_read_is_unloaded_only_after_fifty_operations() -> None:
    start = [
        Operation(1, 1, "read", ("a.py",)),
        Operation(2, 1, "search", ("a.py", "b.py")),
        Operation(3, 1, "read", ("b.py",)),
        Operation(4, 2, "edit", ("a.py",)),
    ]
    assert stale_reads(start) == {1, 2}
    later = start + [Operation(number, number, "run") for number in range(5, 60)]
    assert [unloadable(later[:n], 50) for n in (50, 51, 52)] == [set(), {1}, {1, 2}]


def test_a_failed_write_makes_nothing_stale() -> None:
    assert stale_reads([Operation(1, 1, "read", ("a.py",)), Operation(2, 1, "edit", ("a.py",), failed=True)]) == set()


def test_hits_before_the_last_switch_do_not_count() -> None:
    assert hits_in_a_row("a.py", recalls("a", "a", turn=4), since_turn=4) == 0
