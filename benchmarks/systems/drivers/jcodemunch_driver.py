"""Answers queries with jcodemunch-mcp's `search_symbols`, in its own environment; see `semble_driver.py` for the format."""

import json
import statistics
import sys
import time

from jcodemunch_mcp.tools.index_folder import index_folder
from jcodemunch_mcp.tools.search_symbols import search_symbols

CHARACTERS_PER_TOKEN = 4


def main() -> None:
    """Answer all queries of the request on stdin."""
    request = json.load(sys.stdin)
    for tree, queries in request["trees"].items():
        repo = index_folder(tree, use_ai_summaries=False)["repo"]
        for query_id, text in queries:
            times = []
            for _ in range(request["repeat"]):
                begin = time.perf_counter()
                found = search_symbols(repo, text, max_results=request["depth"], detail_level="standard")
                times.append(1000 * (time.perf_counter() - begin))
            hits = found.get("results", [])
            row = {
                "id": query_id,
                # The answer has only the first line of a symbol.
                "results": [[hit["file"], hit["line"], hit["line"]] for hit in hits],
                "tokens": [len(json.dumps(hit)) // CHARACTERS_PER_TOKEN for hit in hits],
                "query_ms": statistics.median(times),
            }
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
