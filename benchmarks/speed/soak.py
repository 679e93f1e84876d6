"""Runs several MCP servers on one project that is being edited; counts errors, stale lines, missing hits and memory.

A hit is stale if its file did not contain its text at any moment between question and answer.
"""

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.result_files import new_result, write_result
from benchmarks.systems.mcp_client import McpClient, Reply, ServerEndedError

EDIT_PERIOD_S = 1.0
CALL_PERIOD_S = 0.2
MEMORY_PERIOD_S = 5.0
FOUND_AFTER_S = 10.0
"""Time after which a new function must be found by its name."""
SETTLED_AFTER = 0.5
"""Share of the run after which a server has loaded everything, so that further growth is a leak."""
MIB = 1 << 20
MemoryUse = list[tuple[float, list[float]]]
"""Samples of (seconds since the start, MiB of each server)."""


@dataclass(frozen=True, slots=True)
class Version:
    """A text that a file had, and since when."""

    text: str
    since_s: float


@dataclass(slots=True)
class Tally:
    """Counts of all clients."""

    calls: int = 0
    problems: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)
    times_ms: list[float] = field(default_factory=list)
    hits_checked: int = 0

    def problem(self, kind: str, detail: str) -> None:
        """Count a problem, and keep the first twelve as examples."""
        self.problems[kind] += 1
        if len(self.examples) < 12:
            self.examples.append(f"{kind}: {detail[:300]}")


