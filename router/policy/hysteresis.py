"""Hysteresis: when a file may change its mode. Two thresholds and a cooldown prevent switching back and forth."""

from dataclasses import dataclass

from codecards.router.memory.working_memory import MemoryFile, Mode


@dataclass(frozen=True, slots=True)
class HysteresisSettings:
    """The thresholds.

    Source: the first two are from "Context Mode" (see `codecards.router`), §5.2 and §6.3.
    """

    promote_after_hits: int = 2
    """A digest is promoted once so many retrievals in a row have found it."""
    demote_after_turns: int = 6
    """A full file is demoted after more than so many turns without access."""
    cooldown_turns: int = 7
    """Least turns between two switches of one file by the router. One more than the demotion threshold, since the last
    access may be one turn before the promotion: with 6, files were promoted and demoted again 6 turns later."""
    evict_after_turns: int = 40
    """A digest is evicted after more than so many turns without access."""
    evict_predicted_after_turns: int = 6
    """The same for a file that was only predicted."""


def idle_turns(entry: MemoryFile, turn: int) -> int:
    """Return the turns since the last access, at least 0 (a restored state may contain later turns)."""
    return max(0, turn - entry.last_access_turn)


def is_settled(entry: MemoryFile, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether the cooldown since the last switch is over."""
    return entry.last_switch_turn is None or turn - entry.last_switch_turn >= settings.cooldown_turns


def may_promote(entry: MemoryFile, n_hits: int, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether enough retrievals in a row found a digest for it to become full."""
    return entry.mode is Mode.DIGEST and n_hits >= settings.promote_after_hits and is_settled(entry, turn, settings)


def may_demote(entry: MemoryFile, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether a full file has been idle long enough to become a digest."""
    return (
        entry.mode is Mode.FULL
        and not entry.pinned
        and idle_turns(entry, turn) > settings.demote_after_turns
        and is_settled(entry, turn, settings)
    )


def may_evict(entry: MemoryFile, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether a digest has been idle long enough to leave the working memory.

    Predicted files start no cooldown, so a hit can promote them at once; they are evicted no earlier than the cooldown
    allows.
    """
    predicted_limit = max(settings.evict_predicted_after_turns, settings.cooldown_turns - 1)
    limit = predicted_limit if entry.predicted else settings.evict_after_turns
    return (
        entry.mode is Mode.DIGEST
        and not entry.pinned
        and idle_turns(entry, turn) > limit
        and is_settled(entry, turn, settings)
    )
