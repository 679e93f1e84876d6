"""Counts the tokens that the MCP server puts into a model's window, from its real schema and answers."""

import json

from codecards.agents.catalog import INSTRUCTIONS
from codecards.engine import Engine
from codecards.mcp.arguments import RecallArguments
from codecards.mcp.server import tools
from codecards.mcp.text import INSTRUCTIONS as SERVER_INSTRUCTIONS
from codecards.mcp.text import VALUE_NOTICE, first_within
from codecards.router.compress.token_count import estimate_tokens
from codecards.savings.ledger import OfferedHit, ToolAnswerText
from codecards.wire.mcp_values import hit_value, recall_value


def schema_tokens() -> int:
    """Return the tokens of the tool list, of the server's instructions and of the instructions that `install` writes."""
    listed = [tool.model_dump(by_alias=True, exclude_none=True, mode="json") for tool in tools()]
    texts = (json.dumps({"tools": listed}), SERVER_INSTRUCTIONS, INSTRUCTIONS)
    return sum(estimate_tokens(text) for text in texts)


def answer_of(engine: Engine, query: str) -> ToolAnswerText:
    """Return the default answer of the tool `recall`, with the code that opening each hit would show.

    The answer is the structured value, which Claude Code 2.1 gives its model; Gemini CLI gives the text, which is shorter.
    """
    asked = RecallArguments(query)
    found = engine.recall(query, limit=asked.limit)
    hits = first_within([hit_value(hit) for hit in found.hits], asked.max_tokens)
    value = {"note": VALUE_NOTICE, **recall_value(found, hits, list(found.notices))}
    offered = [OfferedHit(hit.card.path, hit.card.lead_line, hit.text) for hit in found.hits[: len(hits)]]
    return ToolAnswerText(json.dumps(value, ensure_ascii=False, separators=(",", ":")), tuple(offered))
