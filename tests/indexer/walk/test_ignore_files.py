"""Which paths ignore rules leave out: git itself is the reference."""

import shutil
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from codecards.indexer.problems import Coverage, Problem, Reason
from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.ignore_files import IgnoreRules, read_rule
from tests.support.working_trees import commit_all, git, git_files, needs_git, write_tree


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-such-folder"))


def found(root: Path) -> set[str]:
    return {file.path for file in discover(root).files}


def found_without_git(root: Path) -> set[str]:
    """Return what is found in a copy that is not a repository."""
    with tempfile.TemporaryDirectory() as folder:
        copy = shutil.copytree(root, Path(folder) / "copy", symlinks=True, ignore=shutil.ignore_patterns(".git"))
        return found(copy)


@pytest.mark.parametrize(
    ("line", "ignored", "kept"),
    [
        ("build", "build build/ a/build/", "builds abuild"),
        ("build/", "build/ a/build/", "build a/build"),
        ("/build", "build build/", "a/build build/x"),
        ("a/b", "a/b a/b/", "x/a/b a/bc a/b/c"),
        ("*.log", "x.log a/b/.log", "x.logs log x.log/a"),
        ("doc/*.txt", "doc/a.txt", "doc/a/b.txt a/doc/a.txt"),
        ("**/cache", "cache a/b/cache", "caches"),
        ("a/**/z", "a/z a/b/z a/b/c/z", "z ab/z"),
        ("a/**", "a/b a/b/c", "a a/"),
        ("a/**/", "a/b/ a/b/c/", "a/ a/b"),
        ("*a*b*c", "xaxbxc abc aabbcc", "acb abcd xbxc"),
        ("x/*a?b*c/y", "x/a1bc/y x/aa1b2c/y", "x/abc/y x/a1b/c/y"),
        ("**/**/**/a", "a b/a", "b"),
        ("*/*/*/*.log", "a/b/c/d.log", "a/b/d.log a/b/c/d/e.log"),
        ("*o*/*o*", "foo/oo", "foo/a oo a/foo/oo"),
        ("fo?", "foo", "fo foobar a/fo"),
        ("[a-c]x", "ax bx", "dx -x"),
        ("[!a-c]x", "dx", "ax"),
        ("[]-]x", "]x -x", "ax"),
        ("[z-a]", "", "a z"),
        ("a[b-", "", "a[b- ab"),
        ("x[^a]y", "xby", "x/y"),
        (r"\#a", "#a", r"\#a"),
        (r"\!a", "!a", "a"),
        ("!a", "a", "!a"),
        ("!#a", "#a", "a"),
        ("a   ", "a", "a\u00a0"),
        ("a\\ ", "a ", "a"),
        ("# a", "", "a"),
        ("", "", "a"),
        ("/", "", "a a/"),
        ("!", "", "a ! a/"),
        ("a\\", "", "a a\\"),
        ("é/", "é/", "é e/"),
    ],
)
def test_a_rule_names_these_paths_and_not_those(line: str, ignored: str, kept: str) -> None:
    rule = read_rule(line)
    split = (lambda text: [text] if text[-1:].isspace() else text.split(" ")) if line[-1:].isspace() else str.split
    for paths, expected in ((ignored, True), (kept, False)):
        for path in filter(None, split(paths)) if paths else ():
            is_named = rule is not None and rule.names(path.removesuffix("/"), is_folder=path.endswith("/"))
            assert is_named is expected, path


@pytest.mark.parametrize("line", ["*a" * 40 + "*b", "a/**/b/**/c/**/d", "**/a/**/a/**/b", "*a*b*c*d", "[[:digit:]]x"])
def test_a_rule_that_could_take_hours_or_is_read_differently_from_git_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="time"):
        read_rule(line)


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("*a*a*b", "/".join(["a" * 250] * 15)),
        ("**/*a*a/**/b", "/".join(["a" * 62] * 64)),
        ("**/a/**/b", "/".join(["a"] * 2_000)),
        ("**/*a*/*a*b", "/".join(["a" * 250] * 15)),
    ],
)
def test_the_slowest_rules_that_are_accepted_take_a_fraction_of_a_second(line: str, path: str) -> None:
    rule = read_rule(line)
    assert rule is not None
    started = time.process_time()
    assert not rule.names(path, is_folder=False)
    assert time.process_time() - started < 2


