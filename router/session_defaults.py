"""Defaults of a new session, kept apart so that reading settings doesn't load the router."""

from codecards.errors import UsageError

DEFAULT_BUDGET_TOKENS = 12_000
"""Most tokens of a context."""
PROFILE_NAMES = ("coding-agent", "article", "minimal", "chat")
"""Names of the policies that `codecards.router.profiles` defines."""
DEFAULT_PROFILE = "coding-agent"
"""Name of the policy; see `codecards.router.profiles`."""


def check_profile(name: str) -> None:
    """Raise unless there is a profile of this name.

    Raises:
        UsageError: There is none.
    """
    if name not in PROFILE_NAMES:
        raise UsageError(f"There is no profile {name!r}; use one of {', '.join(PROFILE_NAMES)}.")
