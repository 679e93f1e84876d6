"""The window: blocks that leave, signposts, cut messages."""

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.errors import UsageError
from codecards.router.compress.excerpts import handle_of
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.window import (
    CHAT,
    ActionBlock,
    Message,
    Window,
    WindowSettings,
    latest_error,
    push,
    window_tokens,
)


def block(turn: int, result: str, *, error: bool = False, name: str = "run") -> ActionBlock:
    call = Message("assistant", f"call {turn}", turn, f"c{turn}", name)
    return ActionBlock((call, Message("tool", result, turn, f"c{turn}", name, error)))


def unpaired(messages: list[Message]) -> list[str]:
    """Return the ids of calls without a response, and of responses without a call before them."""
    open_calls, lost = set[str](), list[str]()
    for message in messages:
        if message.role == "assistant" and message.call_id:
            open_calls.add(message.call_id)
        elif message.call_id in open_calls:
            open_calls.remove(message.call_id)
        elif message.call_id:
            lost.append(message.call_id)
    return [*lost, *open_calls]


def filled(*blocks: ActionBlock, settings: WindowSettings | None = None) -> tuple[Window, dict[str, str]]:
    window, store = Window(), dict[str, str]()
    for one in blocks:
        window, shrunk = push(window, one, settings or WindowSettings())
        store |= {piece.handle: piece.text for piece in shrunk}
    return window, store


@pytest.mark.seed("S1-15", "S1-16")
def test_only_the_last_eight_blocks_stay() -> None:
    """The text of the old API leaves with its block; the signpost stays."""
    window, _ = filled(block(0, "call_old_api(user) " * 30), *(block(turn, "ok " * 40) for turn in range(1, 9)))
    assert [one.messages[0].turn for one in window.blocks] == list(range(1, 9))
    assert window.signposts[0].text.count("call_old_api") < 9


@pytest.mark.seed("S1-9", "S2-54")
def test_a_signpost_names_the_topic_and_restores_the_block_byte_for_byte() -> None:
    old = block(1, "src/auth.py:12 raised TimeoutError: late\n" * 20)
    window, store = filled(old, *(block(turn, "ok") for turn in range(2, 11)))
    post = next(post for post in window.signposts if "src/auth.py:12" in post.text)
    assert store[post.handles[0]] == old.text()


@pytest.mark.seed("S1-7", "S1-13")
def test_blocks_leave_from_seventy_per_cent_of_the_budget() -> None:
    settings = WindowSettings(2_000, 0, max_blocks=50)
    window, store = filled(*(block(turn, "word " * 400) for turn in range(5)), settings=settings)
    assert len(store) == 1
    assert window_tokens(window) <= 1_400


@pytest.mark.seed("S1-11", "S1-27")
def test_the_latest_error_stays_complete_over_twenty_turns() -> None:
    error = "Traceback\n" + "detail " * 300 + "KeyError: 'x'"
    window, _ = filled(block(0, error, error=True), *(block(turn, "noise " * 200) for turn in range(1, 21)))
    found = latest_error(window)
    assert found is not None
    assert found.text == error


@pytest.mark.seed("S1-8")
def test_a_block_too_large_for_the_window_is_cut_and_can_be_restored() -> None:
    giant = block(1, "line of output\n" * 9_000)
    window, store = filled(giant)
    assert window_tokens(window) <= 8_192 - 1_024
    assert store[handle_of(giant.messages[1].text)] == giant.messages[1].text


@pytest.mark.seed("S1-12", "S1-5", "S1-8", "S1-14", "S0-38", "S4-22")
@for_all(
    st.lists(st.tuples(st.text(max_size=800), st.booleans()), max_size=30),
    st.integers(200, 2_000),
    st.integers(1, 9),
    st.integers(0, 3),
)
@hypothesis_settings(max_examples=80, deadline=None)
def test_no_block_is_split_and_the_window_stays_small(
    results: list[tuple[str, bool]], budget: int, max_blocks: int, overlap: int
) -> None:
    settings = WindowSettings(budget, 100, max_blocks=max_blocks, overlap_messages=overlap)
    window, store = filled(*(block(n, text, error=bad) for n, (text, bad) in enumerate(results)), settings=settings)
    assert unpaired([message for one in window.blocks for message in one.messages]) == []
    assert len(window.blocks) <= max(max_blocks, 2)
    assert all(handle_of(text) == handle for handle, text in store.items())


def test_a_window_smaller_than_its_reserve_is_refused() -> None:
    with pytest.raises(UsageError):
        WindowSettings(100, 200)


@pytest.mark.seed("S1-10")
def test_a_budget_outside_the_recommended_range_causes_a_warning() -> None:
    assert WindowSettings(12_000).warnings() == ()
    assert "outside" in WindowSettings(2_000).warnings()[0]


def test_merged_signposts_keep_their_handles() -> None:
    settings = WindowSettings(signposts_tokens=60, max_blocks=1)
    window, store = filled(*(block(turn, f"result {turn} " * 30) for turn in range(9)), settings=settings)
    assert {handle for post in window.signposts for handle in post.handles} == set(store)
    assert estimate_tokens(window.signposts[0].text) < 120


@pytest.mark.seed("S4-5", "S4-6", "S4-14")
def test_the_chat_profile_keeps_ten_turns_and_signposts_of_older_ones() -> None:
    window, _ = filled(*(block(turn, f"answer {turn} about src/a{turn}.py " * 9) for turn in range(15)), settings=CHAT)
    assert len(window.blocks) == 10
    assert "src/a4.py" in window.signposts[-1].text
