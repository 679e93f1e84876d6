"""The project itself: places that state the same thing agree."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import codecards
from codecards.indexer.parse.languages import LANGUAGES

ROOT = Path(__file__).parents[2]


def test_importing_codecards_loads_no_heavy_library() -> None:
    code = "import codecards, sys; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = set("numpy faiss tantivy tree_sitter networkx onnxruntime tokenizers torch rich typer".split())
    assert not heavy & set(loaded)


def test_the_changelog_has_a_ranking_section_for_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "### Ranking" in changelog.split("\n## [")[1]


def test_the_changelog_starts_with_this_version() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    first = next(line for line in changelog.split("\n") if line.startswith("## ["))
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert codecards.__version__ == settings["project"]["version"]
    assert first.startswith(f"## [{codecards.__version__}]")


def test_every_command_is_in_the_readme() -> None:
    help_text = subprocess.run(
        [sys.executable, "-m", "codecards", "--help"], capture_output=True, text=True, check=True
    ).stdout
    commands = [
        line.strip("│ ").split()[0] for line in help_text.split("Commands")[1].split("\n")[1:] if line.strip("│ ─╭╰╮╯")
    ]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert commands
    assert [
        command for command in commands if f"`{command}" not in readme and f"codecards {command}" not in readme
    ] == []


def test_every_query_file_belongs_to_a_language_or_is_inherited() -> None:
    names = {language.name for language in LANGUAGES}
    queries = {
        path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "indexer" / "parse" / "queries").glob("*.scm")
    }
    named = (ROOT / "indexer" / "parse" / "tree.py").read_text(encoding="utf-8")
    assert [name for name in queries if name not in names and f'"{name}"' not in named] == []


def test_every_make_target_that_the_documents_name_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    for page in (*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / ".ci" / "run"):
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)make ([a-z]+)", text, re.MULTILINE))
        assert named <= targets, page.name
