"""Builds the Chinese set: Chinese questions about real packages, mined by rule from their bilingual documents.

Each question is asked of two trees. The first keeps the Chinese documents, without the sentences that ask. The second has no
Chinese characters, like a repository of authors who know no Chinese; there the messages are also asked in English, word for
word, which is what a perfect translation would find. None of the packages is in this repository; they are downloaded and pinned
by hash.
"""

import json
import re
import tempfile
from collections.abc import Iterator
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
from benchmarks.sets.packages import Package, fetch, read_packages, read_tree
from benchmarks.sets.queries import LabelledQuery, QuerySource, Span, row_of_query
from benchmarks.sets.trees import unpack_archive

CHINESE_SET = "chinese-set-1"
"""Name of the trees' folder; its number changes with the rules."""
ROWS_A_CATEGORY = 40
"""Most rows of one package and category."""
CATALOG = re.compile(r"(^|/)zh(_CN|_Hans|_Hans_CN)?/LC_MESSAGES/\w+\.po$")
COMPONENT = re.compile(r"components/([\w-]+)/README\.md$")


PACKAGES = read_packages(Path(__file__).parent / "chinese_packages.toml")


def build_chinese_set(cache: Path) -> list[Path]:
    """Download the packages, lay out both trees of each, and return the three query files.

    The files ask in Chinese with the Chinese documents, in Chinese without them, and in English without them.

    Args:
        cache: Folder for the trees and the query files; existing ones are used again.

    Raises:
        TreeError: A package can't be downloaded, or its hash differs.
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


def questions_of(files: dict[str, str]) -> list[ChineseQuestion]:
    """Return the questions of one tree: each text once, at most `ROWS_A_CATEGORY` of a category, chosen by a hash."""
    found = [question for path in files for question in _questions_in(path, files)]
    by_text: dict[str, dict[str, ChineseQuestion]] = {}
    for question in {one.asked: one for one in reversed(found)}.values():  # the first of several catalogs
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
    """Yield the questions of one file of a tree, none if it is not a bilingual document."""
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
                f"{package.name}-{question.category}-{number:03d}",
                package.name,
                text,
                package.language,
                f"{question.category}-{package.half}",
                (Span(question.path),),
                source=QuerySource(requirement=package.requirement),
            )
