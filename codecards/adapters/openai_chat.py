"""Converts a context's messages to the form of OpenAI-compatible endpoints. Needs no extra package."""

import json
from collections.abc import Iterable, Mapping

from codecards.wire.answers import Json


def openai_messages(messages: Iterable[Mapping[str, str]]) -> list[Json]:
    """Return messages in which each tool call is in `tool_calls`, directly before its answer.

    Args:
        messages: `Context.messages`. The content of a call is its arguments; if it is not a JSON object, it becomes
            `{"call": …}`.
    """
    return [_as_openai(message) for message in messages]


def _as_openai(message: Mapping[str, str]) -> Json:
    call_id = message.get("tool_call_id")
    if message["role"] == "assistant" and call_id:
        call = {"name": message["name"], "arguments": _arguments(message["content"])}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": call_id, "type": "function", "function": call}],
        }
    if message["role"] == "tool":
        return {"role": "tool", "tool_call_id": message["tool_call_id"], "content": message["content"]}
    return {"role": message["role"], "content": message["content"]}


def _arguments(text: str) -> str:
    try:
        is_object = isinstance(json.loads(text), dict)
    except ValueError:
        is_object = False
    return text if is_object else json.dumps({"call": text}, ensure_ascii=False)
