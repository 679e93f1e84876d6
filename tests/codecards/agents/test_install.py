"""Install for all agents into all kinds of existing files; uninstall restores every byte."""

import json
import os
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codecards.agents.catalog import agents
from codecards.agents.install import Plan, carry_out, detect, plan_install, plan_uninstall
from codecards.agents.record import InstalledFile, Record, read_record, record_path, save_record
from codecards.agents.targets import Agent, JsonEntries, TextBlock
from codecards.errors import ConfigurationError, OutsideProjectError

TABLE = {agent.name: agent for agent in agents()}


def install(root: Path, names: Iterable[str] = tuple(TABLE), command: str = "codecards") -> Plan:
    place = record_path("project", root)
    record = read_record(place)
    table = {agent.name: agent for agent in agents(command.split())}
    plan = plan_install([table[name] for name in names], "project", root, record, command)
    carry_out(plan, partial(save_record, place), record)
    return plan


def uninstall(root: Path, names: Iterable[str] = tuple(TABLE)) -> Plan:
    place = record_path("project", root)
    record = read_record(place)
    plan = plan_uninstall([TABLE[name] for name in names], "project", root, record)
    carry_out(plan, partial(save_record, place), record)
    return plan


def tree(root: Path) -> dict[str, bytes | None]:
    """Return all files with their bytes, and all folders."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(root.rglob("*"))
    }


def write_files(root: Path, files: Mapping[str, bytes]) -> None:
    for name, data in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(data)


TEXTS = sorted(
    {
        path
        for agent in TABLE.values()
        for one in agent.project
        if isinstance(one, TextBlock)
        for path in one.paths
        if not one.toml
    }
)
JSONS = sorted(
    {path for agent in TABLE.values() for one in agent.project if isinstance(one, JsonEntries) for path in one.paths}
)
texts = st.lists(
    st.sampled_from(
        [b"# Rules", b"\n", b"\r\n", b"\xef\xbb\xbf", b"\xe4\xb8\xad\xe6\x96\x87", b"  ", b"\xff", b"- one"]
    ),
    max_size=8,
).map(b"".join)
others = st.dictionaries(
    st.sampled_from(["theme", "mcpServers", "servers", "context_servers", "mcp", "hooks", "version", "\u4e2d"]),
    st.dictionaries(
        st.sampled_from(["other", "PostToolUse2", "x"]), st.integers() | st.lists(st.integers(), max_size=2), max_size=2
    ),
    max_size=4,
)


@st.composite
def jsons(draw: st.DrawFn) -> bytes:
    text = json.dumps(draw(others), indent=draw(st.sampled_from([None, 2, 4, "\t"])), ensure_ascii=draw(st.booleans()))
    text += draw(st.sampled_from(["", "\n", "\n\n", " // end", "\n/* end */\n"]))
    text = text.replace("\n", draw(st.sampled_from(["\n", "\r\n"])))
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + draw(st.sampled_from([text.encode(), b""]))


tomls = st.sampled_from(
    [
        b"",
        b'model = "x"',
        b'model = "x"\r\n[mcp_servers.other]\r\ncommand = "y"\r\n',
        b"# only a comment",
        b"\n\n[a]\nb = 1\n",
    ]
)
existing = st.fixed_dictionaries(
    {},
    optional=dict.fromkeys(TEXTS, texts)
    | {name: jsons() for name in JSONS}
    | {".codex/config.toml": tomls, "src/a.py": texts},
)


@settings(max_examples=60, deadline=None)
@given(existing, st.sets(st.sampled_from(sorted(TABLE)), min_size=1), st.booleans())
def test_uninstall_restores_every_byte(files: dict[str, bytes], names: set[str], one_by_one: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        write_files(root, files)
        before = tree(root)
        chosen = sorted(names)
        for name in chosen if one_by_one else ():
            install(root, [name])
        install(root, chosen)
        installed = tree(root)
        assert installed != before
        assert not install(root, chosen).diff()
        assert tree(root) == installed
        for name in reversed(chosen) if one_by_one else ():
            uninstall(root, [name])
        uninstall(root)
        assert tree(root) == before


def test_every_agent_gets_its_server_instructions_and_hooks(tmp_path: Path) -> None:
    install(tmp_path)
    for path in JSONS:
        if (tmp_path / path).exists():
            json.loads((tmp_path / path).read_bytes())
    server = {"command": "codecards", "args": ["mcp"]}
    assert json.loads((tmp_path / ".mcp.json").read_bytes()) == {"mcpServers": {"codecards": server}}
    assert json.loads((tmp_path / ".cursor/mcp.json").read_bytes()) == {"mcpServers": {"codecards": server}}
    assert json.loads((tmp_path / ".vscode/mcp.json").read_bytes())["servers"]["codecards"]["type"] == "stdio"
    assert json.loads((tmp_path / "opencode.json").read_bytes())["mcp"]["codecards"]["command"] == ["codecards", "mcp"]
    assert tomllib.loads((tmp_path / ".codex/config.toml").read_text())["mcp_servers"] == {"codecards": server}
    hooks = json.loads((tmp_path / ".claude/settings.json").read_bytes())["hooks"]
    assert hooks["PreCompact"] == [
        {"hooks": [{"type": "command", "command": "codecards hook claude PreCompact", "timeout": 10}]}
    ]
    assert json.loads((tmp_path / ".cursor/hooks.json").read_bytes())["version"] == 1
    for path in (
        "AGENTS.md",
        "CLAUDE.md",
        "GEMINI.md",
        ".github/copilot-instructions.md",
        ".cursor/rules/codecards.mdc",
    ):
        assert "`recall`" in (tmp_path / path).read_text(encoding="utf-8")
    assert (tmp_path / ".cursor/rules/codecards.mdc").read_text(encoding="utf-8").startswith("---\ndescription:")


def test_a_shared_file_stays_until_its_last_agent_goes(tmp_path: Path) -> None:
    install(tmp_path, ["codex", "opencode"])
    text = (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    assert text.count("codecards:begin") == 1
    uninstall(tmp_path, ["codex"])
    assert (tmp_path / "AGENTS.md").read_text(encoding="utf-8") == text
    uninstall(tmp_path, ["opencode"])
    assert tree(tmp_path) == {}


def test_later_changes_of_a_file_stay(tmp_path: Path) -> None:
    write_files(tmp_path, {".mcp.json": b'{\n  "mcpServers": {\n    "a": {}\n  }\n}\n', "CLAUDE.md": b"# Mine\n"})
    install(tmp_path, ["claude"])
    servers = tmp_path / ".mcp.json"
    servers.write_text(servers.read_text().replace('"a": {}', '"a": {"command": "x"}'))
    rules = tmp_path / "CLAUDE.md"
    rules.write_text("# Title\n" + rules.read_text(encoding="utf-8") + "More.\n", encoding="utf-8")
    hooks = tmp_path / ".claude/settings.json"
    hooks.write_text(hooks.read_text().replace('"hooks": {', '"model": "opus",\n  "hooks": {', 1))
    uninstall(tmp_path)
    assert servers.read_text() == '{\n  "mcpServers": {\n    "a": {"command": "x"}\n  }\n}\n'
    assert rules.read_text() == "# Title\n# Mine\nMore.\n"
    assert json.loads(hooks.read_text()) == {"model": "opus"}


def test_another_command_replaces_the_old_one(tmp_path: Path) -> None:
    install(tmp_path, ["claude", "codex"])
    install(tmp_path, ["claude", "codex"], command="uvx codecards")
    assert json.loads((tmp_path / ".mcp.json").read_bytes())["mcpServers"]["codecards"]["args"] == ["codecards", "mcp"]
    hooks = json.loads((tmp_path / ".claude/settings.json").read_bytes())["hooks"]["SessionStart"]
    assert [one["hooks"][0]["command"] for one in hooks] == ["uvx codecards hook claude SessionStart"]
    uninstall(tmp_path)
    assert tree(tmp_path) == {}


def test_uninstall_works_without_a_record(tmp_path: Path) -> None:
    """The clone of a colleague has the files, but no `.codecards/`."""
    write_files(tmp_path, {"CLAUDE.md": b"mine", ".mcp.json": b'{"mcpServers": {"a": {}}}'})
    before = tree(tmp_path)
    install(tmp_path, ["claude"])
    record_path("project", tmp_path).unlink()
    assert not install(tmp_path, ["claude"]).diff()
    record_path("project", tmp_path).unlink()
    uninstall(tmp_path, ["claude"])
    after = tree(tmp_path)
    assert {name: after[name] for name in before} == before
    hooks = json.loads(after[".claude/settings.json"] or b"")["hooks"]
    assert set(map(len, hooks.values())) == {0}


def test_an_entry_of_the_user_is_not_changed(tmp_path: Path) -> None:
    mine = b'{"mcpServers": {"codecards": {"command": "/opt/mine"}}}'
    write_files(tmp_path, {".mcp.json": mine})
    plan = install(tmp_path, ["claude"])
    assert any("already has another entry" in note for note in plan.notes)
    assert (tmp_path / ".mcp.json").read_bytes() == mine
    uninstall(tmp_path)
    assert (tmp_path / ".mcp.json").read_bytes() == mine


@pytest.mark.parametrize(
    ("name", "data", "agent", "message"),
    [
        (".mcp.json", b'{"mcpServers": ', "claude", r"\.mcp\.json can't be changed: line 1, column 16"),
        (".mcp.json", b'{"mcpServers": []}', "claude", "mcpServers is not an object"),
        (".mcp.json", b"[]", "claude", "the root is not an object"),
        (".mcp.json", b'{"a": "\xff"}', "claude", "not UTF-8"),
        (".claude/settings.json", b'{"hooks": {"PostToolUse": {}}}', "claude", "PostToolUse is not an array"),
        (".codex/config.toml", b"[broken", "codex", "is not TOML"),
        (".codex/config.toml", b'mcp_servers = { a = { command = "x" } }', "codex", "by hand"),
        ("AGENTS.md", "x".encode("utf-16"), "codex", "UTF-16"),
        ("AGENTS.md", b"<!-- codecards:begin -->\n", "codex", "one pair"),
    ],
)
def test_a_damaged_file_is_an_error_and_nothing_is_written(
    tmp_path: Path, name: str, data: bytes, agent: str, message: str
) -> None:
    write_files(tmp_path, {name: data})
    before = tree(tmp_path)
    with pytest.raises(ConfigurationError, match=message):
        install(tmp_path, [agent])
    assert tree(tmp_path) == before


def test_a_folder_instead_of_a_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").mkdir()
    with pytest.raises(ConfigurationError, match="is not a file"):
        install(tmp_path, ["claude"])


def test_a_damaged_record_is_an_error(tmp_path: Path) -> None:
    write_files(tmp_path, {".codecards/installed.json": b"{"})
    with pytest.raises(ConfigurationError, match="Move it away"):
        install(tmp_path, ["claude"])


def test_a_foreign_record_removes_no_folder_elsewhere(tmp_path: Path) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    outside.mkdir()
    write_files(root, {"a/b": b""})
    (root / "empty").mkdir()
    hostile = [
        InstalledFile("CLAUDE.md", ("claude",), True, (str(outside), "../outside", "empty", ".."), "", ()),
        InstalledFile(str(outside / "x"), ("claude",), True, (str(outside),), "", ()),
    ]
    save_record(record_path("project", root), Record(files=tuple(hostile), n_folders=9))
    uninstall(root)
    assert outside.is_dir()
    assert (root / "empty").is_dir()


def test_if_one_file_can_not_be_written_the_others_are_restored(tmp_path: Path) -> None:
    write_files(tmp_path, {".mcp.json": b"{}"})
    before = tree(tmp_path)
    place, record = record_path("project", tmp_path), Record(n_folders=1)
    plan = plan_install([TABLE["claude"]], "project", tmp_path, record, "codecards")
    (tmp_path / ".claude").write_bytes(b"a file where a folder is needed")
    with pytest.raises(ConfigurationError):
        carry_out(plan, partial(save_record, place), record)
    (tmp_path / ".claude").unlink()
    assert tree(tmp_path) == before


def test_a_file_that_changes_after_the_diff_was_shown_is_not_overwritten(tmp_path: Path) -> None:
    plan = plan_install([TABLE["claude"]], "project", tmp_path, Record(), "codecards")
    write_files(tmp_path, {"CLAUDE.md": b"new"})
    with pytest.raises(ConfigurationError, match="another program has just changed"):
        carry_out(plan, partial(save_record, record_path("project", tmp_path)), Record())
    assert (tmp_path / "CLAUDE.md").read_bytes() == b"new"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
@pytest.mark.parametrize("link", ["CLAUDE.md", ".claude", ".mcp.json", ".codecards"])
def test_links_are_not_followed_out_of_the_project(tmp_path: Path, link: str) -> None:
    root, outside = tmp_path / "project", tmp_path / "outside"
    root.mkdir()
    outside.mkdir()
    target = outside if link in (".claude", ".codecards") else outside / "file"
    (root / link).symlink_to(target)
    with pytest.raises(OutsideProjectError):
        install(root, ["claude"])
    assert list(outside.iterdir()) == []
    assert [path.name for path in root.iterdir()] == [link]


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_inside_the_project_is_written_through(tmp_path: Path) -> None:
    write_files(tmp_path, {"AGENTS.md": b"rules\n"})
    (tmp_path / "CLAUDE.md").symlink_to("AGENTS.md")
    install(tmp_path, ["claude", "codex"])
    assert (tmp_path / "CLAUDE.md").is_symlink()
    assert (tmp_path / "AGENTS.md").read_text(encoding="utf-8").count("codecards:begin") == 1
    uninstall(tmp_path, ["claude"])
    assert "codecards:begin" in (tmp_path / "AGENTS.md").read_text(encoding="utf-8")
    uninstall(tmp_path)
    assert (tmp_path / "AGENTS.md").read_bytes() == b"rules\n"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has other permissions")
def test_the_permissions_of_a_file_stay(tmp_path: Path) -> None:
    write_files(tmp_path, {"CLAUDE.md": b"x"})
    (tmp_path / "CLAUDE.md").chmod(0o640)
    install(tmp_path, ["claude"])
    assert (tmp_path / "CLAUDE.md").stat().st_mode & 0o777 == 0o640
    mask = os.umask(0o022)
    os.umask(mask)
    assert (tmp_path / ".mcp.json").stat().st_mode & 0o777 == 0o666 & ~mask


def test_agents_are_found_by_their_signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    project, home = tmp_path / "project", tmp_path / "home"
    write_files(project, {"CLAUDE.md": b"", ".zed/settings.json": b"{}"})
    write_files(home, {".codex/config.toml": b""})
    assert [one.name for one in detect(agents(), project, home)] == ["claude", "codex", "zed"]


@pytest.mark.parametrize("agent", TABLE.values(), ids=lambda agent: str(agent.name))
def test_the_files_of_the_user_scope_are_restored(tmp_path: Path, agent: Agent) -> None:
    write_files(
        tmp_path, {".claude.json": b'{"numStartups": 3}', ".config/zed/settings.json": b'// mine\n{\n  "a": 1,\n}\n'}
    )
    before = tree(tmp_path)
    place = tmp_path / "state" / "codecards" / "installed.json"
    record = read_record(place)
    assert record.n_folders == 2
    plan = plan_install([agent], "user", tmp_path, record, "codecards")
    carry_out(plan, partial(save_record, place), record)
    assert any(change.action in ("create", "change") for change in plan.changes)
    record = read_record(place)
    carry_out(plan_uninstall([agent], "user", tmp_path, record), partial(save_record, place), record)
    assert tree(tmp_path) == before
