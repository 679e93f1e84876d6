"""Measures latency over MCP, warm and on a never indexed project, and the token cost of the tools, beside semble's server."""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from benchmarks.result_files import DEFAULT_CACHE, new_result, write_result
from benchmarks.systems.mcp_client import McpClient
from benchmarks.systems.rivals import WORDLLAMA, RivalUnavailableError, Semble, program
from codecards.router.compress.token_count import estimate_tokens

QUERIES = (
    "where are expired entries removed",
    "parse command line options",
    "how is the configuration read",
    "error handling of network requests",
    "test fixtures",
    "write a file atomically",
    "ranking of results",
    "class that holds the index",
    "main",
    "def load",
    "timeout",
    "cache invalidation",
)
FUNCTIONS_A_FILE = 12
SEMBLE_WITH_MCP = "semble[mcp]==0.7.0"


@dataclass(frozen=True, slots=True)
class Server:
    """The command of a server, and the tool to call."""

    name: str
    command: Sequence[str]
    tool: str
    arguments: Mapping[str, object]
    """Arguments of the tool besides the query."""
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class McpFigures:
    """The figures of one server."""

    tools: int
    schema_tokens: int
    initialize_cpu_s: float
    """CPU time of the process from its start to its first answer."""
    initialize_ms: float
    first_answer_ms: float
    """Time of the first question to a warm project, right after the handshake."""
    warm_median_ms: float
    warm_p95_ms: float
    warm_cpu_ms: float
    """CPU time of the server per question; stable on a busy machine."""
    answer_tokens: float
    cold_question_ms: float
    """Time of the first question to a project that was never indexed."""
    cold_first_answer_ms: float
    """The same, measured from the start of the process."""
    cold_first_answer_cpu_s: float


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, print a table, write a result file; return 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks mcp", description=__doc__)
    parser.add_argument("--tree", type=Path, default=Path(__file__).parents[2], help="project for warm questions")
    parser.add_argument("--rounds", type=int, default=5, help="how often each question is asked")
    parser.add_argument("--cold-files", type=int, default=5_000, help="files of the project that was never indexed")
    parser.add_argument("--cache", type=Path, default=DEFAULT_CACHE, help="environments, kept between runs")
    parser.add_argument("--alone", action="store_true", help="measure without the rival")
    parser.add_argument("--no-save", action="store_true", help="write no result file")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as scratch:
        cold = generated_project(Path(scratch) / "cold", chosen.cold_files)
        trees = {"warm": chosen.tree.resolve(), "cold": cold}
        pairs = [{state: own_server(tree) for state, tree in trees.items()}]
        if not chosen.alone:
            try:
                pairs.append(
                    {state: rival_server(tree, chosen.cache, Path(scratch) / "rival") for state, tree in trees.items()}
                )
            except RivalUnavailableError as error:
                print(f"left out: {error}", file=sys.stderr)
        figures = {
            pair["warm"].name: asdict(one) for pair, one in zip(pairs, measured(pairs, chosen.rounds), strict=True)
        }
    print_table(figures)
    settings = {
        "tree": chosen.tree.name,
        "rounds": chosen.rounds,
        "queries": len(QUERIES),
        "cold_files": chosen.cold_files,
    }
    if not chosen.no_save:
        print(write_result(new_result("mcp", settings, {name: dict(one) for name, one in figures.items()})))
    return 0


