"""Profiles: named policies of what enters a context, in which form, and when it leaves; a session keeps its profile's name."""

from dataclasses import dataclass, field

from codecards.errors import UsageError
from codecards.router.assemble.assembly import AssemblySettings
from codecards.router.assemble.budget import BudgetShares
from codecards.router.memory.window import CHAT, WindowSettings
from codecards.router.policy.hysteresis import HysteresisSettings
from codecards.router.policy.routing import RoutingSettings
from codecards.router.session_defaults import DEFAULT_PROFILE
from codecards.router.turn import TurnSettings


@dataclass(frozen=True, slots=True)
class Profile:
    """One policy."""

    purpose: str
    """What it is for, in a line."""
    turn: TurnSettings = field(default_factory=TurnSettings)
    window: WindowSettings = field(default_factory=WindowSettings)


PROFILES = {
    DEFAULT_PROFILE: Profile("an agent that reads and changes a repository"),
    "article": Profile(
        "the thresholds as the Context Mode article states them, without a dead time between two switches",
        TurnSettings(
            assembly=AssemblySettings(profile="article"),
            routing=RoutingSettings(hysteresis=HysteresisSettings(cooldown_turns=1), max_predicted_files=0),
        ),
    ),
    "minimal": Profile(
        "the article's smallest set: the task, the last operation and its result",
        TurnSettings(
            assembly=AssemblySettings(
                profile="minimal", shares=BudgetShares(task=0.2, files=0.0, memory=0.0, references=0.0, reserve=0.8)
            ),
            routing=RoutingSettings(max_predicted_files=0),
            hidden_blocks=("changes", "todo", "questions", "notes", "references", "memos", "files", "signposts"),
            recent_acts=1,
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
        UsageError: There is none of that name.
    """
    if name not in PROFILES:
        raise UsageError(f"There is no profile {name!r}; take one of {', '.join(PROFILES)}.")
    return PROFILES[name]