def test_skipped_rules_are_reported_and_the_others_apply(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- .gitignore\n*.tmp\n*a*a*a*a*b\n#- a.py\n#- b.tmp\n")
    discovery = discover(tmp_path)
    assert [file.path for file in discovery.files] == [".gitignore", "a.py"]
    (problem,) = discovery.problems
    detail = "1 rules with too many wildcards or nested brackets are skipped (line 2)"
    assert problem == Problem(".gitignore", Reason.UNREADABLE, detail, Coverage.WHOLE)


def test_an_enormous_rule_file_is_reported_and_not_used(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- a.py\n#- sub/b.py\n")
    (tmp_path / ".gitignore").write_text("*.py\n" * 100_000)
    (tmp_path / "sub/.gitignore").write_text("x\n" * 3_000 + "*.py\n")
    discovery = discover(tmp_path)
    assert [file.path for file in discovery.files] == [".gitignore", "a.py", "sub/.gitignore", "sub/b.py"]
    assert {problem.path for problem in discovery.problems} == {".gitignore", "sub/.gitignore"}


def test_case_is_ignored_where_git_ignores_it(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- .gitignore\nBuild/\n*.LOG\n/Docs/x\n")
    plain = IgnoreRules().below("", [".gitignore"], tmp_path)
    folded = IgnoreRules(folds_case=True).below("", [".gitignore"], tmp_path)
    for path, is_folder in (("build", True), ("a.log", False), ("docs/X", False)):
        assert not plain.git_ignores(path, is_folder=is_folder)
        assert folded.git_ignores(path, is_folder=is_folder)


TREE = """
#- .gitignore
/top
*.gen.py
plugins/*
!plugins/mine
secret/
#- top/a.py
#- src/top/a.py
#- src/x.gen.py
#- src/.gitignore
!x.gen.py
/only/
#- src/only/a.py
#- src/deep/only/a.py
#- plugins/other/a.py
#- plugins/mine/a.py
#- secret/.gitignore
!a.py
#- secret/a.py
#- plain.py
"""


@needs_git
def test_rules_of_nested_files_apply_as_in_git(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, TREE))
    assert found(tmp_path) == found_without_git(tmp_path) == git_files(tmp_path)
    assert {"src/x.gen.py", "plugins/mine/a.py", "src/deep/only/a.py"} <= found(tmp_path)


def test_without_git_the_folders_of_tools_are_left_out_too(tmp_path: Path) -> None:
    tools = (
        "#- node_modules/x/i.js\n#- a.pyc\n#- env/pyvenv.cfg\n#- env/lib/a.py\n#- target/CACHEDIR.TAG\n#- target/a.rs\n"
    )
    write_tree(tmp_path, TREE + tools)
    expected = "src/top/a.py src/x.gen.py src/.gitignore src/deep/only/a.py plugins/mine/a.py plain.py"
    assert found(tmp_path) == {".gitignore", *expected.split()}


def test_a_rule_can_take_the_folder_of_a_tool_back_in(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- .gitignore\n!node_modules/\n#- node_modules/x.js\n#- __pycache__/a.py\n")
    assert found(tmp_path) == {".gitignore", "node_modules/x.js"}


@needs_git
def test_tracked_files_are_listed_even_if_a_rule_ignores_them(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- kept/deep/a.py\n#- plain.py\n")
    commit_all(tmp_path)
    write_tree(tmp_path, "#- .gitignore\nkept/\n#- kept/deep/new.py\n#- kept/other/new.py\n")
    assert found(tmp_path) == git_files(tmp_path) == {".gitignore", "kept/deep/a.py", "plain.py"}


@needs_git
def test_rules_of_the_repository_outrank_the_exclude_file_and_the_users_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = write_tree(
        tmp_path / "repo", "#- .gitignore\n!kept.bak\n#- kept.bak\n#- gone.bak\n#- scratch/a.py\n#- a.py\n"
    )
    git(root, "init", "-q")
    (root / ".git/info").mkdir(exist_ok=True)
    (root / ".git/info/exclude").write_text("scratch/\n")
    (tmp_path / "dotfiles").write_text("*.bak\n")
    (tmp_path / "ignore").symlink_to("dotfiles")
    (tmp_path / "config").write_text(f"[core]\n\texcludesFile = {tmp_path / 'ignore'}\n")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "config"))
    assert found(root) == {".gitignore", "kept.bak", "a.py"}


OWN_RULES = """
#- .gitignore
generated/
*.tmp
#- .codecardsignore
!generated/
*.sql
!keep.sql
out/
!cache/api/*.py
!wanted.tmp
#- out/a.py
#- cache/.gitignore
*
#- cache/api/a.py
#- cache/api/a.txt
#- generated/a.py
#- generated/deep/a.py
#- generated/x.tmp
#- generated/.gitignore
/local
#- generated/local
#- big.sql
#- keep.sql
#- wanted.tmp
"""


@pytest.mark.parametrize("has_git", [pytest.param(True, marks=needs_git), False])
def test_the_projects_own_rules_leave_out_and_take_back_in(tmp_path: Path, *, has_git: bool) -> None:
    write_tree(tmp_path, OWN_RULES)
    if has_git:
        commit_all(tmp_path)
    expected = "generated/a.py generated/deep/a.py generated/.gitignore keep.sql cache/api/a.py wanted.tmp"
    assert found(tmp_path) == {".gitignore", ".codecardsignore", *expected.split()}


@needs_git
def test_rules_above_the_root_apply(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        "#- .gitignore\n*.tmp\n/part/out/\n#- part/a.tmp\n#- part/out/a.py\n#- part/in/out/a.py\n#- part/a.py\n",
    )
    commit_all(tmp_path)
    assert found(tmp_path / "part") == {"a.py", "in/out/a.py"}


@needs_git
def test_the_exclude_file_of_the_repository_applies_in_a_linked_worktree(tmp_path: Path) -> None:
    main = write_tree(tmp_path / "main", "#- a.py\n")
    commit_all(main)
    (main / ".git/info").mkdir(exist_ok=True)
    (main / ".git/info/exclude").write_text("*.tmp\n")
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    write_tree(tmp_path / "linked", "#- b.tmp\n#- b.py\n")
    assert found(tmp_path / "linked") == {"a.py", "b.py"}


@needs_git
def test_a_project_in_an_ignored_folder_of_a_repository_is_indexed(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- .gitignore\nvendor/\n*.tmp\n#- a.py\n")
    commit_all(tmp_path)
    write_tree(tmp_path, "#- vendor/lib/a.py\n#- vendor/lib/a.tmp\n")
    assert found(tmp_path / "vendor/lib") == {"a.py"}


NAMES = ["a", "b", "foo", "foo.py", "b.c", "x y", "A", "[z]", "é", "#h", "!n", "t "]
ORDINARY = [
    "a",
    "b",
    "foo",
    "*.py",
    "*",
    "**",
    "b.c",
    "x y",
    "A",
    "[ab]",
    "f?o",
    r"\#h",
    r"\!n",
    "é",
    "*o*",
    "a*",
    "foo*",
]
ODD = ["***", "[!a]", "[[:alpha:]]", r"t\ ", "[z]", r"\[z\]", "[a-", "**a", "a**", "*a*b*c*d"]


def rules_of(pieces: list[str], ends: list[str]) -> st.SearchStrategy[str]:
    patterns = st.builds(
        lambda sign, slash, parts, end: sign + slash + "/".join(parts) + end,
        st.sampled_from(["", "", "!", "#"]),
        st.sampled_from(["", "", "/"]),
        st.lists(st.sampled_from(pieces), min_size=1, max_size=3),
        st.sampled_from(ends),
    )
    return st.lists(patterns, min_size=1, max_size=5).map("\n".join)


FOLDERS = st.lists(st.sampled_from(NAMES), max_size=2).map("/".join)
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@needs_git
@settings(max_examples=25, deadline=None)
@given(
    paths=st.lists(PATHS, min_size=3, max_size=12),
    rules=st.dictionaries(FOLDERS, rules_of(ORDINARY + ODD, ["", "", "/", " ", "\r"]), min_size=1, max_size=3),
    excluded=rules_of(ORDINARY + ODD, [""]),
    n_tracked=st.integers(0, 2),
)
def test_random_trees_give_the_files_that_git_lists(
    paths: list[str], rules: dict[str, str], excluded: str, n_tracked: int
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git(root, "init", "-q")
        written = [path for path in paths if _write(root / path, "x")]
        for path in written[:n_tracked]:
            git(root, "--literal-pathspecs", "add", "-f", "--", path)
        for place, text in rules.items():
            _write(root / place / ".gitignore", text)
        (root / ".git/info").mkdir(exist_ok=True)
        (root / ".git/info/exclude").write_bytes(excluded.encode())
        assert found(root) == git_files(root)


@needs_git
@settings(max_examples=50, deadline=None)
@given(
    paths=st.lists(PATHS, min_size=3, max_size=12),
    rules=st.dictionaries(FOLDERS, rules_of(ORDINARY, ["", "", "/", " ", "\r"]), min_size=1, max_size=3),
)
def test_ordinary_rules_apply_without_git_as_with_git(paths: list[str], rules: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        git(root, "init", "-q")
        for path in paths:
            _write(root / path, "x")
        for place, text in rules.items():
            _write(root / place / ".gitignore", text)
        expected = git_files(root)
        shutil.rmtree(root / ".git")
        discovery = discover(root)
        assume(not discovery.problems)  # a rule with too many wildcards was skipped
        assert {file.path for file in discovery.files} == expected


def _write(place: Path, text: str) -> bool:
    """Return whether the file was written: its path may be a folder already, or lead through a file."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    except OSError:
        return False
    return True