def measured(pairs: Sequence[Mapping[str, Server]], rounds: int) -> list[McpFigures]:
    """Return the figures of each server; warm questions alternate between the servers."""
    colds = [cold_figures(pair["cold"]) for pair in pairs]
    clients = [McpClient(pair["warm"].command, pair["warm"].environment) for pair in pairs]
    hellos = [(client.hello(), client.cpu_s()) for client in clients]
    schemas = [client.ask("tools/list", {}).result["tools"] for client in clients]
    times: list[list[float]] = [[] for _ in clients]
    tokens: list[list[int]] = [[] for _ in clients]
    firsts: list[float] = []
    for pair, client in zip(pairs, clients, strict=True):
        warm = pair["warm"]
        firsts.append(client.call(warm.tool, {"query": QUERIES[0], **warm.arguments}).took_ms)
        if warm.name == "codecards":
            client.call("status", {"refresh": True})
    before = [client.cpu_s() for client in clients]
    for _ in range(rounds):
        for query in QUERIES:
            for number, (pair, client) in enumerate(zip(pairs, clients, strict=True)):
                warm = pair["warm"]
                reply = client.call(warm.tool, {"query": query, **warm.arguments})
                times[number].append(reply.took_ms)
                tokens[number].append(estimate_tokens(reply.text))
    cpus = [client.cpu_s() - earlier for client, earlier in zip(clients, before, strict=True)]
    for client in clients:
        client.end()
    return [
        McpFigures(
            tools=len(schema),
            schema_tokens=estimate_tokens(json.dumps({"tools": schema}, ensure_ascii=False)),
            initialize_cpu_s=cpu_s,
            initialize_ms=1000 * (hello.received_s - client.started_s),
            first_answer_ms=first,
            warm_median_ms=statistics.median(took),
            warm_p95_ms=statistics.quantiles(took, n=20)[-1],
            answer_tokens=statistics.median(spent),
            warm_cpu_ms=1000 * cpu / len(took),
            cold_question_ms=cold[0],
            cold_first_answer_ms=cold[1],
            cold_first_answer_cpu_s=cold[2],
        )
        for client, (hello, cpu_s), schema, first, took, spent, cpu, cold in zip(
            clients, hellos, schemas, firsts, times, tokens, cpus, colds, strict=True
        )
    ]


def cold_figures(server: Server) -> tuple[float, float, float]:
    """Return (ms of the first question, ms from the process's start to its answer, CPU seconds until then)."""
    with McpClient(server.command, server.environment) as client:
        client.hello()
        reply = client.call(server.tool, {"query": "where is invoice 40 checked", **server.arguments})
        if reply.failed:
            raise RivalUnavailableError(f"{server.name}: {reply.text[:300]}")
        return reply.took_ms, 1000 * (reply.received_s - client.started_s), client.cpu_s()


def own_server(tree: Path) -> Server:
    """Return codecards' server on a tree."""
    return Server("codecards", [sys.executable, "-m", "codecards", "-C", str(tree), "mcp"], "recall", {"limit": 5})


def rival_server(tree: Path, cache: Path, state: Path) -> Server:
    """Return semble's server on a tree.

    Raises:
        RivalUnavailableError: The rival can't be installed here.
    """
    rival = Semble(requirements=(SEMBLE_WITH_MCP, WORDLLAMA))
    rival.prepare(cache)
    command = [str(program(rival.home, "semble"))]
    return Server(rival.name, command, "search", {"repo": str(tree), "top_k": 5}, rival.environment(state))


def generated_project(root: Path, n_files: int) -> Path:
    """Write a project of many small modules and return its folder."""
    for number in range(n_files):
        folder = root / f"part{number // 100}"
        folder.mkdir(parents=True, exist_ok=True)
        functions = [
            f'def check_invoice_{number}_{part}(amount, rate={part}):\n    """Check invoice {number} against rate {part}."""\n'
            f"    return amount * rate + {number}\n"
            for part in range(FUNCTIONS_A_FILE)
        ]
        (folder / f"module{number}.py").write_text("\n\n".join(functions), encoding="utf-8")
    return root


def print_table(figures: Mapping[str, Mapping[str, float]]) -> None:
    """Print one row per figure and one column per server."""
    names = list(figures)
    print("| figure |", " | ".join(names), "|")
    print("| --- |", " | ".join("---:" for _ in names), "|")
    for figure in McpFigures.__dataclass_fields__:
        print(f"| {figure.replace('_', ' ')} |", " | ".join(f"{figures[name][figure]:.4g}" for name in names), "|")
