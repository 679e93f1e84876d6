"""Served tokens: what the MCP server puts into a model's window, measured on the server's own schema and texts."""

import json

from codecards.agents import INSTRUCTIONS
from codecards.engine import Engine
from codecards.mcp_arguments import Recall
from codecards.mcp_server import tools
from codecards.mcp_text import INSTRUCTIONS as SERVER_INSTRUCTIONS
from codecards.mcp_text import rows_of, within
from codecards.router.tokens import estimate_tokens
from codecards.savings import Answer, Offered
from codecards.wire import recall_json


def schema_tokens() -> int:
    """Return the tokens of all tools as a client lists them, of the server's instructions, and of what `install` writes."""
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools()]
    texts = (json.dumps({"tools": listed}), SERVER_INSTRUCTIONS, INSTRUCTIONS)
    return sum(estimate_tokens(text) for text in texts)


def answer_of(engine: Engine, query: str) -> Answer:
    """Return what the tool `recall` answers by default, and what opening each hit would show.

    Counted is the structured value: Claude Code 2.1 gives its model that one; Gemini CLI the text, which is shorter.
    """
    asked = Recall(query)
    found = engine.recall(query, limit=asked.limit)
    value = recall_json(found)
    value["hits"] = within(rows_of(value, "hits"), asked.max_tokens)
    offered = [Offered(hit.card.path, hit.card.lead_line, hit.text) for hit in found.hits]
    told = {
        name: value[name] for name in ("kind", "verdict", "generation", "searched", "suggestions", "hits", "notices")
    }
    text = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    return Answer(text, tuple(offered[: len(rows_of(value, "hits"))]))
