"""Precision and recall of call edges on the labelled fixtures."""

import pytest

from benchmarks.quality.call_graph import FIXTURES, judge, read_fixture

LANGUAGES = sorted(path.stem for path in FIXTURES.glob("*.txt"))


def test_labels_are_removed_from_the_source() -> None:
    files, labels = read_fixture("#- a.py\nx = f()  #> f -> b.py::f; g -> -\n#- b.py\ndef f(): ...\n")
    assert files == {"a.py": "x = f()\n", "b.py": "def f(): ...\n"}
    assert [(one.path, one.line, one.name, one.target) for one in labels] == [
        ("a.py", 1, "f", "b.py::f"),
        ("a.py", 1, "g", "-"),
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_exact_edges_are_right_and_few_calls_are_missed(language: str) -> None:
    score, faults = judge(language, (FIXTURES / f"{language}.txt").read_text(encoding="utf-8"))
    assert score.precision >= 0.98, faults
    assert score.recall >= 0.85, faults
    assert score.labelled >= (60 if language == "python" else 20)
    assert score.unlabelled == 0, faults
