"""Served tokens: what the MCP server puts into a model's window, measured on the server's own schema and texts."""

import json

from codecards.agents.catalog import INSTRUCTIONS
from codecards.engine import Engine
from codecards.mcp.arguments import RecallArguments
from codecards.mcp.server import tools
from codecards.mcp.text import INSTRUCTIONS as SERVER_INSTRUCTIONS
from codecards.mcp.text import VALUE_NOTICE, within
from codecards.mcp.values import hit_value, recall_value
from codecards.router.compress.token_count import estimate_tokens
from codecards.savings.ledger import Offered, ToolAnswerText


def schema_tokens() -> int:
    """Return the tokens of all tools as a client lists them, of the server's instructions, and of what `install` writes."""
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools()]
    texts = (json.dumps({"tools": listed}), SERVER_INSTRUCTIONS, INSTRUCTIONS)
    return sum(estimate_tokens(text) for text in texts)


def answer_of(engine: Engine, query: str) -> ToolAnswerText:
    """Return what the tool `recall` answers by default, and what opening each hit would show.

    Counted is the structured value: Claude Code 2.1 gives its model that one; Gemini CLI the text, which is shorter.
    """
    asked = RecallArguments(query)
    found = engine.recall(query, limit=asked.limit)
    hits = within([hit_value(hit) for hit in found.hits], asked.max_tokens)
    value = {"note": VALUE_NOTICE, **recall_value(found, hits, list(found.notices))}
    offered = [Offered(hit.card.path, hit.card.lead_line, hit.text) for hit in found.hits[: len(hits)]]
    return ToolAnswerText(json.dumps(value, ensure_ascii=False, separators=(",", ":")), tuple(offered))
