"""Decides when old results of tools leave a transcript, and which: a pure function of tokens, ages and prices.

Text that stays costs its share of every later request; text that leaves forces what comes after it to be written to
the cache again, and may have to be read again. `plan_epoch` compares the two for every place at which a rewrite could
begin and takes the best, if it pays by a margin. A dead time keeps epochs apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from codecards.router.policy.prices import OUTPUT_REUSE, Prices, expected_turns, reuse_chance

CALL_TOKENS = 60
"""Tokens of a call that reads something again."""


@dataclass(frozen=True, slots=True)
class OldResult:
    """A result of a tool that could leave."""

    tokens: int
    """In view now."""
    left_tokens: int
    """Of the line or digest that would stay."""
    tail_tokens: int
    """Tokens of the transcript after it."""
    idle_turns: int
    """Turns since it, or the file it shows, was last used."""
    is_file: bool


@dataclass(frozen=True, slots=True)
class EpochSettings:
    """Thresholds."""

    margin: float = 1.0
    """What an epoch saves must exceed this many times what it costs; chosen by `python -m benchmarks sessions`."""
    dead_turns: int = 4
    """Turns between two epochs, at least."""
    min_idle_turns: int = 2
    """A result younger than this stays whatever it costs."""


@dataclass(frozen=True, slots=True)
class Epoch:
    """What leaves, and what that is expected to bring."""

    leaving: tuple[int, ...]
    """Places in the given results, ascending."""
    saves: float
    """Input-token equivalents over the turns that can be expected."""
    costs: float
    """Input-token equivalents: what is written again now, and what may have to be read again."""


def plan_epoch(
    results: Sequence[OldResult],
    n_turns: int,
    turns_since_epoch: int,
    prices: Prices,
    settings: EpochSettings = EpochSettings(),
) -> Epoch | None:
    """Return the epoch that saves most, None where none pays.

    Args:
        results: In the order of the transcript.
        n_turns: Turns of the session so far.
        turns_since_epoch: Turns since the last epoch; the number of turns where there was none.
        prices: Of the provider.
        settings: Thresholds.
    """
    if turns_since_epoch < settings.dead_turns:
        return None
    turns = expected_turns(n_turns)
    best: Epoch | None = None
    leaving: list[int] = []
    saves = rereads = left_out = 0.0
    for place in range(len(results) - 1, -1, -1):
        one = results[place]
        saving = turns * prices.read * (one.tokens - one.left_tokens)
        reread = _reread_chance(one) * (
            prices.write * one.tokens + prices.output * CALL_TOKENS + prices.read * (one.tail_tokens + one.tokens)
        )
        if one.idle_turns < settings.min_idle_turns or saving <= reread:
            continue
        leaving.append(place)
        saves += saving
        rereads += reread
        costs = (
            rereads
            + (prices.write - prices.read) * max(0.0, one.tail_tokens - left_out)
            + (prices.write * one.left_tokens)
        )
        left_out += one.tokens - one.left_tokens
        if saves > settings.margin * costs and (best is None or saves - costs > best.saves - best.costs):
            best = Epoch(tuple(sorted(leaving)), saves, costs)
    return best


def _reread_chance(one: OldResult) -> float:
    return reuse_chance(one.idle_turns) * (1.0 if one.is_file else OUTPUT_REUSE)
