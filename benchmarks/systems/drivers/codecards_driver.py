"""Answers queries with codecards through its library; requests and answers are those of the other drivers.

Additional fields of the request: `state` (folder of the indexes), `indexes` (tree → name of its index folder; trees that share one
refresh it in turn), `embedder` (null for the default), `transformer` (whether the transformer vectors are computed first).
"""

import json
import statistics
import sys
import time
from pathlib import Path

from codecards.config import DEFAULT_EMBEDDER, Settings
from codecards.engine import Engine
from codecards.wire.answers import hit_json

CHARACTERS_PER_TOKEN = 4


def main() -> None:
    """Answer all queries of the request on stdin."""
    request = json.load(sys.stdin)
    for tree, queries in request["trees"].items():
        index = Path(request["state"]) / request["indexes"][tree]
        settings = Settings(index=index, embedder=request.get("embedder") or DEFAULT_EMBEDDER)
        with Engine.open(tree, settings=settings, build=False) as engine:
            engine.refresh()
            if request.get("transformer"):
                engine.backfill_vectors()
            for query_id, text in queries:
                times = []
                for _ in range(request["repeat"]):
                    begin = time.perf_counter()
                    recall = engine.recall(text, limit=request["depth"])
                    times.append(1000 * (time.perf_counter() - begin))
                cards = [hit.card for hit in recall.hits]
                row = {
                    "id": query_id,
                    "results": [[card.path, card.first_line, card.last_line] for card in cards],
                    # The size of a folded hit as the command prints it.
                    "tokens": [len(json.dumps(hit_json(hit))) // CHARACTERS_PER_TOKEN for hit in recall.hits],
                    "query_ms": statistics.median(times),
                    "verdict": recall.verdict,
                }
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
