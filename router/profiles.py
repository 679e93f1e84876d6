"""Profiles: named policies for what enters a context, in which form, and when it leaves.

A session stores the name of its profile.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from codecards.indexer.text.secrets import mask_secrets
from codecards.router.assemble.assembly import AssemblySettings
from codecards.router.assemble.budget import BudgetShares
from codecards.router.compress.summaries import SummariserConfig
from codecards.router.memory.window import CHAT, WindowSettings
from codecards.router.notes.archive import Clock, utc_now
from codecards.router.policy.hysteresis import HysteresisSettings
from codecards.router.policy.routing import RoutingSettings
from codecards.router.session_defaults import DEFAULT_PROFILE, check_profile
from codecards.router.turn import TurnSettings


@dataclass(frozen=True, slots=True)
class Profile:
    """One policy."""

    purpose: str
    """What the policy is for, in a line."""
    turn: TurnSettings = field(default_factory=TurnSettings)
    window: WindowSettings = field(default_factory=WindowSettings)


@dataclass(frozen=True, slots=True)
class SessionSettings:
    """Settings of an open session; they are not stored with it."""

    turn: TurnSettings | None = None
    """None for those of the session's profile."""
    window: WindowSettings | None = None
    """None for those of the session's profile."""
    clock: Clock = utc_now
    summariser: SummariserConfig | None = None
    """Words memos and compactions; None for the extractive rules alone."""
    mask: Callable[[str], str] = mask_secrets
    """Removes keys and passwords from a text."""
    traces_turns: bool = False
    """Whether each turn is stored with its input, for replay; see `codecards.router.trace`."""


PROFILES = {
    DEFAULT_PROFILE: Profile("an agent that reads and changes a repository"),
    # The thresholds of "Context Mode" (see `codecards.router`), §5.2 and §6.3.
    "article": Profile(
        "published reference thresholds, without a cooldown between two switches of a file",
        TurnSettings(
            assembly=AssemblySettings(profile="article"),
            routing=RoutingSettings(hysteresis=HysteresisSettings(cooldown_turns=1), max_predicted_files=0),
        ),
    ),
    "minimal": Profile(
        "the smallest useful context: the task, the last operation and its result",
        TurnSettings(
            assembly=AssemblySettings(
                profile="minimal", shares=BudgetShares(task=0.2, files=0.0, memory=0.0, references=0.0, reserve=0.8)
            ),
            routing=RoutingSettings(max_predicted_files=0),
            hidden_blocks=("changes", "todo", "questions", "notes", "references", "memos", "files", "signposts"),
            recent_blocks=1,
        ),
    ),
    "chat": Profile(
        "long conversations with little code: ten turns, 60,000 tokens",
        TurnSettings(assembly=AssemblySettings(profile="chat", shares=BudgetShares(0.1, 0.2, 0.1, 0.1, 0.5))),
        CHAT,
    ),
}


def profile_named(name: str) -> Profile:
    """Return a profile.

    Raises:
        UsageError: The profile does not exist.
    """
    check_profile(name)
    return PROFILES[name]
