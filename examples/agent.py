r"""A minimal coding agent: an OpenAI-compatible endpoint generates, codecards decides what it sees.

    python examples/agent.py --base-url http://localhost:11434/v1 --model qwen3-coder \
        --root path/to/repo --run "python -m pytest" "make the login timeout a setting"

Each round checks the state, retrieves and assembles (all three in `before_generation`: the context is switched first),
then generates, executes the tool calls and records them. The effect of a call appears in the next context.
The model reads and writes only inside the project, and runs only commands that start as `--run` allows.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import httpx

from codecards import Engine, ToolCall
from codecards.adapters.openai_chat import openai_messages
from codecards.edit.editor import Editor
from codecards.errors import CodecardsError, UsageError
from codecards.router.policy.routing import ActionKind
from codecards.router.session import Session

MAX_ROUNDS = 40
RUN_LIMIT_S = 300
Log = Callable[[str], None]


def tool(name: str, description: str, **parameters: str) -> dict[str, Any]:
    """Return a tool's definition; parameters are strings, and those that end in `?` are optional."""
    names = {name.removesuffix("?"): {"type": "string", "description": text} for name, text in parameters.items()}
    required = [name for name in parameters if not name.endswith("?")]
    schema = {"type": "object", "properties": names, "required": required}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}


TOOLS = (
    tool("recall", "Find code by question, name, path or stack trace.", query="what to look for"),
    tool(
        "open_file", "Show a file from the next round on.", path="its path", purpose="what you want to learn or change"
    ),
    tool("close_file", "Take a file out of view; a summary stays.", path="its path"),
    tool(
        "replace", "Replace a piece of a file.", path="its path", search="the lines as they are", replacement="the new"
    ),
    tool("write", "Create a file, or replace all of it.", path="its path", content="its text"),
    tool("run", "Run a command in the project.", command="the command"),
    tool("commit_note", "Keep a conclusion for later tasks.", title="one line", conclusion="what, and why"),
    tool("compact", "Compact older tool calls into a short record."),
)


