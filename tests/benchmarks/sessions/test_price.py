"""The price of a turn on small recordings: what is sent, what was missed, and what that costs."""

from pathlib import Path

import pytest

from benchmarks.sessions.policies import Event
from benchmarks.sessions.price import (
    CodecardsGateway,
    DroppedDuplicates,
    FullTranscript,
    MaskedObservations,
    RecentFiles,
    SummarisedTranscript,
    TokenWindow,
    TranscriptPolicy,
    price_of,
    price_rows,
    prices_of,
)
from benchmarks.sessions.price_run import main
from benchmarks.sessions.recordings import Recording
from benchmarks.sessions.transcripts import recorded_turns
from codecards.router.transcript.parts import PartKind
from codecards.router.transcript.rewrite import RewriteSettings

SOURCE = "".join(f"def price_{number}(item): return item.cost * {number}\n" for number in range(200))


def event(turn: int, kind: str, path: str = "", lines: tuple[int, int] = (0, 0), out: int = 0) -> Event:
    return Event(turn, kind, path, *lines, in_characters=200, out_characters=out, error=False)


def recording(*events: Event) -> Recording:
    return Recording("agent/task-1", "Fix the price of shop.py.", events, {"shop.py": SOURCE}.get)


READ_AND_EDIT = recording(
    event(1, "read", "shop.py", (1, 60), 3_600),
    event(2, "run", out=9_000),
    event(3, "edit", "shop.py", (10, 12)),
    event(4, "read", "shop.py", (1, 60), 3_600),
    event(5, "run", out=9_000),
    event(6, "edit", "shop.py", (30, 31)),
)


def test_a_transcript_has_the_lines_of_the_file_as_they_are_then() -> None:
    turns = list(recorded_turns(READ_AND_EDIT))
    assert [len(turn.needed) for turn in turns] == [0, 0, 1, 0, 0, 1]
    second_read = next(part for part in turns[3].added if part.kind is PartKind.RESULT)
    assert "version 1" in second_read.text.split("\n")[9]
    assert turns[5].needed[0][0].startswith("def price_29")


def test_lines_that_were_read_are_not_missed() -> None:
    price = price_of(READ_AND_EDIT, FullTranscript())
    assert (price.n_edits, price.n_missed, price.read_again) == (2, 0, 0.0)


def test_lines_that_left_are_missed_and_cost_a_request() -> None:
    """Mutation: look up nothing; masking everything costs no more."""
    price = price_of(READ_AND_EDIT, MaskedObservations(1, 1))
    assert price.n_missed > 0
    assert price.read_again > 0


def test_a_stable_beginning_is_read_from_the_cache() -> None:
    """Mutation: charge everything as written; the whole costs several times as much."""
    full, changing = price_of(READ_AND_EDIT, FullTranscript()), price_of(READ_AND_EDIT, Changing())
    assert full.sent < 0.6 * changing.sent


class Changing:
    """Puts a clock into the head of every request."""

    def see(self, parts: object, n_turns: int) -> list[str]:
        """Return the texts with another head each time."""
        return [f"turn {n_turns}", *(part.text for part in parts)]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "policy",
    [
        TokenWindow(1_000, 0.5),
        DroppedDuplicates(),
        MaskedObservations(2, 1),
        RecentFiles(2_000, 200),
        SummarisedTranscript(1_500, 100),
        CodecardsGateway(RewriteSettings()),
    ],
)
def test_each_policy_sends_something_else_than_everything(policy: TranscriptPolicy) -> None:
    assert price_of(READ_AND_EDIT, policy).sent != price_of(READ_AND_EDIT, FullTranscript()).sent


def test_the_gateway_is_cheaper_at_no_more_misses() -> None:
    found = prices_of([READ_AND_EDIT], {"full": FullTranscript, "gateway": lambda: CodecardsGateway(RewriteSettings())})
    full, gateway = price_rows(found)
    assert gateway.ratio < 0.8
    assert gateway.missed <= full.missed
    assert full.ratio == pytest.approx(1.0)
    assert gateway.low <= gateway.ratio <= gateway.high


def test_without_trees_the_command_says_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recordings = tmp_path / "sessions.jsonl"
    recordings.write_text("", encoding="utf-8")
    assert main(["--recordings", str(recordings), "--trees", str(tmp_path), "--no-save"]) == 2
    assert "--mirrors" in capsys.readouterr().err
