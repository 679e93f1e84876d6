"""Assembly: contexts within their budget, shares of layers, versions."""

from dataclasses import replace

import pytest
from hypothesis import given as for_all
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from codecards.errors import BudgetTooSmallError
from codecards.router.assemble.assembly import AssemblySettings, assemble
from codecards.router.assemble.budget import BudgetShares
from codecards.router.assemble.context import MemorySegment
from codecards.router.assemble.rendering import RenderSettings
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.memory.window import ActionBlock, Message
from codecards.router.memory.working_memory import MemoryFile, Mode
from codecards.router.ports import FileText, FoldedHit
from tests.support.context_package import ENTRIES, PACKAGE, TEXTS

items = st.text(st.sampled_from("abc \n<>`中"), max_size=1_500)


@pytest.mark.seed("S2-12", "S2-24", "S0-23", "S0-40", "S0-5", "S1-39")
@for_all(
    st.lists(items, max_size=12),
    st.lists(items, max_size=6),
    items,
    st.integers(150, 4_000),
    st.sampled_from(["xml", "markdown"]),
)
@hypothesis_settings(max_examples=80, deadline=None)
def test_a_context_never_exceeds_its_budget(
    results: list[str], files: list[str], asked: str, budget: int, markup: str
) -> None:
    package = replace(
        PACKAGE,
        recent_chat=tuple(
            ActionBlock(
                (Message("assistant", "c", n, f"c{n}"), Message("tool", result, n, f"c{n}", is_error=n % 3 == 0))
            )
            for n, result in enumerate(results)
        ),
        memory_segments=tuple(MemorySegment(result, "n") for result in results),
        knowledge_refs=tuple(FoldedHit("a", "p", result) for result in results),
        current_input=asked,
    )
    entries = [MemoryFile(f"f{n}.py", mode=Mode.FULL, focus=(5, 9) if n % 2 else None) for n in range(len(files))]
    texts = {f"f{n}.py": FileText(text, "h") for n, text in enumerate(files)}
    settings = AssemblySettings(budget, rendering=RenderSettings(markup))
    try:
        context = assemble(package, entries, texts, settings)
    except BudgetTooSmallError as error:
        assert budget < error.needed_tokens < 400  # noqa: PT017 - which of both happens depends on the drawn budget
        return
    assert estimate_tokens(context.text) <= budget
    assert context.ledger.total_tokens == estimate_tokens(context.text)
    assert "use pnpm" in context.text
    assert "goal: add CSV export" in context.text


def test_a_budget_smaller_than_the_task_is_refused() -> None:
    with pytest.raises(BudgetTooSmallError, match="Shorten the goal"):
        assemble(PACKAGE, (), {}, AssemblySettings(10))


@pytest.mark.seed("S1-11")
def test_the_latest_error_is_complete_even_if_older_than_the_other_blocks() -> None:
    error = "E: " + "detail " * 900
    blocks = [ActionBlock((Message("tool", error, 1, is_error=True),))]
    blocks += [ActionBlock((Message("tool", "noise " * 500, turn),)) for turn in range(2, 9)]
    context = assemble(replace(PACKAGE, recent_chat=tuple(blocks)), ENTRIES, TEXTS, AssemblySettings(4_000))
    assert error in context.text


@pytest.mark.seed("S2-24")
def test_the_reserve_is_kept_from_files_and_references() -> None:
    texts = {"src/a.py": FileText("x = 1\n" * 20_000, "h")}
    ledger = assemble(replace(PACKAGE, recent_chat=()), ENTRIES, texts, AssemblySettings(10_000)).ledger
    assert ledger.total_tokens < 6_500
    assert ledger.by_category()["files"] > 3_500


def test_files_get_what_other_shares_leave_but_not_the_reserve() -> None:
    texts = {f"{number}.py": FileText("line of code\n" * 400, "h") for number in range(9)}
    entries = [MemoryFile(path, mode=Mode.FULL, last_access_turn=1) for path in texts]
    alone = replace(PACKAGE, recent_chat=(), memory_segments=(), knowledge_refs=(), memos=(), signposts=())
    context = assemble(alone, entries, texts, AssemblySettings(12_000))
    files = context.ledger.by_category()["files"]
    assert 12_000 * 0.55 < files < 12_000 * 0.65
    busy = replace(alone, recent_chat=(ActionBlock((Message("user", "word " * 9_000, 1),)),))
    assert assemble(busy, entries, texts, AssemblySettings(12_000)).ledger.by_category()["files"] > 12_000 * 0.55
    noted = replace(alone, knowledge_refs=tuple(FoldedHit(f"a{n}", "p", "word " * 200) for n in range(5)))
    assert assemble(noted, entries, texts, AssemblySettings(12_000)).ledger.by_category()["files"] < files - 500


@pytest.mark.seed("S4-25")
def test_other_settings_have_another_version() -> None:
    versions = {
        AssemblySettings().version,
        AssemblySettings().version,
        AssemblySettings(9_000).version,
        AssemblySettings(rendering=RenderSettings("markdown")).version,
        AssemblySettings(shares=BudgetShares(task=0.05)).version,
    }
    assert len(versions) == 4
    assert assemble(PACKAGE, ENTRIES, TEXTS).ledger.version == AssemblySettings().version


@pytest.mark.seed("S4-15")
def test_any_callable_can_count_the_tokens() -> None:
    context = assemble(PACKAGE, ENTRIES, TEXTS, AssemblySettings(3_000), count=len)
    assert context.ledger.total_tokens == len(context.text) <= 3_000


@pytest.mark.seed("S4-7", "S1-39")
def test_no_more_than_five_references_are_shown() -> None:
    refs = tuple(FoldedHit(f"a{number}", "p", "s") for number in range(12))
    context = assemble(replace(PACKAGE, knowledge_refs=refs), ENTRIES, TEXTS)
    assert sum(block.name == "knowledge" for block in context.blocks) == 5
    assert "7 references" in context.left_out


@pytest.mark.parametrize(("words", "is_shown"), [(45, True), (400, False)])
def test_a_short_note_enters_a_small_context(words: int, is_shown: bool) -> None:
    note = MemorySegment("word " * words, "note 1")
    package = replace(
        PACKAGE, recent_chat=(), knowledge_refs=(), memos=(), memory_segments=(note,), current_input="go on"
    )
    context = assemble(package, [], {}, AssemblySettings(300))
    assert ("word word" in context.text) is is_shown