class Endpoint:
    """An OpenAI-compatible chat endpoint."""

    def __init__(self, base_url: str, model: str, api_key: str = "") -> None:
        headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
        transport = httpx.HTTPTransport(retries=2)
        self._client = httpx.Client(base_url=base_url, headers=headers, timeout=300, transport=transport)
        self._model = model

    def generate(self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return the model's message.

        Raises:
            httpx.HTTPError: There is no answer, or the request failed.
        """
        request = {"model": self._model, "messages": messages, "tools": tools}
        response = self._client.post("chat/completions", json=request)
        if response.is_error:
            problem = f"the endpoint answered {response.status_code}: {response.text[:500]}"
            raise httpx.HTTPStatusError(problem, request=response.request, response=response)
        message: dict[str, Any] = response.json()["choices"][0]["message"]
        return message

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


@dataclass(frozen=True, slots=True)
class Task:
    """What the agent is asked to do."""

    goal: str
    allowed: tuple[str, ...] = ()
    """Starts of the commands that the model may run."""
    opened: tuple[str, ...] = ()
    """Files in view from the first round on."""
    budget_tokens: int = 12_000
    """Most tokens of a context."""
    session: str = "agent"
    """Name of the session; an existing one is continued."""


@dataclass(frozen=True)
class Outcome:
    """The result of a tool call."""

    text: str
    paths: tuple[str, ...] = ()
    by_session: bool = True
    """Whether the session executed the call, and so has recorded its effect."""
    failed: bool = False


class Tools:
    """Executes tool calls: the session reads, the editor writes, and `run` starts programs without a shell."""

    def __init__(self, session: Session, editor: Editor, root: Path, allowed: Iterable[Sequence[str]]) -> None:
        self._session, self._editor, self._root = session, editor, root
        self._allowed = [list(command) for command in allowed]
        self.n_notes = 0

    def call(self, name: str, arguments: str) -> Outcome:
        """Execute a tool call; errors go back to the model, which can correct them."""
        tools: dict[str, Callable[..., Outcome]] = {
            "recall": self.recall,
            "open_file": lambda path, purpose: Outcome(self._session.open_file(path, purpose)),
            "close_file": lambda path: Outcome(self._session.close_file(path)),
            "replace": self.replace,
            "write": self.write,
            "run": self.run,
            "commit_note": self.commit_note,
            "compact": lambda: Outcome(self._session.compact().as_text()),
        }
        try:
            given = json.loads(arguments or "{}")
            if name not in tools or not isinstance(given, dict):
                raise UsageError(f"There is no tool {name!r} with such arguments; the tools are {', '.join(tools)}.")
            return tools[name](**given)
        except (CodecardsError, ValueError, TypeError) as error:
            return Outcome(str(error), by_session=False, failed=True)

    def recall(self, query: str) -> Outcome:
        """Return folded hits, each with the path to copy."""
        answer = self._session.recall(query)
        if answer.refusal is not None:
            return Outcome(answer.refusal.message())
        lines = [f"{ref.path}:{ref.first_line}-{ref.last_line} {ref.summary}" for ref in answer.references]
        return Outcome("\n".join(lines) or "nothing found; try other words")

    def replace(self, path: str, search: str, replacement: str) -> Outcome:
        """Replace a piece of a file."""
        edit = self._editor.replace(path, search, replacement)
        return Outcome(edit.status, (edit.path,), by_session=False)

    def write(self, path: str, content: str) -> Outcome:
        """Create a file, or replace all of it."""
        edit = self._editor.write(path, content)
        return Outcome(edit.status, (edit.path,), by_session=False)

    def run(self, command: str) -> Outcome:
        """Run an allowed command in the project's root, without a shell."""
        words = shlex.split(command)
        if not any(words[: len(allowed)] == allowed for allowed in self._allowed):
            raise UsageError(f"{command!r} is not allowed; allowed are {[shlex.join(one) for one in self._allowed]}.")
        program = sys.executable if words[0] == "python" else words[0]
        try:
            done = subprocess.run(
                [program, *words[1:]],
                cwd=self._root,
                capture_output=True,
                text=True,
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=RUN_LIMIT_S,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return Outcome(str(error), by_session=False, failed=True)
        text = f"exit {done.returncode}\n{done.stdout}{done.stderr}"
        return Outcome(text, by_session=False, failed=done.returncode != 0)

    def commit_note(self, title: str, conclusion: str) -> Outcome:
        """Keep a conclusion, tied to the files that the session changed."""
        files = list(dict.fromkeys(change.path for change in self._session.memory.changes))
        note = self._session.commit_note(title, conclusion, files=files)
        self.n_notes += 1
        return Outcome(f"noted as {note.note_id}")


def run_rounds(session: Session, tools: Tools, endpoint: Endpoint, user_input: str, log: Log) -> str:
    """Run rounds until the model makes no tool call; return its last message.

    Raises:
        UsageError: The model did not stop.
    """
    schema = json.dumps(TOOLS)
    for _ in range(MAX_ROUNDS):
        context = session.before_generation(user_input, tool_schema=schema)  # switch first
        log(round_line(session, context.ledger.total_tokens))
        message = endpoint.generate(openai_messages(context.messages), TOOLS)  # then generate
        user_input = ""
        calls = message.get("tool_calls") or []
        if message.get("content"):
            session.record(ToolCall("think" if calls else "reply", text=message["content"]))
        if not calls:
            return message.get("content") or ""
        for call in calls:
            name, arguments = call["function"]["name"], call["function"]["arguments"]
            outcome = tools.call(name, arguments)
            log(f"  {name}: {outcome.text.splitlines()[0] if outcome.text else ''}")
            if outcome.by_session:
                session.record_call(name, arguments, outcome.text)
            else:
                session.record(
                    ToolCall(name, paths=outcome.paths, text=arguments, result=outcome.text, failed=outcome.failed)
                )
    raise UsageError(f"no end after {MAX_ROUNDS} rounds")


def round_line(session: Session, tokens: int) -> str:
    """Return the router's decisions before a round."""
    switches = [one for one in session.last_actions if one.kind is not ActionKind.KEEP]
    lines = "".join(f"\n  {one.kind.value} {one.path}: {one.reason}" for one in switches)
    return f"round {session.memory.turn}: {tokens} tokens{lines}"


def ledger_table(session: Session) -> str:
    """Return a table of the tokens of each round by group, including the tools' definitions."""
    groups = {
        "tools": ("tool_schema",),
        "task": ("system", "task"),
        "files": ("files",),
        "recalled": ("retrieved", "memory"),
        "calls": ("history", "tool_results", "input"),
    }
    rows = [f"{'round':>5} {'total':>7}" + "".join(f" {name:>9}" for name in groups)]
    totals = []
    for ledger in session.state.ledgers:
        parts = ledger.grouped(groups)
        totals.append(ledger.total_tokens + parts["tools"])
        rows.append(f"{ledger.turn:>5} {totals[-1]:>7}" + "".join(f" {tokens:>9}" for tokens in parts.values()))
    _, used, alarms = session.report()
    share = "" if used is None else f"; {used:.0%} of the shown lines were used"
    rows.append(f"{sum(totals)} tokens in all, mean {fmean(totals):.0f}, peak {max(totals)}{share}")
    return "\n".join([*rows, *alarms])


def run_task(root: Path, task: Task, endpoint: Endpoint, log: Log = print) -> Session:
    """Do a task in a project and return its session.

    Args:
        root: The project.
        task: The task.
        endpoint: The model.
        log: Called with each line of the progress.
    """
    with Engine.open(root, build=False) as engine:
        engine.refresh()
        session = engine.session(task.session, goal=task.goal, budget_tokens=task.budget_tokens)
        for path in task.opened:
            session.open_file(path, purpose=task.goal)
        editor = Editor(engine.root, engine.project.resolve_path, engine.settings.build.discovery)
        tools = Tools(session, editor, engine.root, [shlex.split(command) for command in task.allowed])
        answer = run_rounds(session, tools, endpoint, task.goal, log)
        session.end("done", conclusion="" if tools.n_notes else answer)
        log(answer)
        log(ledger_table(session))
        return session


def main(argv: Sequence[str] | None = None) -> int:
    """Parse the command line and do the task; return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("goal")
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--base-url", default="https://api.openai.com/v1")
    parser.add_argument("--model", required=True)
    parser.add_argument(
        "--run", action="append", default=[], metavar="COMMAND", help="allow commands that start with this"
    )
    parser.add_argument(
        "--open", action="append", default=[], metavar="PATH", help="open this file before the first round"
    )
    parser.add_argument("--budget", type=int, default=12_000, metavar="TOKENS")
    parser.add_argument("--session", default="agent", metavar="NAME")
    given = parser.parse_args(argv)
    endpoint = Endpoint(given.base_url, given.model, os.environ.get("OPENAI_API_KEY", ""))
    try:
        task = Task(given.goal, tuple(given.run), tuple(given.open), given.budget, given.session)
        run_task(given.root, task, endpoint)
    except (CodecardsError, httpx.HTTPError) as error:
        print(f"agent: {error}", file=sys.stderr)
        return error.exit_code if isinstance(error, CodecardsError) else 1
    finally:
        endpoint.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
