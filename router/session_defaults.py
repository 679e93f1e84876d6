"""Defaults of a new session, kept apart so that reading settings doesn't load the router."""

DEFAULT_BUDGET_TOKENS = 12_000
"""Most tokens of a context."""
DEFAULT_PROFILE = "coding-agent"
"""Name of the policy; see `codecards.router.profiles`."""
