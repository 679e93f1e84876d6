"""The price of a turn: recorded sessions replayed through policies that decide what of a transcript is sent.

Price is told in input-token equivalents with prompt caching: what equals the beginning of the request before is read
from the cache, the rest is written to it. Where an edit needed lines that were not in view, they are read again: one
more request, a call, and the lines with some around them. A digest earns nothing but what it spares.
"""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from benchmarks.sessions.recordings import Recording
from benchmarks.sessions.transcripts import recorded_turns
from codecards.router.compress.excerpts import head_and_tail
from codecards.router.compress.token_count import estimate_tokens
from codecards.router.policy.prices import ANTHROPIC, Prices
from codecards.router.transcript.parts import PartKind, TranscriptPart, file_use
from codecards.router.transcript.repeats import content
from codecards.router.transcript.rewrite import RewriteSettings, TranscriptRewriter

CALL_TOKENS = 60
AROUND_LINES = 20
"""Lines that are read again with those that were missed."""
N_RESAMPLES = 2_000
LEFT = "[left out]"


class TranscriptPolicy(Protocol):
    """Decides what is sent of a growing transcript."""

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return the texts that are sent, in order, of all parts so far."""
        ...


@dataclass(slots=True)
class SessionPrice:
    """What a session cost, and what was missed."""

    name: str
    task_name: str
    n_turns: int = 0
    sent: float = 0.0
    """Input-token equivalents of all requests."""
    read_again: float = 0.0
    """Input-token equivalents of what had to be read again."""
    n_edits: int = 0
    """Edits whose lines are known."""
    n_missed: int = 0
    """Those of them whose lines were not all in view."""

    @property
    def price(self) -> float:
        """Input-token equivalents in all."""
        return self.sent + self.read_again


class FullTranscript:
    """Sends everything."""

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return all texts."""
        del n_turns
        return [part.text for part in parts]


class TokenWindow:
    """Drops the oldest parts once the budget is exceeded, down to a share of it; system prompt and task stay."""

    def __init__(self, budget_tokens: int, down_to: float) -> None:
        self._budget, self._down_to, self._first = budget_tokens, down_to, 2

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return the opening and the latest parts."""
        del n_turns
        tokens = [estimate_tokens(part.text) for part in parts]
        if sum(tokens[self._first :]) > self._budget:
            while self._first < len(parts) - 2 and sum(tokens[self._first :]) > self._budget * self._down_to:
                self._first += 1
        return [part.text for part in (*parts[:2], *parts[self._first :])]


class DroppedDuplicates:
    """Replaces a read by a line once the same lines of the same file have been read again."""

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return all texts, overtaken reads as a line."""
        del n_turns
        latest: dict[object, int] = {}
        for place, part in enumerate(parts):
            if part.kind is PartKind.RESULT and (use := file_use(part.tool, part.arguments)) is not None:
                latest[use.path, part.text[:200]] = place
        return [
            LEFT
            if part.kind is PartKind.RESULT
            and (use := file_use(part.tool, part.arguments)) is not None
            and latest[use.path, part.text[:200]] != place
            else part.text
            for place, part in enumerate(parts)
        ]


class MaskedObservations:
    """Replaces all results but the latest by a line, every so many turns.

    Source: Lindenbauer et al., "The Complexity Trap" (2025), there at every turn.
    """

    def __init__(self, every: int, keep: int) -> None:
        self._every, self._keep, self._masked = every, keep, 0

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return all texts, old results as a line."""
        if n_turns % self._every == 0:
            results = [place for place, part in enumerate(parts) if part.kind is PartKind.RESULT]
            self._masked = results[-self._keep] if len(results) > self._keep else 0
        return [
            LEFT if part.kind is PartKind.RESULT and place < self._masked else part.text
            for place, part in enumerate(parts)
        ]


class RecentFiles:
    """A cache of the files used last, shown as they are now at the end, and no results of reads: LRU with refresh."""

    def __init__(self, budget_tokens: int, cap_tokens: int) -> None:
        self._budget, self._cap = budget_tokens, cap_tokens

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return the talk with short results, then the latest text of each file used last."""
        del n_turns
        shown: list[str] = []
        files: dict[str, str] = {}
        for part in parts:
            use = file_use(part.tool, part.arguments) if part.kind is PartKind.RESULT else None
            if use is not None:
                before = files.pop(use.path, "")
                merged = {
                    line.partition("\t")[0]: line for line in (before + "\n" + part.text).split("\n") if "\t" in line
                }
                files[use.path] = "\n".join(merged[key] for key in sorted(merged))
                shown.append(LEFT)
            elif part.kind is PartKind.RESULT:
                shown.append(head_and_tail(part.text, self._cap, estimate_tokens))
            else:
                shown.append(part.text)
        room = self._budget
        block: list[str] = []
        for path, text in reversed(files.items()):
            tokens = estimate_tokens(text)
            if tokens <= room:
                block.append(f"{path}\n{text}")
                room -= tokens
        return [*shown, *block]


