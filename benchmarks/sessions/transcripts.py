"""Turns recorded sessions into transcripts: the parts of the requests that an agent would have sent, turn by turn.

Files are read from the tree at the commit where the session began, and change as the recorded edits say. A record does
not hold what commands printed; their outputs are made up at the recorded length, of lines that are all different, so
that no compressor gains from their wording.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from benchmarks.sessions.policies import CHARACTERS_PER_TOKEN, SYSTEM_TOKENS, Event, Workspace
from benchmarks.sessions.recordings import Recording, turns
from codecards.router.transcript.parts import PartKind, TranscriptPart

WORDS = (
    "alpha bridge candle delta ember forest garden harbor island jungle kettle lantern meadow needle orbit pepper quartz"
    " river saddle timber urchin valley window yonder zephyr anchor basket copper dragon engine"
).split()
LINE_CHARACTERS = 70
MAX_NEEDED_LINES = 400
"""An edit that replaces more lines rewrites a file; nobody has to see it for that."""


@dataclass(frozen=True, slots=True)
class RecordedTurn:
    """One turn: what it adds to the transcript, and what its edits needed."""

    added: tuple[TranscriptPart, ...]
    needed: tuple[tuple[str, ...], ...]
    """For each edit whose lines are known: the lines that it replaces, as they are at that time."""


def recorded_turns(recording: Recording) -> Iterator[RecordedTurn]:
    """Yield the turns of a session; the first adds system prompt and task."""
    workspace = Workspace(recording.texts())
    known = frozenset(workspace.texts)  # what an agent makes itself has no recorded text
    chance = random.Random(recording.name)
    opening: tuple[TranscriptPart, ...] = (
        TranscriptPart(PartKind.PROMPT, _filler(SYSTEM_TOKENS * CHARACTERS_PER_TOKEN, random.Random(0))),
        TranscriptPart(PartKind.PROMPT, recording.task),
    )
    number = 0
    for turn in turns(recording.events):
        added, needed = list(opening), []
        opening = ()
        for event in turn:
            number += 1
            if event.kind == "edit" and event.path in known and _knows_lines(event):
                needed.append(tuple(_lines(workspace, event.path)[event.first_line - 1 : event.last_line]))
            added += _parts(event, f"call-{number}", workspace, chance)
        yield RecordedTurn(tuple(added), tuple(one for one in needed if one))


def _parts(event: Event, key: str, workspace: Workspace, chance: random.Random) -> Iterator[TranscriptPart]:
    """Yield the call and the result of an event; an edit is made in the workspace."""
    text = _filler(event.in_characters, chance)
    arguments: dict[str, object] = {"thought": text}
    tool = event.kind
    if event.path:
        arguments["path"] = event.path
    if event.kind in ("run", "list", "search", "submit", "think"):
        tool = "bash"
        arguments = {"command": f"{event.kind} {event.path}".strip(), "thought": text}
    if event.is_write and event.path:
        workspace.write(event)
    if event.kind == "edit" and event.path and event.first_line:
        written = _lines(workspace, event.path)[event.first_line - 1 : event.last_line or event.first_line]
        arguments["new_text"] = "\n".join(written)  # the agent knows what it wrote itself
        arguments["thought"] = text[: max(0, len(text) - len(str(arguments["new_text"])))]
    if event.kind == "create":
        arguments = {"path": event.path, "file_text": workspace.texts.get(event.path, text)}
    said = "\n".join(str(value) for value in arguments.values())
    yield TranscriptPart(PartKind.CALL, said, key, tool, arguments)
    yield TranscriptPart(PartKind.RESULT, _result(event, workspace, chance), key, tool, arguments)


def _result(event: Event, workspace: Workspace, chance: random.Random) -> str:
    lines = _lines(workspace, event.path)
    if event.kind not in ("read", "edit") or not lines or not event.out_characters:
        return _filler(event.out_characters, chance) or "ok"
    first = max(1, event.first_line or 1)
    last = event.last_line or len(lines)
    if event.kind == "edit":  # agents that show a window after an edit show as much as was recorded
        half = event.out_characters // (2 * LINE_CHARACTERS // 2)
        first, last = max(1, first - half), last + half
    shown: list[str] = []
    n_characters = 0
    for number in range(first, min(last, len(lines)) + 1):
        shown.append(f"{number:6}\t{lines[number - 1]}")
        n_characters += len(shown[-1])
        if n_characters > max(event.out_characters, 200) * 1.3:
            break
    return "\n".join(shown) or "ok"


def _knows_lines(event: Event) -> bool:
    return 0 < event.first_line <= event.last_line < event.first_line + MAX_NEEDED_LINES


def _lines(workspace: Workspace, path: str) -> Sequence[str]:
    return workspace.texts.get(path, "").splitlines()


def _filler(n_characters: int, chance: random.Random) -> str:
    lines: list[str] = []
    left = n_characters
    while left > 0:
        line = " ".join(chance.choices(WORDS, k=10))[: min(left, LINE_CHARACTERS)]
        lines.append(line)
        left -= len(line) + 1
    return "\n".join(lines)
