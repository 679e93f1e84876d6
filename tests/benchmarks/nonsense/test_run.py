"""Queries without an answer, and the counting of their verdicts."""

import json
from pathlib import Path

import pytest

from benchmarks.nonsense.queries import FAMILIES, Nonsense, nonsense_queries, read_sections
from benchmarks.nonsense.run import ask_nonsense, main, read_real, shares
from codecards.retrieval.query.query import read_query
from codecards.retrieval.vectors.calibration import OFF_TOPIC_QUESTIONS

CODE = '''"""Reads requests."""


def parse_request(raw: str) -> list[str]:
    """Split the raw text of a request into its method, its path and its headers."""
    return raw.split()
'''


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    folder = tmp_path / "trees" / "tiny"
    folder.mkdir(parents=True)
    (folder / "requests.py").write_text(CODE, encoding="utf-8")
    return folder.parent


def test_there_are_a_thousand_distinct_queries_and_they_never_change() -> None:
    queries = nonsense_queries()
    assert len(queries) >= 1_000
    assert len({query.text for query in queries}) == len(queries)
    assert {query.family for query in queries} == set(FAMILIES)
    assert nonsense_queries() == queries


def test_no_calibration_question_is_asked() -> None:
    assert not {query.text for query in nonsense_queries()} & set(OFF_TOPIC_QUESTIONS)


def test_long_texts_are_read_as_reports() -> None:
    assert all(read_query(query.text).is_issue for query in nonsense_queries() if query.family == "long texts")


def test_code_words_are_a_third_to_two_thirds_of_the_queries_of_their_family() -> None:
    code = set(read_sections()["code words"])
    for query in nonsense_queries():
        if query.family == "code words among others":
            words = query.text.split()
            assert 0.25 <= sum(word in code for word in words) / len(words) <= 0.75


def test_shares_are_computed_by_group_with_all_queries_last() -> None:
    figures = shares([("a", "found"), ("a", "none"), ("b", "weak"), ("b", "weak")])
    assert figures == {
        "a": {"queries": 2, "found": 0.5, "weak": 0.0, "none": 0.5},
        "b": {"queries": 2, "found": 0.0, "weak": 1.0, "none": 0.0},
        "all": {"queries": 4, "found": 0.25, "weak": 0.5, "none": 0.25},
    }


def test_queries_called_found_are_listed(trees: Path, tmp_path: Path) -> None:
    queries = [
        Nonsense("split the raw text of a request", "answered"),
        Nonsense("which wine goes with salmon", "everyday questions"),
    ]
    families, of_trees, found = ask_nonsense([trees / "tiny"], queries, tmp_path / "state", "none")
    assert families == [("answered", "found"), ("everyday questions", "none")]
    assert [tree for tree, _ in of_trees] == ["tiny", "tiny"]
    assert found == ["tiny\tanswered\tsplit the raw text of a request"]


def test_the_command_prints_families_trees_and_real_questions(
    trees: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("benchmarks.nonsense.run.nonsense_queries", lambda: [Nonsense("pudding waltz", "random words")])
    row = {"id": "1", "repo": "tiny", "tree": "tiny", "pypi": "tiny==1", "language": "python", "query": "parse request"}
    (tmp_path / "real.jsonl").write_text(json.dumps({**row, "targets": [{"path": "requests.py"}]}), encoding="utf-8")
    arguments = ["--trees", str(trees), "--cache", str(tmp_path / "cache"), "--embedder", "none", "--no-save"]
    assert main([*arguments, "--real", str(tmp_path / "real.jsonl"), str(trees)]) == 0
    printed = capsys.readouterr().out
    assert "| random words | 1 | 0.0 % | 0.0 % | 100.0 % |" in printed
    assert "| real: real | 1 | 100.0 % | 0.0 % | 0.0 % |" in printed


def test_rows_without_a_tree_are_skipped(tmp_path: Path) -> None:
    row = {"id": "1", "tree": "gone", "pypi": "gone==1", "language": "python", "query": "x", "targets": []}
    (tmp_path / "real.jsonl").write_text(json.dumps(row), encoding="utf-8")
    assert read_real([[str(tmp_path / "real.jsonl"), str(tmp_path)]])[0].by_tree == {}