class SummarisedTranscript:
    """Sums up the older half of the transcript to a number of tokens whenever it exceeds a budget."""

    def __init__(self, budget_tokens: int, summary_tokens: int) -> None:
        self._budget, self._summary_tokens, self._first, self._summary = budget_tokens, summary_tokens, 2, ""

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return the opening, the summary, and the parts after it."""
        tokens = [estimate_tokens(part.text) for part in parts]
        if sum(tokens[self._first :]) > self._budget:
            while self._first < len(parts) - 2 and sum(tokens[self._first :]) > self._budget / 2:
                self._first += 1
            self._summary = f"summary {n_turns} " + "word " * int(self._summary_tokens / 1.05)
        summary = [self._summary] if self._summary else []
        return [*(part.text for part in parts[:2]), *summary, *(part.text for part in parts[self._first :])]


class CodecardsGateway:
    """What `codecards gateway` sends: the product's own rewriter."""

    def __init__(self, settings: RewriteSettings) -> None:
        self._rewriter = TranscriptRewriter(settings)

    def see(self, parts: Sequence[TranscriptPart], n_turns: int) -> Sequence[str]:
        """Return the texts as the gateway rewrites them."""
        del n_turns
        results = self._rewriter.rewrite(parts).results
        return [
            results[part.key].text if part.kind is PartKind.RESULT and part.key in results else part.text
            for part in parts
        ]


MakePolicy = Callable[[], TranscriptPolicy]


def price_of(recording: Recording, policy: TranscriptPolicy, prices: Prices = ANTHROPIC) -> SessionPrice:
    """Return what a session costs under a policy."""
    found = SessionPrice(recording.name, recording.task_name)
    parts: list[TranscriptPart] = []
    before: list[str] = []
    texts: list[str] = []
    for turn in recorded_turns(recording):
        if not parts:
            parts += turn.added[:2]
            rest = turn.added[2:]
        else:
            rest = turn.added
        texts = list(policy.see(parts, found.n_turns))
        tokens = [estimate_tokens(text) for text in texts]
        n_same = 0
        while n_same < min(len(before), len(texts)) and before[n_same] == texts[n_same]:
            n_same += 1
        same, fresh = sum(tokens[:n_same]), sum(tokens[n_same:])
        found.sent += prices.read * same + prices.write * fresh
        found.n_turns += 1
        before = texts
        _look_up(turn.needed, texts, same + fresh, prices, found)
        parts += rest
    return found


def _look_up(
    needed: Iterable[Sequence[str]], texts: Sequence[str], in_view_tokens: int, prices: Prices, found: SessionPrice
) -> None:
    """Count the edits whose lines were not in view, and what it costs to read them again."""
    wanted = [list(lines) for lines in needed]
    if not wanted:
        return
    seen = {content(line).strip() for text in texts for line in text.split("\n")}
    for lines in wanted:
        found.n_edits += 1
        missed = [line for line in lines if line.strip() and line.strip() not in seen]
        if missed:
            found.n_missed += 1
            tokens = estimate_tokens("\n".join(missed)) + AROUND_LINES * 10
            found.read_again += (
                prices.read * in_view_tokens + prices.write * (tokens + CALL_TOKENS) + prices.output * CALL_TOKENS
            )


def prices_of(
    recordings: Iterable[Recording], policies: Mapping[str, MakePolicy], prices: Prices = ANTHROPIC
) -> dict[str, list[SessionPrice]]:
    """Return policy → the price of each session, in the order of the sessions."""
    found: dict[str, list[SessionPrice]] = {name: [] for name in policies}
    for recording in recordings:
        for name, make in policies.items():
            found[name].append(price_of(recording, make(), prices))
    return found


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A policy beside full injection, over all sessions."""

    policy: str
    price_per_turn: float
    """Input-token equivalents."""
    ratio: float
    """To full injection; the lower the better."""
    low: float
    """Lower end of the ratio's 95 % interval, by resampling tasks."""
    high: float
    missed: float
    """Share of the edits whose lines were not all in view."""


def price_rows(found: Mapping[str, Sequence[SessionPrice]], base: str = "full") -> list[PriceRow]:
    """Return a row a policy, compared with the policy `base`."""
    by_task = {name: _sums_by_task(sessions) for name, sessions in found.items()}
    whole = sum(one.price for one in found[base])
    rows = []
    for name, sessions in found.items():
        total, n_turns = sum(one.price for one in sessions), sum(one.n_turns for one in sessions)
        n_edits = max(1, sum(one.n_edits for one in sessions))
        low, high = interval(by_task[name], by_task[base])
        missed = sum(one.n_missed for one in sessions) / n_edits
        rows.append(PriceRow(name, total / max(1, n_turns), total / whole, low, high, missed))
    return rows


def interval(prices: Mapping[str, float], base: Mapping[str, float]) -> tuple[float, float]:
    """Return the 95 % interval of a ratio of sums over tasks, by the bootstrap."""
    tasks = sorted(prices)
    chance = random.Random(0)
    ratios = sorted(
        sum(prices[task] for task in drawn) / sum(base[task] for task in drawn)
        for drawn in (chance.choices(tasks, k=len(tasks)) for _ in range(N_RESAMPLES))
    )
    return ratios[int(0.025 * N_RESAMPLES)], ratios[int(0.975 * N_RESAMPLES) - 1]


def _sums_by_task(sessions: Sequence[SessionPrice]) -> dict[str, float]:
    sums: dict[str, float] = {}
    for one in sessions:
        sums[one.task_name] = sums.get(one.task_name, 0.0) + one.price
    return sums
