"""The Chinese set: Chinese questions about real packages, mined by rule from the bilingual documents that they carry.

Each question is asked of two trees. In the first the Chinese documents stay, without the sentences that ask: what else
they say may be learnt from. In the second no Chinese character is left, as in a repository whose authors know none. There
the messages are asked in English too, word for word: what a perfect translation would find.
Nothing of the packages is kept in this repository; they are fetched at run time and pinned by hash.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.sets.chinese_queries import (
    ChineseQuestion,
    catalog_questions,
    component_question,
    is_chinese_place,
    reference_questions,
    without_asked,
    without_chinese,
)
from benchmarks.sets.queries import LabelledQuery, QuerySource, Span, row_of_query
from benchmarks.sets.trees import PIP_TIMEOUT_S, TreeError, unpack_archive

CHINESE_SET = "chinese-set-1"
"""Name of the trees' folder; its number changes with the rules."""
ROWS_A_CATEGORY = 40
"""Most rows of one package and category."""
CATALOG = re.compile(r"(^|/)zh(_CN|_Hans|_Hans_CN)?/LC_MESSAGES/\w+\.po$")
COMPONENT = re.compile(r"components/([\w-]+)/README\.md$")


@dataclass(frozen=True, slots=True)
class Package:
    """One package of the set."""

    requirement: str
    """"sphinx==9.0.4" of the Python index; "npm:" before a package of npm, "sdist:" before a source archive."""
    sha256: str
    language: str
    half: str
    """"dev": looked at while the word list and its weights were made; "held": not."""
    kept: str = ""
    """Regular expression of the files that make the tree; "" for all."""

    @property
    def name(self) -> str:
        """Folder name of the tree."""
        return self.requirement.rpartition(":")[2].partition("==")[0].partition("@")[0]


PACKAGES = (
    Package("mand-mobile@2.7.0", "5c7e4c1799005dfe313566d117a075680d4fb0f10415f1413a3b9066e8bb30e6", "vue", "dev",
            r"^components/(?!.*/(demo|test)/)|README|CHANGELOG"),
    Package("flask-admin==2.2.1", "a0533fd1968543fc621733316bb9c30774b501c119816f1e83d7dcedacb99895", "python", "dev"),
    Package("thonny==5.0.1", "94eb9fc3d9f45acffcda51c17e75f56bb4b14427fee0467e14fb4f6210c33041", "python", "dev"),
    Package("sdist:fastapi-amis-admin==0.7.3", "eb09c4db043e91e777eeca5c3fb3569b8cfa2b2836ed9ffe0655abf144210e35",
            "python", "held"),
    Package("django-allauth==65.22.1", "08f7a3ddbd5ff7f1000d685dee9c0678d0da2057e18bed473a6eb2de18bd04e4",
            "python", "held"),
    Package("sphinx==9.0.4", "5bebc595a5e943ea248b99c13814c1c5e10b3ece718976824ffa7959ff95fffb", "python", "held"),
    Package("wtforms==3.3.2", "2fac992f39102d6268b06e05cdbdf37a7e9b9a4e103916d2dff1d09a080b531d", "python", "held"),
)  # fmt: skip


def build_chinese_set(cache: Path) -> list[Path]:
    """Fetch the packages, lay out both trees of each, and return the query files: Chinese kept, gone, and in English.

    Args:
        cache: Gets the trees' folder and the query files beside it; what is there already is used again.

    Raises:
        TreeError: A package can't be had, or its hash is another.
    """
    kept, gone = cache / CHINESE_SET / "kept", cache / CHINESE_SET / "gone"
    outputs = [kept / "chinese.jsonl", gone / "chinese_without_documents.jsonl", gone / "the_same_in_english.jsonl"]
    if all(path.exists() for path in outputs):
        return outputs
    rows: list[list[LabelledQuery]] = [[], [], []]
    for package in PACKAGES:
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "tree"
            unpack_archive(fetch(package, Path(folder)), tree)
            files = read_tree(tree, package.kept)
        questions = questions_of(files)
        asked = {text for question in questions for text in question.asked}
        _write_tree(kept / package.name, files, asked, keeps_chinese=True)
        _write_tree(gone / package.name, files, asked, keeps_chinese=False)
        asks = [_rows(package, questions), _rows(package, questions), _rows(package, questions, translate=True)]
        for have, more in zip(rows, asks, strict=True):
            have += more
    for output, queries in zip(outputs, rows, strict=True):
        lines = [json.dumps(row_of_query(query), ensure_ascii=False) for query in queries]
        output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return outputs


