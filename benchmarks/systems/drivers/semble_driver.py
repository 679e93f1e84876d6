"""Answers queries with semble, in its own environment and without codecards.

Reads one JSON object on stdin: `model` (a model2vec folder), `lexical` (only BM25 and ranking rules), `depth`, `repeat` (how often each
query is timed), `trees` {folder: [[id, text], …]}. Writes one JSON line per query: `id, results [[path, first line, last line],
…], tokens [characters of each result / 4], query_ms`.
"""

import json
import statistics
import sys
import time

from semble import SembleIndex

CHARACTERS_PER_TOKEN = 4


def main() -> None:
    """Answer all queries of the request on stdin."""
    request = json.load(sys.stdin)
    for tree, queries in request["trees"].items():
        started = time.process_time()
        index = SembleIndex.from_path(tree, model_path=request["model"])
        index_cpu_s = time.process_time() - started
        for query_id, text in queries:
            times = []
            for _ in range(request["repeat"]):
                begin = time.perf_counter()
                found = answer(index, text, request)
                times.append(1000 * (time.perf_counter() - begin))
            print(
                json.dumps(
                    {
                        "id": query_id,
                        "results": [[r.chunk.file_path, r.chunk.start_line, r.chunk.end_line] for r in found],
                        "tokens": [len(r.chunk.content) // CHARACTERS_PER_TOKEN for r in found],
                        "query_ms": statistics.median(times),
                        "index_cpu_s": index_cpu_s,
                    }
                ),
                flush=True,
            )


def answer(index: SembleIndex, text: str, request: dict) -> list:
    """Return semble's results for one query; with weight 0 for the vectors only BM25 and the ranking rules count."""
    return index.search(text, top_k=request["depth"], alpha=0.0 if request["lexical"] else None)


if __name__ == "__main__":
    main()
