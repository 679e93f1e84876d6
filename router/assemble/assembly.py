"""Assembles a context: packs a package into the budget, renders it, and counts the result, which never exceeds it."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache

from codecards.errors import BudgetTooSmallError
from codecards.router.assemble.budget import BudgetShares
from codecards.router.assemble.context import Block, Context, ContextPackage
from codecards.router.assemble.outcomes import outcomes
from codecards.router.assemble.packing import ContextPacker, minimal_package
from codecards.router.assemble.rendering import TEMPLATE_VERSION, RenderSettings, render, to_messages, to_text
from codecards.router.compress.token_count import TokenCounter, estimate_tokens
from codecards.router.memory.ledger import LedgerLine, TokenLedger
from codecards.router.memory.working_memory import MemoryFile
from codecards.router.ports import FileText
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS, DEFAULT_PROFILE

MAX_ROUNDS = 24
ROUND_MARGIN_TOKENS = 8
"""Subtracted together with the excess, so that few rounds are needed."""


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """Everything that determines the form of a context; its hash is the version in every trace."""

    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    shares: BudgetShares = field(default_factory=BudgetShares)
    rendering: RenderSettings = field(default_factory=RenderSettings)
    profile: str = DEFAULT_PROFILE

    @property
    def version(self) -> str:
        """Return the version of the configuration; it is the same for equal settings and templates."""
        stated = repr(sorted(asdict(self).items())) + f"#{TEMPLATE_VERSION}"
        return hashlib.blake2b(stated.encode(), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class _Rendered:
    """A packed package, rendered."""

    package: ContextPackage
    blocks: tuple[Block, ...]
    text: str
    left_out: tuple[str, ...]


def assemble(
    package: ContextPackage,
    entries: Sequence[MemoryFile],
    texts: Mapping[str, FileText],
    settings: AssemblySettings | None = None,
    *,
    count: TokenCounter = estimate_tokens,
    turn: int = 0,
) -> Context:
    """Return the context of a turn.

    Args:
        package: What may be shown; its `files` are ignored and made from `entries`.
        entries: The files of the working memory.
        texts: Their current texts by path; a file without a text is shown as digest or name.
        settings: Budget, shares, markup.
        count: Counts tokens.
        turn: Number of the turn, for the ledger.

    Raises:
        BudgetTooSmallError: Goal, constraints and the shortest form of the input do not fit.
    """
    settings = settings or AssemblySettings()
    count = cache(count)  # each round packs and renders mostly the same texts
    packer = ContextPacker(settings.budget_tokens, settings.shares, count)
    package = packer.with_input_that_fits(replace(package, files=()))
    minimal = _rendered(minimal_package(package), ("everything but task and input",), settings)
    needed = count(minimal.text)
    if needed > settings.budget_tokens:
        raise BudgetTooSmallError(
            f"Goal, constraints and input take {needed} tokens; the budget is {settings.budget_tokens}. "
            "Shorten the goal, or allow more.",
            budget_tokens=settings.budget_tokens,
            needed_tokens=needed,
        )
    free = settings.budget_tokens - needed
    rendered = _pack_and_render(packer, package, entries, texts, free, settings) or minimal
    ledger = _ledger(rendered, settings, count, turn)
    messages = to_messages(rendered.package, rendered.blocks, settings.rendering)
    found = tuple(outcomes(package, rendered.package, entries))
    files = rendered.package.files
    return Context(
        rendered.text, messages, ledger, rendered.blocks, files, rendered.left_out, settings.version, turn, found
    )


def _pack_and_render(
    packer: ContextPacker,
    package: ContextPackage,
    entries: Sequence[MemoryFile],
    texts: Mapping[str, FileText],
    free: int,
    settings: AssemblySettings,
) -> _Rendered | None:
    """Return the package, packed into about `free` tokens and rendered within the budget; None if it does not fit."""
    for _ in range(MAX_ROUNDS):
        packed, left_out = packer.pack(package, entries, texts, free)
        rendered = _rendered(packed, left_out, settings)
        excess = packer.count(rendered.text) - settings.budget_tokens
        if excess <= 0:
            return rendered
        # Tags and borders cost more than the parts alone show: pack again into less.
        free = max(0, free - excess - ROUND_MARGIN_TOKENS)
    return None


def _rendered(package: ContextPackage, left_out: tuple[str, ...], settings: AssemblySettings) -> _Rendered:
    blocks = render(package, settings.rendering)
    return _Rendered(package, blocks, to_text(blocks, settings.rendering), left_out)


def _ledger(rendered: _Rendered, settings: AssemblySettings, count: TokenCounter, turn: int) -> TokenLedger:
    lines = [
        LedgerLine(block.name, block.category, count(block.text), block.source, position)
        for position, block in enumerate(rendered.blocks)
    ]
    schema = rendered.package.tool_schema
    if schema:
        lines.append(LedgerLine("tool_schema", "tool_schema", count(schema), "host", len(lines)))
    total = count(rendered.text)
    return TokenLedger(turn, settings.budget_tokens, total, tuple(lines), version=settings.version)
