"""Savings: tokens that codecards costs and spares, task by task, against grepping and reading on the same machine.

Costs are counted in full: the schema of the tools, their instructions, each answer, what is opened, and the file that an agent
reads again before it changes it. Where codecards did not find the file, grepping and reading comes on top. What is lost is
shown like what is gained. docs/savings.md says exactly how.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from codecards.retrieval.query.query import read_query
from codecards.router.compress.token_count import TokenCounter, estimate_tokens
from codecards.savings.grep_baseline import Baseline, Corpus
from codecards.savings.questions import SavingsQuestion
from codecards.savings.usage_log import WindowEntry

MAX_OPENED = 5


@dataclass(frozen=True, slots=True)
class Offered:
    """One hit of an answer: its file, and its text when it is opened."""

    path: str
    first_line: int
    """1-based."""
    text: str


@dataclass(frozen=True, slots=True)
class ToolAnswerText:
    """What a tool answered, as the agent's model reads it."""

    text: str
    offered: tuple[Offered, ...]


@dataclass(frozen=True, slots=True)
class TaskCost:
    """One question, both ways; all in tokens."""

    question: SavingsQuestion
    schema: int
    """Of all tools with their instructions; paid once a session, so here for a session with this one question."""
    answer: int
    """The call and what came back."""
    opened: int
    """Hits that were opened until one lay in the right file."""
    reread: int
    """The right file, read as the baseline reads it, for an agent does so before it changes anything."""
    fallback: int
    """Grepping and reading after all, where no hit lay in the right file."""
    found: bool
    baseline: Baseline

    @property
    def ours(self) -> int:
        """All that codecards costs."""
        return self.schema + self.answer + self.opened + self.reread + self.fallback

    @property
    def net(self) -> int:
        """What is saved; below 0 where codecards costs more."""
        return self.baseline.tokens - self.ours


@dataclass(frozen=True, slots=True)
class SessionCost:
    """What hooks saw of one session, and what its questions would have cost; all in tokens."""

    name: str
    n_starts: int
    """Conversations; each pays for the schema."""
    n_answers: int
    schema: int
    answers: int
    briefs: int
    """What hooks told the agent."""
    reread: int
    """Files that the agent read itself after an answer had named them."""
    baseline: int
    n_without: int
    """Answers that no baseline was run for: they were asked for by name or path, so they are pure cost here."""

    @property
    def ours(self) -> int:
        """All that codecards cost."""
        return self.schema + self.answers + self.briefs + self.reread

    @property
    def net(self) -> int:
        """What was saved; below 0 where codecards cost more."""
        return self.baseline - self.ours


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all tasks."""

    n_tasks: int
    n_found: int
    n_found_baseline: int
    n_negative: int
    """Tasks on which codecards costs more."""
    ours: int
    baseline: int
    net: int
    net_one_session: int
    """If all were asked in one session, so that the schema is paid once."""


def cost_of(
    question: SavingsQuestion,
    corpus: Corpus,
    schema: int,
    ask: Callable[[str], ToolAnswerText],
    n_lines: int,
    count: TokenCounter = estimate_tokens,
) -> TaskCost:
    """Return what a question costs both ways.

    Args:
        question: With the files that answer it.
        corpus: The texts that grep sees.
        schema: Tokens of all tools with their instructions.
        ask: Gives the answer of codecards.
        n_lines: How many lines of a file are read at a time.
        count: Counts tokens.
    """
    baseline = corpus.grep_and_read(read_query(question.query).content_words, question.targets, n_lines)
    answer = ask(question.query)
    opened = 0
    for hit in answer.offered[:MAX_OPENED]:
        opened += count(hit.text)
        if hit.path in question.targets:
            reread = corpus.read_tokens(hit.path, hit.first_line, n_lines)
            return TaskCost(
                question, schema, count(question.query) + count(answer.text), opened, reread, 0, True, baseline
            )
    called = count(question.query) + count(answer.text)
    # The agent looked at hits in vain, and then does what it would have done without them.
    return TaskCost(question, schema, called, opened, 0, baseline.tokens, False, baseline)


def totals_of(costs: Sequence[TaskCost]) -> Totals:
    """Return the sums."""
    net = sum(one.net for one in costs)
    return Totals(
        len(costs),
        sum(one.found for one in costs),
        sum(one.baseline.found for one in costs),
        sum(one.net < 0 for one in costs),
        sum(one.ours for one in costs),
        sum(one.baseline.tokens for one in costs),
        net,
        net + sum(one.schema for one in costs[1:]),
    )


def session_cost(
    name: str, supplies: Iterable[WindowEntry], corpus: Corpus, schema: int, n_lines: int
) -> SessionCost | None:
    """Return what a session cost and spared, from what hooks saw; None if they saw no answer.

    Args:
        name: The session's.
        supplies: Its log, oldest first.
        corpus: The texts that grep sees, as they are now.
        schema: Tokens of all tools with their instructions.
        n_lines: How many lines of a file the baseline reads at a time.
    """
    log = list(supplies)
    answers = [number for number, one in enumerate(log) if one.kind == "answer"]
    if not answers:
        return None
    shown: set[str] = set()
    reread = baseline = n_without = 0
    for number, one in enumerate(log):
        if one.kind == "answer":
            shown.update(one.paths)
            words = read_query(one.query).content_words if one.query else ()
            targets = _read_next(log[number + 1 :]) or one.paths[:1]
            if len(words) > 1 and targets:
                baseline += corpus.grep_and_read(words, targets, n_lines).tokens
            else:
                n_without += 1
        elif one.kind == "read" and shown & set(one.paths):
            reread += one.tokens
    n_starts = max(1, sum(one.kind == "start" for one in log))
    return SessionCost(
        name, n_starts, len(answers), n_starts * schema, sum(log[number].tokens for number in answers),
        sum(one.tokens for one in log if one.kind == "brief"), reread, baseline, n_without,
    )  # fmt: skip


def _read_next(log: Sequence[WindowEntry]) -> tuple[str, ...]:
    """Return the first file that the agent read itself before it asked again."""
    for one in log:
        if one.kind == "answer":
            break
        if one.kind == "read":
            return one.paths
    return ()
