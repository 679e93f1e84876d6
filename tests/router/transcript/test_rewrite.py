"""A transcript keeps its beginning, and says the same in fewer tokens."""

import json
from collections.abc import Sequence

from codecards.router.compress.excerpts import handle_of
from codecards.router.policy.epochs import EpochSettings
from codecards.router.transcript.parts import PartKind, TranscriptPart, command_of, file_use
from codecards.router.transcript.rewrite import RewriteSettings, Rewriting, TranscriptRewriter

SOURCE = "\n".join(f"def price_{number}(item):\n    return item.cost * {number}\n" for number in range(60))
NEVER = EpochSettings(dead_turns=1_000_000)


class Agent:
    """Sends a request after each call, as agents do."""

    def __init__(self, settings: RewriteSettings | None = None) -> None:
        self.rewriter = TranscriptRewriter(settings or RewriteSettings(epochs=NEVER))
        self.parts = [TranscriptPart(PartKind.PROMPT, "You are an agent."), TranscriptPart(PartKind.PROMPT, "Fix it.")]
        self.sent: list[list[str]] = []
        self.last = self.ask()

    def call(self, tool: str, arguments: dict[str, object], result: str) -> Rewriting:
        """Call a tool, take its result, and send the next request."""
        key = f"call-{len(self.parts)}"
        self.parts.append(TranscriptPart(PartKind.CALL, json.dumps(arguments), key, tool, arguments))
        self.parts.append(TranscriptPart(PartKind.RESULT, result, key, tool, arguments))
        return self.ask()

    def ask(self) -> Rewriting:
        """Send a request."""
        self.last = self.rewriter.rewrite(self.parts)
        self.sent.append(seen_texts(self.parts, self.last))
        return self.last


def seen_texts(parts: Sequence[TranscriptPart], rewriting: Rewriting) -> list[str]:
    shown = rewriting.results
    return [shown[part.key].text if part.kind is PartKind.RESULT and part.key in shown else part.text for part in parts]


def test_a_second_read_points_to_the_first() -> None:
    """Mutation: no text is added to what was seen; the second read comes whole."""
    agent = Agent()
    agent.call("Read", {"file_path": "shop.py"}, SOURCE)
    rewriting = agent.call("Read", {"file_path": "shop.py"}, SOURCE)
    (only,) = rewriting.results.values()
    assert "unchanged: shown above by Read shop.py" in only.text
    assert only.why == "repeats"
    assert rewriting.wholes == {handle_of(SOURCE): SOURCE}


def test_a_file_that_is_read_is_not_shortened_and_an_output_is() -> None:
    agent = Agent()
    long = "\n".join(f"value_{number} = {number * 7919}" for number in range(800))
    assert agent.call("Read", {"file_path": "data.py"}, long).results == {}
    output = "".join(f"step {number} of many things\n" for number in range(900)) + "ERROR: the disk is full\n"
    (short,) = agent.call("Bash", {"command": "make"}, output).results.values()
    assert "the disk is full" in short.text
    assert short.handle in short.text
    assert short.tokens < short.whole_tokens / 4


def test_the_beginning_stays_byte_for_byte_the_same_without_an_epoch() -> None:
    """Mutation: shorten results by their age; an earlier text differs."""
    agent = Agent()
    for number in range(12):
        agent.call("Bash", {"command": f"make step{number}"}, f"ERROR {number}\n" + "noise of the day\n" * 300)
        agent.call("Read", {"file_path": f"file{number % 3}.py"}, SOURCE)
    for before, after in zip(agent.sent, agent.sent[1:], strict=False):
        assert after[: len(before)] == before
    assert agent.last.same_tokens > 0.5 * agent.last.tokens


def test_an_epoch_takes_old_files_out_and_leaves_a_digest_with_a_handle() -> None:
    agent = Agent(RewriteSettings())
    agent.call("Read", {"file_path": "shop.py"}, SOURCE)
    epochs = 0
    for number in range(40):
        agent.call("Bash", {"command": "ls"}, f"file{number}.py")
        epochs += agent.last.epoch is not None
    left = agent.last.results["call-2"]
    assert left.why == "left"
    assert "price_0" in left.text
    assert handle_of(SOURCE) in left.text
    assert 1 <= epochs <= 3


def test_what_points_to_a_result_leaves_with_it() -> None:
    """Mutation: followers stay; the pointer leads to nothing, or the lines come back whole."""
    agent = Agent(RewriteSettings())
    agent.call("Read", {"file_path": "shop.py"}, SOURCE)
    agent.call("Read", {"file_path": "shop.py"}, SOURCE)
    for number in range(40):
        agent.call("Bash", {"command": "ls"}, f"file{number}.py")
    for text in seen_texts(agent.parts, agent.last):
        assert "shown above by" not in text
        assert "return item.cost * 59" not in text


def test_users_and_the_model_are_never_rewritten() -> None:
    agent = Agent(RewriteSettings())
    agent.parts.append(TranscriptPart(PartKind.PROMPT, SOURCE))
    agent.parts.append(TranscriptPart(PartKind.REPLY, SOURCE))
    for number in range(40):
        agent.call("Bash", {"command": "ls"}, f"file{number}.py")
    assert seen_texts(agent.parts, agent.last)[2:4] == [SOURCE, SOURCE]


def test_a_history_that_the_agent_rewrote_is_read_anew() -> None:
    agent = Agent()
    agent.call("Read", {"file_path": "shop.py"}, SOURCE)
    agent.parts = [agent.parts[0], TranscriptPart(PartKind.PROMPT, "Summary of before.")]
    assert agent.call("Read", {"file_path": "shop.py"}, SOURCE).results == {}


def test_calls_tell_what_they_do_with_a_file() -> None:
    def use(tool: str, **arguments: object) -> tuple[str, bool, int, int] | None:
        found = file_use(tool, arguments)
        return (found.path, found.writes, found.first_line, found.last_line) if found else None

    assert use("Read", file_path="a.py", offset=10, limit=5) == ("a.py", False, 10, 14)
    assert use("str_replace_editor", command="view", path="a.py", view_range=[3, 9]) == ("a.py", False, 3, 9)
    assert use("str_replace_editor", command="str_replace", path="a.py") == ("a.py", True, 0, 0)
    assert use("Edit", file_path="a.py") == ("a.py", True, 0, 0)
    assert use("Bash", command="cd src && sed -n '10,40p' shop/a.py") == ("shop/a.py", False, 10, 40)
    assert use("shell", command=["bash", "-lc", "cat a.py | head -5"]) == ("a.py", False, 0, 0)
    assert use("bash", command="sed -i s/a/b/ a.py") == ("a.py", True, 0, 0)
    assert use("bash", command="cat a.py > b.py") is None
    assert use("bash", command="pytest tests/a.py") is None
    assert use("apply_patch", input="*** Begin Patch\n*** Update File: a.py\n@@\n") == ("a.py", True, 0, 0)
    assert command_of("shell", {"command": ["ls", "-l", "my dir"]}) == "ls -l 'my dir'"
