"""Which paths rules leave out: git itself is the judge."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codecards.indexer.walk.discovery import discover
from codecards.indexer.walk.ignore_files import IgnoreRules
from codecards.indexer.walk.ignore_patterns import read_rule
from tests.support.working_trees import commit_all, git, git_files, needs_git, write_tree


@pytest.fixture(autouse=True)
def no_settings_of_the_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "no-such-file"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "no-such-folder"))


def found(root: Path) -> set[str]:
    return {file.path for file in discover(root).files}


@pytest.mark.parametrize(
    ("line", "ignored", "kept"),
    [
        ("build", "build build/ a/build/", "builds abuild"),
        ("build/", "build/ a/build/", "build a/build"),
        ("/build", "build build/", "a/build"),
        ("a/b", "a/b a/b/", "x/a/b a/bc"),
        ("*.log", "x.log a/b/.log", "x.logs log"),
        ("doc/*.txt", "doc/a.txt", "doc/a/b.txt a/doc/a.txt"),
        ("**/cache", "cache a/b/cache", "caches"),
        ("a/**/z", "a/z a/b/z a/b/c/z", "z ab/z"),
        ("a/**", "a/b a/b/c", "a a/"),
        ("a/**/", "a/b/ a/b/c/", "a/ a/b"),
        ("a**/x/y", "a/b/x/y ab/x/y ax/y", "b/x/y a/x/b/y"),
        ("x/a**", "x/ab x/a/b", "x/b y/x/a"),
        ("*a*b*c", "xaxbxc abc aabbcc", "acb abcd xbxc"),
        ("x/*a?b*c/y", "x/a1bc/y x/aa1b2c/y", "x/abc/y x/a1b/c/y"),
        ("**/**/**/a", "a b/a", "b"),
        ("a/**/b/**/c/**/d/**/e/**/f", "", "a/b/c/d/e/f"),
        ("fo?", "foo", "fo foobar a/fo"),
        ("[a-c]x", "ax bx", "dx -x"),
        ("[!a-c]x", "dx", "ax"),
        ("[[:digit:]]x", "1x", "ax :x"),
        ("[]-]x", "]x -x", "ax"),
        ("a[b-", "", "a[b- ab"),
        ("x[^a]y", "xby", "x/y"),
        (r"\#a", "#a", r"\#a"),
        (r"\!a", "!a", "a"),
        ("a   ", "a", "a\u00a0"),
        ("a\\ ", "a ", "a"),
        ("a\t", "a\t", "a"),
        ("# a", "", "a"),
        ("", "", "a"),
        ("/", "", "a a/"),
        ("a\\", "", "a a\\"),
        ("?", "a", "é"),
        ("é/", "é/", "é e/"),
    ],
)
def test_a_pattern_speaks_of_these_paths_and_not_of_those(line: str, ignored: str, kept: str) -> None:
    rule = read_rule(line.encode().decode("ascii", "surrogateescape"))
    split = (lambda text: [text] if text[-1:].isspace() else text.split(" ")) if line[-1:].isspace() else str.split
    for paths, expected in ((ignored, True), (kept, False)):
        for path in filter(None, split(paths)) if paths else ():
            plain = path.removesuffix("/").encode().decode("ascii", "surrogateescape")
            holds = rule is not None and rule.holds(plain, plain.rpartition("/")[2], is_folder=path.endswith("/"))
            assert holds is expected, path


def test_no_name_makes_a_pattern_slow() -> None:
    rule = read_rule("*a" * 40 + "*b")
    assert rule is not None
    assert not rule.holds("a" * 200, "a" * 200, is_folder=False)


def test_upper_and_lower_case_are_the_same_where_git_says_so(tmp_path: Path) -> None:
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
def test_rules_of_nested_files_hold_as_git_holds_them(tmp_path: Path) -> None:
    commit_all(write_tree(tmp_path, TREE))
    assert found(tmp_path) == git_files(tmp_path)
    assert {"src/x.gen.py", "plugins/mine/a.py", "src/deep/only/a.py"} <= found(tmp_path)


def test_rules_hold_without_a_repository(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        TREE + "#- node_modules/x/i.js\n#- env/pyvenv.cfg\n#- env/lib/a.py\n#- target/CACHEDIR.TAG\n#- target/a.rs\n",
    )
    assert found(tmp_path) == {
        ".gitignore", "src/top/a.py", "src/x.gen.py", "src/.gitignore", "src/deep/only/a.py", "plugins/mine/a.py", "plain.py",
    }  # fmt: skip


@needs_git
def test_a_tracked_file_stays_whatever_rules_say(tmp_path: Path) -> None:
    write_tree(tmp_path, "#- kept/deep/a.py\n#- plain.py\n")
    commit_all(tmp_path)
    write_tree(tmp_path, "#- .gitignore\nkept/\n#- kept/deep/new.py\n#- kept/other/new.py\n")
    assert found(tmp_path) == git_files(tmp_path) == {".gitignore", "kept/deep/a.py", "plain.py"}


@needs_git
def test_the_exclude_file_and_the_users_file_rank_below_the_repositorys(
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


def test_the_projects_own_rules_leave_out_and_take_back_in(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        """
#- .gitignore
generated/
#- .codecardsignore
!generated/
*.sql
!keep.sql
out/
!cache/api/*.py
#- out/a.py
#- cache/.gitignore
*
#- cache/api/a.py
#- cache/api/a.txt
#- generated/a.py
#- big.sql
#- keep.sql
""",
    )
    assert found(tmp_path) == {".gitignore", ".codecardsignore", "generated/a.py", "keep.sql", "cache/api/a.py"}


@needs_git
def test_a_folder_of_a_repository_obeys_the_rules_above_it(tmp_path: Path) -> None:
    write_tree(
        tmp_path,
        "#- .gitignore\n*.tmp\n/part/out/\n#- part/a.tmp\n#- part/out/a.py\n#- part/in/out/a.py\n#- part/a.py\n",
    )
    commit_all(tmp_path)
    assert found(tmp_path / "part") == {"a.py", "in/out/a.py"}


@needs_git
def test_a_linked_worktree_obeys_the_exclude_file_of_its_repository(tmp_path: Path) -> None:
    main = write_tree(tmp_path / "main", "#- a.py\n")
    commit_all(main)
    (main / ".git/info").mkdir(exist_ok=True)
    (main / ".git/info/exclude").write_text("*.tmp\n")
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    write_tree(tmp_path / "linked", "#- b.tmp\n#- b.py\n")
    assert found(tmp_path / "linked") == {"a.py", "b.py"}


NAMES = ["a", "b", "foo", "foo.py", "b.c", "x y", "A", "[z]", "é", "#h", "!n", "t "]
PIECES = st.sampled_from(
    ["a", "b", "foo", "*.py", "*", "**", "***", "b.c", "x y", "A", "[ab]", "[!a]", "[[:alpha:]]", "f?o", r"\#h", r"\!n", "é", r"t\ ",
     "[z]", r"\[z\]", "*o*", "[a-", "a*", "**a", "a**"]
)  # fmt: skip
PATTERNS = st.builds(
    lambda sign, slash, pieces, end: sign + slash + "/".join(pieces) + end,
    st.sampled_from(["", "", "!", "#"]), st.sampled_from(["", "", "/"]), st.lists(PIECES, min_size=1, max_size=3),
    st.sampled_from(["", "", "/", " ", "\r"]),
)  # fmt: skip
RULES = st.lists(PATTERNS, min_size=1, max_size=5).map("\n".join)
FOLDERS = st.lists(st.sampled_from(NAMES), max_size=2).map("/".join)
PATHS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@needs_git
@settings(max_examples=25, deadline=None)
@given(
    paths=st.lists(PATHS, min_size=3, max_size=12),
    rules=st.dictionaries(FOLDERS, RULES, min_size=1, max_size=3),
    excluded=PATTERNS,
    n_tracked=st.integers(0, 2),
)
def test_random_trees_give_what_git_gives(
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


def _write(place: Path, text: str) -> bool:
    """Return whether a file could be written: a name may already be a folder, or a folder a file."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text.encode())
    except OSError:
        return False
    return True
