"""The example agent works with a scripted endpoint: without a model, and without a network."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from codecards import Engine, Settings
from codecards.adapters.openai_chat import openai_messages
from codecards.edit.editor import Editor
from examples.agent import TOOLS, Endpoint, Task, Tools, main, run_task
from examples.csv_export import GOAL, OPENED, STEPS, replay, write_project
from examples.scripted_endpoint import ScriptedEndpoint, Step, protocol_fault
from tests.support.indexed import write_repository

SHOP = """\
#- shop/tokens.py
def purge_expired(tokens, now):
    return [token for token in tokens if token.expires < now]
"""


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    root = write_repository(tmp_path / "shop", SHOP)
    with Engine(root, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        session = engine.session("task", goal="purge tokens")
        yield Tools(session, Editor(root, engine.project.resolve_path), root, [["python", "-c"]])


@pytest.mark.seed("S2-42", "S2-43", "S2-44", "S2-45", "S2-57", "S2-58", "S4-16")
def test_the_csv_task_is_done_from_start_to_end(tmp_path: Path) -> None:
    """Each step needs texts in its request, so a file must be in view before the answer that depends on it."""
    write_project(tmp_path)
    lines: list[str] = []
    session = replay(tmp_path, lines.append)
    rounds = [line for line in lines if line.startswith("round")]
    assert "promote services/user_service.py: found by 2 retrievals in a row" in rounds[1]
    assert "promote utils/exporter.py: found by 2 retrievals in a row" in rounds[1]
    assert "def export_csv(self, file):" in (tmp_path / "services/user_service.py").read_text(encoding="utf-8")
    assert any(line.startswith("  run: exit 0") for line in lines)
    assert session.memory.task.goal == GOAL
    assert [change.path for change in session.memory.changes] == [
        "services/user_service.py",
        "tests/test_csv_export.py",
    ]
    with Engine.open(tmp_path, build=False) as engine:
        (note,) = engine.archive.notes()
        assert "utils/exporter.py" in note.text
        assert {anchor.path for anchor in note.anchors} >= {"services/user_service.py"}
    ledgers = session.state.ledgers
    totals = [ledger.total_tokens + ledger.by_category()["tool_schema"] for ledger in ledgers]
    assert len(totals) == len(STEPS)
    assert all(ledger.by_category()["tool_schema"] > 100 for ledger in ledgers)
    assert max(totals) < 3_500
    printed = lines[-2].splitlines()
    assert [int(row.split()[1]) for row in printed[1 : 1 + len(totals)]] == totals
    assert printed[1 + len(totals)].startswith(f"{sum(totals)} tokens in all")
    whole = int(lines[-1].split(": ")[1].split()[0])
    assert sum(totals) < whole / 5


def test_requests_have_the_goal_first_and_each_call_directly_before_its_answer(tmp_path: Path) -> None:
    write_project(tmp_path)
    with ScriptedEndpoint(STEPS) as scripted:
        endpoint = Endpoint(scripted.base_url, "scripted", "key")
        run_task(tmp_path, Task(GOAL, ("python -m unittest",), (OPENED,)), endpoint, lambda _line: None)
        endpoint.close()
        assert scripted.n_left == 0
    assert all(request["tools"] == list(TOOLS) and request["model"] == "scripted" for request in scripted.requests)
    first, *_, last = scripted.requests
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert f"goal: {GOAL}" in first["messages"][0]["content"]
    assert [call["function"]["name"] for message in last["messages"] for call in message.get("tool_calls", ())] == [
        *("recall", "recall", "replace", "replace", "write", "commit_note", "run"),
    ]


@pytest.mark.seed("S0-38", "S0-40")
def test_a_long_task_stays_in_its_budget_and_the_endpoint_takes_every_request(tmp_path: Path) -> None:
    """Large outputs, errors, several calls at once, compaction: no call ever loses its answer."""
    root = write_repository(tmp_path, SHOP)
    calls: list[tuple[tuple[str, dict[str, str]], ...]] = [
        (("run", {"command": "python -c 'print(\"many words \" * 4000)'"}), ("recall", {"query": "purge"})),
        (("open_file", {"path": "tokens.py", "purpose": "look"}), ("run", {"command": "python -c 'raise ValueError'"})),
        (("compact", {}), ("nothing", {}), ("close_file", {"path": "tokens.py"})),
    ]
    steps = [Step(says=f"step {number}: " + "because " * 40, calls=calls[number % 3]) for number in range(12)]
    with ScriptedEndpoint([*steps, Step(says="done")]) as scripted:
        endpoint = Endpoint(scripted.base_url, "scripted")
        task = Task("tidy up", ("python -c",), budget_tokens=2_000)
        session = run_task(root, task, endpoint, lambda _line: None)
        endpoint.close()
        assert scripted.n_left == 0
    assert max(ledger.total_tokens for ledger in session.state.ledgers) <= 2_000


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("run", {"command": "rm -rf ."}, "not allowed"),
        ("run", {"command": "python"}, "not allowed"),
        ("run", {"command": "python -c 'raise SystemExit(3)'"}, "exit 3"),
        ("run", {"command": "'"}, "quotation"),
        ("write", {"path": "../outside.py", "content": "x"}, "out of the project"),
        ("replace", {"path": "tokens.py", "search": "purge_all", "replacement": "x"}, "is not in shop/tokens.py"),
        ("open_file", {"path": "tokenz.py", "purpose": "look"}, "tokenz.py"),
        ("open_file", {"path": "tokens.py"}, "purpose"),
        ("delete", {}, "There is no tool 'delete'"),
    ],
)
def test_errors_go_back_to_the_model(tools: Tools, name: str, arguments: dict[str, str], says: str) -> None:
    outcome = tools.call(name, json.dumps(arguments))
    assert outcome.failed
    assert says in outcome.text


@pytest.mark.parametrize("arguments", ["{", "[]", '"x"'])
def test_arguments_that_are_not_an_object_are_an_error_for_the_model(tools: Tools, arguments: str) -> None:
    assert tools.call("recall", arguments).failed


def test_a_repeated_question_is_refused_with_other_words_to_try(tools: Tools) -> None:
    assert "shop/tokens.py:1-2 " in tools.call("recall", '{"query": "purge expired"}').text
    assert "the answer would be the same" in tools.call("recall", '{"query": "purge expired"}').text


def test_a_failed_request_ends_the_agent_with_a_message_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_repository(tmp_path, SHOP)
    with ScriptedEndpoint([Step(needs=("def purge_expired",), says="done")]) as scripted:
        given = ["--root", str(tmp_path), "--base-url", scripted.base_url, "--model", "scripted"]
        assert main(["look", *given]) == 1
        message = capsys.readouterr().err
        assert message.count("\n") == 1
        assert "needs to have seen 'def purge_expired'" in message
        assert main(["look", *given, "--open", "tokens.py"]) == 0
        assert "done" in capsys.readouterr().out


def test_calls_of_a_context_become_tool_calls() -> None:
    messages = openai_messages(
        [
            {"role": "user", "content": "look"},
            {"role": "assistant", "content": '{"query": "x"}', "tool_call_id": "c1", "name": "recall"},
            {"role": "tool", "content": "nothing", "tool_call_id": "c1", "name": "recall"},
            {"role": "assistant", "content": "ls", "tool_call_id": "c2", "name": "run"},
            {"role": "tool", "content": "a.py", "tool_call_id": "c2", "name": "run"},
        ]
    )
    assert protocol_fault(messages) == ""
    assert messages[1]["tool_calls"] == [
        {"id": "c1", "type": "function", "function": {"name": "recall", "arguments": '{"query": "x"}'}}
    ]
    assert '{"call": "ls"}' in json.dumps(messages[3]["tool_calls"]).replace("\\", "")
    assert protocol_fault(messages[2:]) == "the answer c1 has no call directly before it"
    assert protocol_fault(messages[:2]) == "the call c1 has no answer"
