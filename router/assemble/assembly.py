"""Assembly: the package is cut to the budget, rendered, counted; the result never takes more tokens than it may."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from codecards.errors import BudgetTooSmallError
from codecards.router.assemble.budget import BudgetShares
from codecards.router.assemble.context import Block, Context, ContextPackage
from codecards.router.assemble.outcomes import outcomes
from codecards.router.assemble.packing import ContextPacker, bare
from codecards.router.assemble.rendering import TEMPLATE_VERSION, RenderSettings, render, to_messages, to_text
from codecards.router.compress.token_count import TokenCounter, estimate_tokens
from codecards.router.memory.ledger import LedgerLine, TokenLedger
from codecards.router.memory.working_memory import MemoryFile
from codecards.router.ports import FileText
from codecards.router.session_defaults import DEFAULT_BUDGET_TOKENS, DEFAULT_PROFILE

MAX_ROUNDS = 24


@dataclass(frozen=True, slots=True)
class AssemblySettings:
    """All that the form of a context depends on; its hash is the version in every trace."""

    budget_tokens: int = DEFAULT_BUDGET_TOKENS
    shares: BudgetShares = field(default_factory=BudgetShares)
    rendering: RenderSettings = field(default_factory=RenderSettings)
    profile: str = DEFAULT_PROFILE

    @property
    def version(self) -> str:
        """Return the version of the configuration: equal settings and templates have equal ones."""
        stated = repr(sorted(asdict(self).items())) + f"#{TEMPLATE_VERSION}"
        return hashlib.blake2b(stated.encode(), digest_size=4).hexdigest()


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
        package: What may be shown; its `files` are made here from `entries`.
        entries: The files of the working memory.
        texts: Their texts on disk now, by path; a path without text is shown as digest or name.
        settings: Budget, shares, markup.
        count: Counts tokens.
        turn: Written into the ledger.

    Raises:
        BudgetTooSmallError: Goal, constraints and the shortest form of the input do not fit.
    """
    settings = settings or AssemblySettings()
    filler = ContextPacker(settings.budget_tokens, settings.shares, count)
    package = filler.with_input_that_fits(replace(package, files=()))
    needed = count(to_text(render(bare(package), settings.rendering), settings.rendering))
    if needed > settings.budget_tokens:
        raise BudgetTooSmallError(
            f"Goal, constraints and input take {needed} tokens; the budget is {settings.budget_tokens}. "
            "Shorten the goal, or allow more.",
            budget_tokens=settings.budget_tokens,
            needed_tokens=needed,
        )
    free = settings.budget_tokens - needed
    for _ in range(MAX_ROUNDS):
        filled, left_out = filler.fill(package, entries, texts, free)
        blocks = render(filled, settings.rendering)
        text = to_text(blocks, settings.rendering)
        excess = count(text) - settings.budget_tokens
        if excess <= 0:
            break
        # Tags and borders cost what the parts alone don't show: take it off what may be filled, and try again.
        free = max(0, free - excess - 8)
    else:
        filled, left_out = bare(package), ("everything but task and input",)
        blocks = render(filled, settings.rendering)
        text = to_text(blocks, settings.rendering)
    ledger = _ledger(filled, blocks, count(text), settings, count)
    messages = to_messages(filled, blocks, settings.rendering)
    ledger = replace(ledger, turn=turn)
    told = tuple(outcomes(package, filled, entries))
    return Context(text, messages, ledger, blocks, filled.files, left_out, settings.version, turn, told)


def _ledger(
    package: ContextPackage, blocks: Sequence[Block], total: int, settings: AssemblySettings, count: TokenCounter
) -> TokenLedger:
    lines = [
        LedgerLine(block.name, block.category, count(block.text), block.source, position)
        for position, block in enumerate(blocks)
    ]
    if package.tool_schema:
        lines.append(LedgerLine("tool_schema", "tool_schema", count(package.tool_schema), "host", len(lines)))
    return TokenLedger(0, settings.budget_tokens, total, tuple(lines), version=settings.version)
