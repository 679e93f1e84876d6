"""Reads the message lists of the three wire formats of model APIs, and puts rewritten results back in their places.

Anthropic Messages, OpenAI Chat Completions and OpenAI Responses. Only texts of results of tools can be replaced; a
shape that is not known here stays as it is.

Source: the API references of Anthropic (Messages) and OpenAI (Chat, Responses).
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from codecards.router.transcript.parts import PartKind, TranscriptPart

Place = tuple[str | int, ...]
"""Keys and positions that lead from the body of a request to a text."""


@dataclass(frozen=True, slots=True)
class ReadRequest:
    """The transcript of a request, and where its results are."""

    parts: tuple[TranscriptPart, ...]
    places: Mapping[str, Place]
    """Key of a result → the place of its text in the body."""


@dataclass(frozen=True, slots=True)
class WireFormat:
    """One API of a provider."""

    name: str
    provider: str
    """"anthropic" or "openai"."""
    ending: str
    """What the path of its requests ends with."""
    read: Callable[[Mapping[str, Any]], ReadRequest]


class _Reader:
    """Collects parts and places while a body is walked."""

    def __init__(self) -> None:
        self.parts: list[TranscriptPart] = []
        self.places: dict[str, Place] = {}
        self._calls: dict[str, tuple[str, Mapping[str, object]]] = {}

    def say(self, kind: PartKind, text: str) -> None:
        if text:
            self.parts.append(TranscriptPart(kind, text))

    def call(self, call_id: str, tool: str, arguments: object) -> None:
        """Take a call in; arguments that are no JSON object are its text alone."""
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        known = _object(arguments)
        self._calls[call_id] = (tool, known)
        self.parts.append(TranscriptPart(PartKind.CALL, text, call_id, tool, known))

    def result(self, call_id: str, content: object, place: Place, *, is_error: bool = False) -> None:
        """Take the texts of a result in; images and other blocks stay as they are."""
        tool, arguments = self._calls.get(call_id, ("", {}))
        for text, inner in _texts(content):
            key = call_id if not inner else f"{call_id}:{inner[0]}"
            if key in self.places:  # an id that comes twice can't be told apart
                self.say(PartKind.PROMPT, text)
                continue
            self.places[key] = (*place, *inner)
            self.parts.append(TranscriptPart(PartKind.RESULT, text, key, tool, arguments, is_error))

    def read(self) -> ReadRequest:
        return ReadRequest(tuple(self.parts), self.places)


def read_anthropic_messages(body: Mapping[str, Any]) -> ReadRequest:
    """Return the transcript of a request to `/v1/messages`."""
    reader = _Reader()
    for text, _ in _texts(body.get("system")):
        reader.say(PartKind.PROMPT, text)
    for index, message in enumerate(_list(body.get("messages"))):
        kind = PartKind.REPLY if message.get("role") == "assistant" else PartKind.PROMPT
        content = message.get("content")
        if isinstance(content, str):
            reader.say(kind, content)
        for position, block in enumerate(_list(content)):
            place: Place = ("messages", index, "content", position)
            match block.get("type"):
                case "text":
                    reader.say(kind, str(block.get("text", "")))
                case "thinking":
                    reader.say(kind, str(block.get("thinking", "")))
                case "tool_use":
                    reader.call(str(block.get("id", "")), str(block.get("name", "")), block.get("input"))
                case "tool_result":
                    is_error = block.get("is_error") is True
                    tool_id = str(block.get("tool_use_id", ""))
                    reader.result(tool_id, block.get("content"), (*place, "content"), is_error=is_error)
                case _:
                    pass  # images, documents, redacted thinking: passed through
    return reader.read()


def read_openai_chat(body: Mapping[str, Any]) -> ReadRequest:
    """Return the transcript of a request to `/v1/chat/completions`."""
    reader = _Reader()
    for index, message in enumerate(_list(body.get("messages"))):
        role, content = message.get("role"), message.get("content")
        if role == "tool":
            reader.result(str(message.get("tool_call_id", "")), content, ("messages", index, "content"))
            continue
        for text, _ in _texts(content):
            reader.say(PartKind.REPLY if role == "assistant" else PartKind.PROMPT, text)
        for call in _list(message.get("tool_calls")):
            function = call.get("function")
            if isinstance(function, dict):
                reader.call(str(call.get("id", "")), str(function.get("name", "")), function.get("arguments", ""))
    return reader.read()


def read_openai_responses(body: Mapping[str, Any]) -> ReadRequest:
    """Return the transcript of a request to `/v1/responses`."""
    reader = _Reader()
    reader.say(PartKind.PROMPT, str(body.get("instructions") or ""))
    items = body.get("input")
    if isinstance(items, str):
        reader.say(PartKind.PROMPT, items)
    for index, item in enumerate(_list(items)):
        call_id = str(item.get("call_id", ""))
        match item.get("type", "message"):
            case "message":
                kind = PartKind.REPLY if item.get("role") == "assistant" else PartKind.PROMPT
                for text, _ in _texts(item.get("content")):
                    reader.say(kind, text)
            case "reasoning":
                for text, _ in _texts(item.get("summary")):
                    reader.say(PartKind.REPLY, text)
            case "function_call":
                reader.call(call_id, str(item.get("name", "")), item.get("arguments", ""))
            case "custom_tool_call":
                reader.call(call_id, str(item.get("name", "")), str(item.get("input", "")))
            case "local_shell_call" | "shell_call":
                reader.call(call_id, "shell", item.get("action"))
            case "function_call_output" | "custom_tool_call_output" | "local_shell_call_output":
                reader.result(call_id, item.get("output"), ("input", index, "output"))
            case _:
                pass
    return reader.read()


FORMATS = (
    WireFormat("messages", "anthropic", "/messages", read_anthropic_messages),
    WireFormat("chat", "openai", "/chat/completions", read_openai_chat),
    WireFormat("responses", "openai", "/responses", read_openai_responses),
)


def format_of(path: str) -> WireFormat | None:
    """Return the format of requests to a path, None where it is none of the three."""
    return next((one for one in FORMATS if path.rstrip("/").endswith(one.ending)), None)


def put_texts(body: Any, texts: Mapping[str, str], places: Mapping[str, Place]) -> None:  # noqa: ANN401 - JSON
    """Replace the texts of results in a body.

    Args:
        body: As it was parsed; is changed.
        texts: Key of a result → its new text.
        places: As `ReadRequest` gives them.
    """
    for key, text in texts.items():
        *way, last = places[key]
        holder = body
        for step in way:
            holder = holder[step]
        holder[last] = text


def _texts(content: object) -> Iterator[tuple[str, Place]]:
    """Yield the texts of a message's content with the way that leads to each."""
    if isinstance(content, str):
        yield content, ()
        return
    for position, block in enumerate(_list(content)):
        text = block.get("text")
        if isinstance(text, str):
            yield text, (position, "text")


def _list(value: object) -> Sequence[dict[str, Any]]:
    return [one if isinstance(one, dict) else {} for one in value] if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, object]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {"input": value}
    return value if isinstance(value, dict) else {}