def fetch(package: Package, folder: Path) -> Path:
    """Download one package with its registry's own client and return the archive.

    Raises:
        TreeError: It can't be had, or its hash is another.
    """
    is_npm = "@" in package.requirement
    if is_npm:
        command = [shutil.which("npm") or "npm", "pack", "--silent", "--ignore-scripts", package.requirement]
    else:
        archive = "--no-binary" if package.requirement.startswith("sdist:") else "--only-binary"
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", archive, ":all:"]
        command.append(package.requirement.rpartition(":")[2])
    try:
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PIP_TIMEOUT_S, check=False)
    except OSError as error:
        raise TreeError(f"{package.requirement}: {error}") from error
    archives = [path for path in folder.iterdir() if path.name.endswith((".whl", ".tgz", ".tar.gz"))]
    if run.returncode or len(archives) != 1:
        raise TreeError(f"{package.requirement} can't be downloaded: {run.stderr.strip()[-300:]}")
    if hashlib.sha256(archives[0].read_bytes()).hexdigest() != package.sha256:
        raise TreeError(f"{package.requirement} is another file than the one that was pinned")
    return archives[0]


def read_tree(tree: Path, kept: str = "") -> dict[str, str]:
    """Return the text files of a tree that a regular expression takes, by path."""
    files: dict[str, str] = {}
    for path in sorted(tree.rglob("*")):
        name = path.relative_to(tree).as_posix()
        if path.is_file() and re.search(kept, name):
            files[name] = path.read_bytes().decode("utf-8", "replace")
    return files


def questions_of(files: dict[str, str]) -> list[ChineseQuestion]:
    """Return the questions of one tree: each text once, at most so many a category, chosen by a hash."""
    found = [question for path in files for question in _questions_in(path, files)]
    by_text: dict[str, dict[str, ChineseQuestion]] = {}
    for question in {one.asked: one for one in reversed(found)}.values():  # of several catalogs the first
        by_text.setdefault(question.text, {})[question.path] = question
    unique = sorted(
        (next(iter(same.values())) for same in by_text.values() if len(same) == 1), key=lambda one: one.digest
    )
    return [
        question
        for category in ("message", "docs")
        for question in [one for one in unique if one.category == category][:ROWS_A_CATEGORY]
    ]


def _questions_in(path: str, files: dict[str, str]) -> Iterator[ChineseQuestion]:
    """Yield what one file of a tree asks, if it is a bilingual document."""
    if CATALOG.search(path):
        yield from catalog_questions(files[path], files)
    elif path.endswith(".md") and is_chinese_place(path):
        code = {name: text for name, text in files.items() if name.endswith(".py") and not name.startswith("docs/")}
        yield from reference_questions(files[path], code)
    elif (component := COMPONENT.search(path)) is not None:
        folder = path.rpartition("/")[0]
        code_path = next(
            (name for name in (f"{folder}/{component[1]}.vue", f"{folder}/index.vue") if name in files), ""
        )
        question = component_question(files[path], code_path) if code_path else None
        if question is not None:
            yield question


def _write_tree(tree: Path, files: dict[str, str], asked: set[str], *, keeps_chinese: bool) -> None:
    for path, text in files.items():
        is_document = is_chinese_place(path) or COMPONENT.search(path) is not None
        if is_document and not keeps_chinese:
            continue
        if is_document and path.endswith((".po", ".md")):
            text = without_asked(text, asked.__contains__, is_catalog=path.endswith(".po"))
        if not keeps_chinese:
            text = without_chinese(text)
        target = tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")


def _rows(package: Package, questions: list[ChineseQuestion], *, translate: bool = False) -> Iterator[LabelledQuery]:
    for number, question in enumerate(questions):
        text = question.english if translate else question.text
        if text:
            yield LabelledQuery(
                f"{package.name}-{question.category}-{number:03d}", package.name, text, package.language,
                f"{question.category}-{package.half}", (Span(question.path),),
                source=QuerySource(requirement=package.requirement),
            )  # fmt: skip
