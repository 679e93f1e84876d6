"""Prices of tokens with prompt caching, and what a session can be expected to do: the ground of every switch.

A provider keeps the beginning of a request that equals the one before and charges a fraction for it; what comes after
the first difference is written anew, at a premium. So a rewrite of old text pays only if what it saves over the turns
that still come exceeds what is written again behind it.

Source: the shape of `expected_turns` and `reuse_chance` is read from recorded sessions of coding agents, one half of
them; `python -m benchmarks sessions --fit` prints the figures.
"""

from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Prices:
    """Prices in input-token equivalents: an input token that is neither read from nor written to a cache costs 1."""

    write: float
    """Of a token that is new to the cache."""
    read: float
    """Of a token that is read from the cache."""
    output: float = 5.0


ANTHROPIC = Prices(write=1.25, read=0.1)
OPENAI = Prices(write=1.0, read=0.1, output=8.0)
PRICES = {"anthropic": ANTHROPIC, "openai": OPENAI}
"""By the provider whose wire format a request has."""

EXPECTED_TURNS = ((0, 18.0), (5, 15.0), (15, 18.0), (60, 15.0), (80, 10.0))
"""(turns so far, turns that still come on average); sessions are nearly memoryless."""
REUSE_CHANCE = ((1, 0.62), (2, 0.47), (3, 0.32), (5, 0.25), (8, 0.19), (10, 0.17), (15, 0.12), (20, 0.09), (30, 0.07))
"""(turns since a file was last used, chance that it is used again)."""
OUTPUT_REUSE = 0.25
"""Chance that an output of a command is needed again, relative to a file of the same age."""


def expected_turns(n_turns: int) -> float:
    """Return how many turns can be expected after `n_turns`."""
    return _step(EXPECTED_TURNS, n_turns)


def reuse_chance(idle_turns: int) -> float:
    """Return the chance, 0 to 1, that a file is used again after so many turns without use."""
    return 1.0 if idle_turns < 1 else _step(REUSE_CHANCE, idle_turns)


def _step(table: tuple[tuple[int, float], ...], place: int) -> float:
    return table[max(0, bisect_right([row[0] for row in table], place) - 1)][1]
