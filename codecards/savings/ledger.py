"""Compares the tokens that codecards costs with those of grepping and reading, task by task.

Costs are counted in full: the schema of the tools, their instructions, each answer, each opened hit, and the file that an
agent rereads before it edits it. If codecards does not find the file, the cost of grepping and reading is added. Losses
are shown like gains. docs/savings.md describes the counting.
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
class OfferedHit:
    """One hit of an answer: its file, and the text that opening it shows."""

    path: str
    first_line: int
    """1-based."""
    text: str


@dataclass(frozen=True, slots=True)
class ToolAnswerText:
    """An answer of a tool, as the agent's model reads it."""

    text: str
    offered: tuple[OfferedHit, ...]


@dataclass(frozen=True, slots=True)
class TaskCost:
    """The cost of one question with and without codecards, in tokens."""

    question: SavingsQuestion
    schema: int
    """All tools with their instructions; paid once a session, here for a session with this one question."""
    answer: int
    """The call and its answer."""
    opened: int
    """Hits opened until one is in a right file."""
    reread: int
    """The right file, read as the baseline reads it: an agent does so before it changes anything."""
    fallback: int
    """Grepping and reading, if no hit is in a right file."""
    found: bool
    baseline: Baseline

    @property
    def ours(self) -> int:
        """Total cost of codecards."""
        return self.schema + self.answer + self.opened + self.reread + self.fallback

    @property
    def net(self) -> int:
        """Tokens saved; negative if codecards costs more."""
        return self.baseline.tokens - self.ours


@dataclass(frozen=True, slots=True)
class SessionCost:
    """The cost of one session as seen by hooks, and of its questions without codecards; in tokens."""

    name: str
    n_starts: int
    """Conversations; each pays for the schema."""
    n_answers: int
    schema: int
    answers: int
    briefs: int
    """Briefs that hooks gave to the agent."""
    reread: int
    """Files that the agent read itself after an answer named them."""
    baseline: int
    n_without: int
    """Answers without a baseline: they were requested by name or path, and count only as cost here."""

    @property
    def ours(self) -> int:
        """Total cost of codecards."""
        return self.schema + self.answers + self.briefs + self.reread

    @property
    def net(self) -> int:
        """Tokens saved; negative if codecards cost more."""
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
    """If all questions were asked in one session, which pays for the schema once."""


def cost_of(
    question: SavingsQuestion,
    corpus: Corpus,
    schema: int,
    ask: Callable[[str], ToolAnswerText],
    n_lines: int,
    count: TokenCounter = estimate_tokens,
) -> TaskCost:
    """Return the cost of a question with and without codecards.

    Args:
        question: The question with the files that answer it.
        corpus: The texts that grep searches.
        schema: Tokens of all tools with their instructions.
        ask: Returns the answer of codecards.
        n_lines: Lines of a file read at a time.
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
    # The agent opened hits in vain, and then does what it would have done without them.
    return TaskCost(question, schema, called, opened, 0, baseline.tokens, False, baseline)


def totals_of(costs: Sequence[TaskCost]) -> Totals:
    """Return the sums over all tasks."""
    net = sum(one.net for one in costs)
    return Totals(
        n_tasks=len(costs),
        n_found=sum(one.found for one in costs),
        n_found_baseline=sum(one.baseline.found for one in costs),
        n_negative=sum(one.net < 0 for one in costs),
        ours=sum(one.ours for one in costs),
        baseline=sum(one.baseline.tokens for one in costs),
        net=net,
        net_one_session=net + sum(one.schema for one in costs[1:]),
    )


def session_cost(
    name: str, entries: Iterable[WindowEntry], corpus: Corpus, schema: int, n_lines: int
) -> SessionCost | None:
    """Return the cost of a session as seen by hooks; None if they saw no answer.

    Args:
        name: The session's name.
        entries: Its log, oldest first.
        corpus: The current texts that grep searches.
        schema: Tokens of all tools with their instructions.
        n_lines: Lines of a file that the baseline reads at a time.
    """
    log = list(entries)
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
        name=name,
        n_starts=n_starts,
        n_answers=len(answers),
        schema=n_starts * schema,
        answers=sum(log[number].tokens for number in answers),
        briefs=sum(one.tokens for one in log if one.kind == "brief"),
        reread=reread,
        baseline=baseline,
        n_without=n_without,
    )


def _read_next(log: Sequence[WindowEntry]) -> tuple[str, ...]:
    """Return the first file that the agent read itself before the next question."""
    for one in log:
        if one.kind == "answer":
            break
        if one.kind == "read":
            return one.paths
    return ()