class EditedProject:
    """A project whose files change while servers run; records every text of each file and its time."""

    def __init__(self, root: Path, n_files: int, seed: int) -> None:
        """Write the initial files."""
        self.root = root
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._versions: dict[str, list[Version]] = {}
        self._functions: dict[str, dict[str, float]] = {}
        """Path -> function -> time since which it exists."""
        self._next = 0
        for number in range(n_files):
            path = f"part{number % 10}/module{number}.py"
            names = {self._new_name(): 0.0 for _ in range(8)}
            self._functions[path] = names
            self._write(path)

    def edit(self) -> None:
        """Change one file: add, remove or move functions."""
        path = self._random.choice(list(self._functions))
        names = list(self._functions[path].items())
        if len(names) > 4 and self._random.random() < 0.5:
            names.pop(self._random.randrange(len(names)))
        if self._random.random() < 0.7:
            names.insert(self._random.randrange(len(names) + 1), (self._new_name(), time.time()))
        if self._random.random() < 0.3:
            self._random.shuffle(names)
        with self._lock:
            self._functions[path] = dict(names)
        self._write(path)

    def settled_function(self) -> tuple[str, str]:
        """Return (path, name) of a function that has existed for `FOUND_AFTER_S`."""
        with self._lock:
            old = time.time() - FOUND_AFTER_S
            known = [
                (path, name) for path, names in self._functions.items() for name, since in names.items() if since < old
            ]
        return self._random.choice(known)

    def has(self, path: str, name: str) -> bool:
        """Return whether the function still exists."""
        with self._lock:
            return name in self._functions.get(path, {})

    def was_there(self, path: str, first: int, last: int, text: str, reply: Reply) -> bool:
        """Return whether lines of a file had a text at some moment between question and answer."""
        with self._lock:
            versions = list(self._versions.get(path, []))
        for number, version in enumerate(versions):
            until_s = versions[number + 1].since_s if number + 1 < len(versions) else float("inf")
            # Writing takes a moment, in which the old text may still be read.
            if version.since_s <= reply.received_s and until_s + 0.05 >= reply.sent_s:
                lines = version.text.split("\n")
                if text.rstrip("\n") == "\n".join(lines[first - 1 : last]).rstrip("\n"):
                    return True
        return False

    def _new_name(self) -> str:
        self._next += 1
        return f"handle_case_{self._next:06d}"

    def _write(self, path: str) -> None:
        with self._lock:
            text = "\n\n".join(
                f'def {name}(value):\n    """Handle case number {name[-6:]}."""\n    return value + {int(name[-6:])}\n'
                for name in self._functions[path]
            )
            place = self.root / path
            place.parent.mkdir(parents=True, exist_ok=True)
            whole = place.with_suffix(".new")
            whole.write_text(text, encoding="utf-8")
            self._versions.setdefault(path, []).append(Version(text, time.time()))
            os.replace(whole, place)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the servers and print the figures; return 0 if there was no problem."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks soak", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--clients", type=int, default=8, help="servers, each with a client")
    parser.add_argument("--files", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-save", action="store_true", help="write no result file")
    chosen = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        project = EditedProject(Path(folder), chosen.files, chosen.seed)
        tally, memory = run(project, chosen.minutes * 60, chosen.clients)
    figures = summary(tally, memory)
    for name, value in figures.items():
        print(f"{name}: {value}")
    print(*tally.examples, sep="\n")
    settings = {"minutes": chosen.minutes, "clients": chosen.clients, "files": chosen.files}
    if not chosen.no_save:
        print(write_result(new_result("mcp-soak", settings, {"codecards": figures})))
    return int(bool(tally.problems))


def run(project: EditedProject, seconds: float, n_clients: int) -> tuple[Tally, MemoryUse]:
    """Return what the clients saw, and the memory of the servers."""
    tally, lock, stop = Tally(), threading.Lock(), threading.Event()
    command = [sys.executable, "-m", "codecards", "-C", str(project.root), "mcp"]
    clients = [McpClient(command) for _ in range(n_clients)]
    threads = [
        threading.Thread(target=_ask_until_stopped, args=(client, project, tally, lock, stop, number))
        for number, client in enumerate(clients)
    ]
    started = time.time()
    for thread in threads:
        thread.start()
    memory: MemoryUse = []
    next_memory = 0.0
    while time.time() - started < seconds:
        project.edit()
        if time.time() - started >= next_memory:
            next_memory += MEMORY_PERIOD_S
            memory.append((time.time() - started, [client.resident_bytes() / MIB for client in clients]))
        time.sleep(EDIT_PERIOD_S)
    stop.set()
    for thread in threads:
        thread.join(60)
    for client in clients:
        if client.end() is None:
            tally.problem("did not end", "a server had to be killed")
    return tally, memory


def summary(tally: Tally, memory: MemoryUse) -> dict[str, Any]:
    """Return the figures."""
    quarter = max(1, len(memory) // 4)
    early = statistics.mean(sum(each) for _, each in memory[quarter : 2 * quarter] or memory)
    late = statistics.mean(sum(each) for _, each in memory[-quarter:])
    return {
        "calls": tally.calls,
        "problems": dict(tally.problems),
        "texts compared with the disk": tally.hits_checked,
        "median ms": round(statistics.median(tally.times_ms), 1),
        "p95 ms": round(statistics.quantiles(tally.times_ms, n=20)[-1], 1),
        "MiB of all servers, second quarter": round(early, 1),
        "MiB of all servers, last quarter": round(late, 1),
        "MiB of each server at the end": [round(one, 1) for one in memory[-1][1]],
        "MiB a minute that each server grows by in the second half": growth(memory),
    }


def growth(memory: MemoryUse) -> list[float]:
    """Return the slope of each server's memory in the settled part of the run, in MiB per minute."""
    settled = memory[int(len(memory) * SETTLED_AFTER) :]
    if len(settled) < 3:
        return []
    minutes = [second / 60 for second, _ in settled]
    servers = zip(*(each for _, each in settled), strict=True)
    return [round(statistics.linear_regression(minutes, server).slope, 2) for server in servers]


def _ask_until_stopped(
    client: McpClient, project: EditedProject, tally: Tally, lock: threading.Lock, stop: threading.Event, seed: int
) -> None:
    """Ask one server questions until `stop` is set."""
    chooser = random.Random(seed)
    try:
        client.hello()
        client.call("status", {"refresh": True})
        while not stop.wait(CALL_PERIOD_S * (0.5 + chooser.random())):
            path, name = project.settled_function()
            questions: list[tuple[str, dict[str, Any]]] = [
                ("recall", {"query": name, "expand": True, "limit": 3}),
                ("recall", {"query": f"handle case number {name[-6:]}", "expand": True}),
                ("symbol", {"name": name}),
                ("symbol", {"name": name, "want": "callers"}),
                ("open_file", {"path": path, "purpose": "soak"}),
            ]
            tool, arguments = chooser.choice(questions)
            reply = client.call(tool, arguments)
            with lock:
                _judge(project, tally, tool, arguments, path, name, reply)
    except ServerEndedError as error:
        with lock:
            tally.problem("server ended", str(error))


def _judge(
    project: EditedProject, tally: Tally, tool: str, arguments: dict[str, Any], path: str, name: str, reply: Reply
) -> None:
    """Compare one answer with the texts of the files, and count it."""
    tally.calls += 1
    tally.times_ms.append(reply.took_ms)
    value = reply.result.get("structuredContent") or {}
    if reply.failed:
        if tool == "open_file" or project.has(path, name):
            tally.problem("error", f"{tool} {arguments}: {reply.text or reply.result}")
        return
    rows = value.get("hits", [value] if "text" in value else [])
    for row in rows:
        if "text" in row and "path" in row:
            tally.hits_checked += 1
            if not project.was_there(row["path"], row["start_line"], row["end_line"], row["text"], reply):
                tally.problem(
                    "stale",
                    f"{tool} {arguments}: {row['path']}:{row['start_line']}-{row['end_line']} {row['text'][:80]!r}",
                )
    looked_for = tool == "recall" and arguments["query"] == name and project.has(path, name)
    if looked_for and not any(hit["name"] == name and hit["path"] == path for hit in rows):
        tally.problem("not found", f"{name} in {path}: {[hit['name'] for hit in rows]}")
