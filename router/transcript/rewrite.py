"""Rewrites the results of tools in a transcript: repeats become pointers, long outputs their essence, old ones leave.

The beginning of a transcript stays byte for byte the same from one request to the next, so that a provider's prompt
cache holds. A result is shortened when it enters, which costs nothing, and again only when an epoch pays for writing
what follows to the cache anew (`policy.epochs`). What the user, the system prompt and the model say is never changed.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from codecards.router.compress.command_output import shorten_output
from codecards.router.compress.digests import OutlineDigester, fit_digest
from codecards.router.compress.excerpts import handle_of
from codecards.router.compress.token_count import TokenCounter, estimate_tokens
from codecards.router.policy.epochs import Epoch, EpochSettings, OldResult, plan_epoch
from codecards.router.policy.prices import ANTHROPIC, Prices
from codecards.router.transcript.parts import FileUse, PartKind, TranscriptPart, command_of, file_use
from codecards.router.transcript.repeats import MIN_RUN, SeenLines, content, first_number, point_to_repeats

DIGEST_TOKENS = 120
"""Most tokens of the digest that stays of a file that leaves."""
MAX_LABEL_CHARACTERS = 80
_LINE = re.compile(r"(?m)^(\d+):")
RESTORE = "`codecards outputs show {handle}`"
"""How an agent gets a whole text back."""


@dataclass(frozen=True, slots=True)
class RewriteSettings:
    """What is rewritten, and when."""

    entry_tokens: int = 400
    """An output of a command longer than this is shortened when it enters."""
    entry_share: float = 0.15
    """Its short form takes this share of its tokens, and at least `entry_tokens`."""
    prices: Prices = ANTHROPIC
    epochs: EpochSettings = field(default_factory=EpochSettings)


@dataclass(frozen=True, slots=True)
class VisibleResult:
    """A result as the model sees it."""

    key: str
    text: str
    tokens: int
    whole_tokens: int
    handle: str
    """Gives the whole text back; "" where nothing is missing."""
    why: str
    """"" where it is as it was; else "repeats", "shortened" or "left"."""


@dataclass(frozen=True, slots=True)
class Rewriting:
    """A transcript as the model sees it."""

    results: Mapping[str, VisibleResult]
    """By the key of the result; only those that differ from what the tool gave."""
    wholes: Mapping[str, str]
    """Handle → whole text of the results that were rewritten since the last request."""
    tokens: int
    """Of all parts, as they are seen."""
    whole_tokens: int
    same_tokens: int
    """Tokens of the beginning that equals the one of the request before."""
    whole_same_tokens: int
    """The same, had nothing been rewritten."""
    n_turns: int
    epoch: Epoch | None
    """The epoch that this request begins, if it begins one."""


class TranscriptRewriter:
    """Rewrites the growing transcript of one conversation; to be asked once a request, by one thread at a time."""

    def __init__(self, settings: RewriteSettings | None = None, *, count: TokenCounter = estimate_tokens) -> None:
        """Take the settings and a counter of tokens."""
        self._settings = settings or RewriteSettings()
        self._count = count
        self._left: set[str] = set()
        self._last_epoch_turn = 0
        self._sent: list[tuple[int, int]] = []
        """Hash of each text that the model has seen, and its tokens, as of the request before."""
        self._came: list[tuple[int, int]] = []
        """The same of the texts as the agent sent them."""
        self._forget()

    def _forget(self) -> None:
        """Begin from the first part; what has left stays left."""
        self._known: list[tuple[str, int]] = []
        self._visible: list[VisibleResult | None] = []
        self._tokens: list[int] = []
        self._uses: list[FileUse | None] = []
        self._turns: list[int] = []
        self._seen = SeenLines()
        self._wholes: dict[str, str] = {}
        self._pointing: dict[int, list[int]] = {}
        """Place of a result → places of later ones that point to its lines."""

    def rewrite(self, parts: Sequence[TranscriptPart]) -> Rewriting:
        """Return how the transcript is seen now.

        Args:
            parts: All parts of the request, in order. They may go on from those of the request before, or be others.
        """
        self._take_in(parts)
        epoch = self._begin_epoch(parts)
        wholes, self._wholes = self._wholes, {}
        shown = [one for one in self._visible if one is not None and one.why]
        spared = sum(one.whole_tokens - one.tokens for one in shown)
        tokens = sum(self._tokens)
        sent = [
            (hash(one.text if one else part.text), n)
            for part, one, n in zip(parts, self._visible, self._tokens, strict=True)
        ]
        came = [
            (hash(part.text), one.whole_tokens if one else n)
            for part, one, n in zip(parts, self._visible, self._tokens, strict=True)
        ]
        same, whole_same = _same_tokens(self._sent, sent), _same_tokens(self._came, came)
        self._sent, self._came = sent, came
        n_turns = self._turns[-1] if parts else 0
        return Rewriting(
            {one.key: one for one in shown}, wholes, tokens, tokens + spared, same, whole_same, n_turns, epoch
        )

    def _take_in(self, parts: Sequence[TranscriptPart]) -> None:
        signs = [(part.key, hash(part.text)) for part in parts]
        if signs[: len(self._known)] != self._known:
            self._forget()  # the agent has rewritten its own history
        for place in range(len(self._known), len(parts)):
            self._take(parts, place)
        self._known = signs

    def _take(self, parts: Sequence[TranscriptPart], place: int) -> None:
        part = parts[place]
        speaks = part.kind in (PartKind.REPLY, PartKind.CALL)
        spoke = place > 0 and parts[place - 1].kind in (PartKind.REPLY, PartKind.CALL)
        self._turns.append((self._turns[-1] if self._turns else 0) + int(speaks and not spoke))
        use = file_use(part.tool, part.arguments) if part.kind in (PartKind.CALL, PartKind.RESULT) else None
        self._uses.append(use)
        if part.kind is PartKind.CALL and use is not None and use.writes:
            for value in part.arguments.values():
                if isinstance(value, str) and value.count("\n") >= MIN_RUN:
                    self._seen.add(_label(part), place, value)
        result = self._result(part, place, use) if part.kind is PartKind.RESULT and part.text else None
        if result is not None and result.handle:
            self._wholes[result.handle] = part.text
        self._visible.append(result)
        self._tokens.append(result.tokens if result is not None else self._count(part.text))

    def _result(self, part: TranscriptPart, place: int, use: FileUse | None) -> VisibleResult:
        """Return a result as it is seen, and take note of its lines."""
        whole = self._count(part.text)
        handle = handle_of(part.text)
        restore = RESTORE.format(handle=handle)
        if part.key in self._left:
            text = self._rest(part, use, restore)
            return VisibleResult(part.key, text, self._count(text), whole, handle, "left")
        text, why = part.text, ""
        repeats = point_to_repeats(text, self._seen)
        if repeats.n_repeated:
            text, why = repeats.text, "repeats"
            for target in repeats.places:
                self._pointing.setdefault(target, []).append(place)
        limit = max(self._settings.entry_tokens, int(self._settings.entry_share * whole))
        if use is None and self._count(text) > limit:
            command = command_of(part.tool, part.arguments)
            text, why = (
                shorten_output(text, limit, command=command, handle=restore, count=self._count).text,
                "shortened",
            )
        tokens = self._count(text) if why else whole
        if tokens >= whole:
            text, why, tokens = part.text, "", whole
        self._seen.add(_label(part), place, text)
        return VisibleResult(part.key, text, tokens, whole, handle if why else "", why)

    def _rest(self, part: TranscriptPart, use: FileUse | None, restore: str) -> str:
        """Return what stays of a result that has left: a digest of a file, the failures of an output."""
        n_lines = part.text.count("\n") + 1
        notice = f"[{_label(part)}: {n_lines} lines left the context; {restore} gives them back]"
        if use is None:
            return notice
        plain = "\n".join(content(line) for line in part.text.split("\n"))
        shift = first_number(part.text) - 1
        digest = _LINE.sub(lambda match: f"{int(match[1]) + shift}:", OutlineDigester().digest(use.path, plain))
        digest = fit_digest(digest, DIGEST_TOKENS, self._count)
        return f"{notice}\n{digest}"

    def _begin_epoch(self, parts: Sequence[TranscriptPart]) -> Epoch | None:
        turn = self._turns[-1] if parts else 0
        last_use = self._last_uses()
        places: list[int] = []
        old: list[OldResult] = []
        tail = sum(self._tokens)
        for place in range(len(parts)):
            tail -= self._tokens[place]
            result, use = self._visible[place], self._uses[place]
            if result is None or result.why == "left":
                continue
            is_file = use is not None and not use.writes
            used = last_use.get(use.path, self._turns[place]) if use is not None else self._turns[place]
            # What points to its lines leaves with it: it would have to show them itself.
            group = [place, *self._followers(place)]
            used = max(used, *(self._turns[one] for one in group))
            left = sum(self._rest_tokens(parts, one) for one in group)
            shown = sum(self._tokens[one] for one in group)
            if shown > left:
                places.append(place)
                old.append(OldResult(shown, left, tail, turn - used, is_file))
        epoch = plan_epoch(old, turn, turn - self._last_epoch_turn, self._settings.prices, self._settings.epochs)
        if epoch is not None:
            for index in epoch.leaving:
                self._left.update(parts[one].key for one in (places[index], *self._followers(places[index])))
            self._last_epoch_turn = turn
            self._forget()
            self._take_in(parts)
        return epoch

    def _rest_tokens(self, parts: Sequence[TranscriptPart], place: int) -> int:
        part = parts[place]
        return self._count(self._rest(part, self._uses[place], RESTORE.format(handle=handle_of(part.text))))

    def _followers(self, place: int) -> list[int]:
        """Return the places of the results that point to lines of one, directly or by others, ascending."""
        found: set[int] = set()
        waiting = [place]
        while waiting:
            for one in self._pointing.get(waiting.pop(), ()):
                if one not in found:
                    found.add(one)
                    waiting.append(one)
        return sorted(found)

    def _last_uses(self) -> dict[str, int]:
        """Return path → the last turn in which a call used it."""
        return {use.path: turn for use, turn in zip(self._uses, self._turns, strict=True) if use is not None}


def _same_tokens(before: Sequence[tuple[int, int]], now: Sequence[tuple[int, int]]) -> int:
    """Return the tokens of the longest common beginning."""
    total = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        total += new[1]
    return total


def _label(part: TranscriptPart) -> str:
    """Return how a call is named to the model: its command, or the tool with the file."""
    command = command_of(part.tool, part.arguments)
    use = file_use(part.tool, part.arguments)
    name = (
        f"`{command}`"
        if command
        else f"{part.tool or 'a tool'} {use.path}"
        if use is not None
        else part.tool or "a tool"
    )
    name = " ".join(name.split())
    return name if len(name) <= MAX_LABEL_CHARACTERS else name[: MAX_LABEL_CHARACTERS - 1] + "…"
