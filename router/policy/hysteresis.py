"""Hysteresis: when a file may change its mode; two thresholds and a dead time, so that nothing flaps."""

from dataclasses import dataclass

from codecards.router.memory.working_memory import MemoryFile, Mode


@dataclass(frozen=True, slots=True)
class HysteresisSettings:
    """The thresholds. Source of the first two: the Context Mode article, §5.2 and §6.3."""

    promote_after_hits: int = 2
    """Retrievals in a row that must find the file."""
    demote_after_turns: int = 6
    """A full file is demoted after MORE than so many turns without access."""
    cooldown_turns: int = 7
    """Least turns between two switches of one file by the router. It is one more than the demotion threshold, for the
    last access may lie one turn before the promotion: with 6, files were promoted and demoted again 6 turns later."""
    forget_after_turns: int = 40
    """A digest leaves after more than so many turns without access."""
    forget_predicted_after_turns: int = 6
    """The same for a file that only a prediction brought in."""


def idle_turns(entry: MemoryFile, turn: int) -> int:
    """Return the turns since the last access, never below 0 (a restored state may hold later turns)."""
    return max(0, turn - entry.last_access_turn)


def is_settled(entry: MemoryFile, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether the dead time since the last switch is over."""
    return entry.last_switch_turn is None or turn - entry.last_switch_turn >= settings.cooldown_turns


def may_promote(entry: MemoryFile, n_hits: int, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether a digest was found often enough in a row to become full."""
    return entry.mode is Mode.DIGEST and n_hits >= settings.promote_after_hits and is_settled(entry, turn, settings)


def may_demote(entry: MemoryFile, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether a full file has been left alone for long enough to become a digest."""
    return (
        entry.mode is Mode.FULL
        and not entry.pinned
        and idle_turns(entry, turn) > settings.demote_after_turns
        and is_settled(entry, turn, settings)
    )


def may_forget(entry: MemoryFile, turn: int, settings: HysteresisSettings) -> bool:
    """Return whether a digest has been left alone for so long that it can leave the working memory.

    A guess starts no dead time of its own, so that it comes in full as soon as it is needed; it leaves no sooner than a
    switch back would be allowed.
    """
    predicted_limit = max(settings.forget_predicted_after_turns, settings.cooldown_turns - 1)
    limit = predicted_limit if entry.predicted else settings.forget_after_turns
    return (
        entry.mode is Mode.DIGEST
        and not entry.pinned
        and idle_turns(entry, turn) > limit
        and is_settled(entry, turn, settings)
    )
