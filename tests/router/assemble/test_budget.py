"""How much of each file is shown within a budget."""

from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.router.assemble.budget import block_tokens, show_files, visible_lines
from codecards.router.compress.excerpts import focused, head_and_tail
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.working_memory import MemoryFile, Mode
from codecards.router.ports import FileText


@pytest.mark.seed("S2-9")
def test_files_that_do_not_fit_become_excerpts_digests_and_names() -> None:
    entries = [MemoryFile(f"{n}.py", mode=Mode.FULL, digest="d " * 20, last_access_turn=9 - n) for n in range(4)]
    texts = {f"{n}.py": FileText("line of code\n" * 100, "h") for n in range(4)}
    shown, left_out = show_files(entries, texts, 750, estimate_tokens)
    assert [file.shown for file in shown] == ["excerpt", "excerpt", "excerpt", "digest"]
    shown, left_out = show_files(entries, texts, 190, estimate_tokens)
    assert [file.shown for file in shown] == ["excerpt", "digest"]
    assert left_out == ("2.py", "3.py")
    (unknown,), _ = show_files([MemoryFile("4.py")], texts, 250, estimate_tokens)
    assert unknown.shown == "name"


def test_a_giant_file_leaves_room_for_the_others() -> None:
    entries = [
        MemoryFile("giant.py", mode=Mode.FULL, last_access_turn=9, focus=(2_000, 2_010)),
        MemoryFile("small.py", mode=Mode.FULL, last_access_turn=1),
        MemoryFile("other.py", digest="1: def other(): ..."),
    ]
    texts = {
        "giant.py": FileText("line of code\n" * 4_000, "h"),
        "small.py": FileText("small line\n" * 100, "h"),
    }
    shown, left_out = show_files(entries, texts, 3_000, estimate_tokens)
    assert [(file.path, file.shown) for file in shown] == [
        ("giant.py", "excerpt"),
        ("small.py", "full"),
        ("other.py", "digest"),
    ]
    assert estimate_tokens(shown[0].text) > 2_000
    assert left_out == ()


def test_where_room_is_scarce_each_file_shows_the_lines_used_last_before_any_shows_more() -> None:
    text = "".join(f"value_{number} = {number}\n" for number in range(1, 500))
    entries = [
        MemoryFile(f"{n}.py", mode=Mode.FULL, last_access_turn=n, used_lines=((90 + n, 91 + n), (300, 340)))
        for n in range(4)
    ]
    shown, left_out = show_files(entries, {f"{n}.py": FileText(text, "h") for n in range(4)}, 330, estimate_tokens)
    assert left_out == ()
    for number, file in zip((3, 2, 1, 0), shown, strict=True):
        lines = {line for first, last in file.visible_lines for line in range(first, last + 1)}
        assert {90 + number, 91 + number} <= lines


def test_a_notice_alone_is_not_a_digest() -> None:
    entry = MemoryFile(
        "a.py", digest="12: def a_function_with_a_name_of_many_words(and_arguments, of_many): ...\n" * 30
    )
    (shown,), _ = show_files([entry], {}, 40, estimate_tokens)
    assert (shown.shown, shown.text) == ("name", "")


def test_ten_giant_files_are_all_seen() -> None:
    entries = [
        MemoryFile(f"{n}.py", mode=Mode.FULL, digest="1: def f(): ...\n" * 30, last_access_turn=n, focus=(50, 60))
        for n in range(10)
    ]
    texts = {f"{n}.py": FileText("line of code\n" * 2_000, "h") for n in range(10)}
    shown, left_out = show_files(entries, texts, 4_800, estimate_tokens)
    assert [file.path for file in shown] == [f"{n}.py" for n in range(9, -1, -1)]
    assert left_out == ()
    assert estimate_tokens(shown[0].text) > 1_000
    assert min(estimate_tokens(file.text) for file in shown) >= 100


def test_head_and_tail_are_shown_only_if_they_are_longer_than_the_digest() -> None:
    entry = MemoryFile("a.py", mode=Mode.FULL, digest="1: def f(): ...\n" * 30, last_access_turn=1)
    texts = {"a.py": FileText("line of code\n" * 2_000, "h")}
    for room, lines, expected in ((180, None, "digest"), (180, (5, 9), "excerpt"), (900, None, "excerpt")):
        (shown,), _ = show_files([replace(entry, focus=lines)], texts, room, estimate_tokens)
        assert shown.shown == expected


@for_all(
    st.lists(st.tuples(st.integers(0, 900), st.booleans(), st.integers(0, 60), st.booleans()), max_size=9),
    st.integers(0, 4_000),
)
@hypothesis_settings(max_examples=60, deadline=None)
def test_files_never_take_more_than_their_room(files: list[tuple[int, bool, int, bool]], room: int) -> None:
    entries = [
        MemoryFile(
            f"{n}.py",
            mode=Mode.FULL if is_full else Mode.DIGEST,
            digest="def f(): ...\n" * n_digest,
            last_access_turn=n,
            used_lines=((7, 9), (300, 420), (40, 41)) if knows_lines else (),
        )
        for n, (_, is_full, n_digest, knows_lines) in enumerate(files)
    ]
    texts = {f"{n}.py": FileText("a = line(of) # code\n" * n_lines, "h") for n, (n_lines, *_) in enumerate(files)}
    shown, left_out = show_files(entries, texts, room, estimate_tokens)
    assert sum(estimate_tokens(file.text) + block_tokens(file, estimate_tokens) for file in shown) <= room
    assert sorted([*left_out, *(file.path for file in shown)]) == sorted(texts)


def test_an_excerpt_shows_all_recently_used_lines() -> None:
    text = "".join(f"def f{number}():\n    return {number}\n" for number in range(1, 501))
    entry = MemoryFile(
        "a.py", mode=Mode.FULL, focus=(900, 903), used_lines=((900, 903), (100, 101), (501, 502)), last_access_turn=1
    )
    (shown,), _ = show_files([entry], {"a.py": FileText(text, "h")}, 900, estimate_tokens)
    lines = {line for first, last in shown.visible_lines for line in range(first, last + 1)}
    assert {900, 903, 100, 101, 501, 502} <= lines
    assert len(lines) < 200


@for_all(
    st.lists(st.sampled_from(["a", "b", "", "    x = 1"]), min_size=1, max_size=80),
    st.integers(1, 90),
    st.integers(30, 120),
)
@hypothesis_settings(max_examples=100, deadline=None)
def test_visible_lines_name_what_an_excerpt_shows(lines: list[str], first: int, budget: int) -> None:
    text = "\n".join(lines)
    for shown in (
        head_and_tail(text, budget, estimate_tokens),
        focused(text, [(first, first + 3)], budget, estimate_tokens),
    ):
        named = [line for start, end in visible_lines(text, shown) for line in text.splitlines()[start - 1 : end]]
        assert (
            named == [line for line in shown.splitlines() if not line.startswith("[… ")]
            or "character" in shown
            or shown == "…"
        )
