"""A project's history yields figures, and weights that are kept only if they help."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from codecards import Engine, Settings
from codecards.cli.print_answers import show_tuning
from codecards.indexer.cards.card import Card
from codecards.project.tuned_weights import TunedWeightsFile
from codecards.retrieval.hits import Hit, Ranking, ScoreTerm
from codecards.retrieval.rank.file_signals import SHORT
from codecards.retrieval.rank.tuned_weights import GROUPS, TunedWeights, apply_factors
from codecards.tuning.commit_tasks import CommitTask, MinedTasks
from codecards.tuning.fit import MIN_TASKS, TaskRanking, fit_weights, measure
from codecards.wire.answers import tuning_json
from tests.support.working_trees import git, needs_git, write_tree

N_GROUPS = len(GROUPS)


def hit(rank: int, path: str, terms: Sequence[tuple[str, float]] = ()) -> Hit:
    """Return a hit of a file."""
    card = Card(
        rank, f"{path}::f", path, "python", "function", "f", "f", "", "", 1, 1, 1, 2, ((1, 2),), "", "", (), b""
    )
    return Hit(rank, card, 10.0 - rank, tuple(ScoreTerm(name, value, "") for name, value in terms))


def tasks_of(n_tasks: int, *, helpful: bool) -> list[TaskRanking]:
    """Return tasks whose relevant file one group of weights recognises, or none does."""
    chance = np.random.default_rng(1)
    made = []
    for _ in range(n_tasks):
        parts = chance.normal(0, 1, (20, N_GROUPS + 1))
        gold = np.zeros(20, np.bool_)
        gold[chance.integers(0, 20)] = True
        parts[gold, 3] += 1.2 if helpful else 0.0
        made.append(TaskRanking(parts, gold, 1))
    return made


def test_figures_count_files_and_symbols() -> None:
    tasks = (
        CommitTask("a" * 40, 1, "one two three", ("a.py",), ("a.py::f",)),
        CommitTask("b" * 40, 2, "four five six", ("b.py", "c.py"), ()),
    )
    rankings = {
        "one two three": Ranking("question", "found", (hit(1, "x.py"), hit(2, "a.py")), (), 2, ()),
        "four five six": Ranking("question", "found", (hit(1, "b.py"),), (), 1, ()),
    }
    report = measure(MinedTasks(tasks, 7, {"huge": 5}), lambda text, limit: rankings[text], "c", fits=False)
    means = {name: round(figure.mean, 3) for name, figure in report.figures.items()}
    assert means == {
        "recall@1": 0.25,
        "recall@5": 0.75,
        "recall@10": 0.75,
        "mrr": 0.75,
        "ndcg@10": round((0.6309 + 0.6131) / 2, 3),
        "symbol_recall@10": 1.0,
    }
    assert (report.n_tasks, report.n_symbol_tasks, report.fit) == (2, 1, None)
    assert "today" in report.note


def test_weights_that_help_on_unseen_tasks_are_kept() -> None:
    fit = fit_weights(tasks_of(120, helpful=True))
    assert fit.accepted
    assert fit.gain.low > 0
    assert fit.after > fit.before
    assert max(fit.factors, key=lambda name: fit.factors[name]) == list(GROUPS)[3]


def test_weights_that_help_only_on_their_own_tasks_are_rejected() -> None:
    fit = fit_weights(tasks_of(120, helpful=False))
    assert not fit.accepted
    assert "the default weights stay" in fit.reason


def test_too_few_tasks_are_not_fitted() -> None:
    fit = fit_weights(tasks_of(MIN_TASKS - 1, helpful=True))
    assert (fit.accepted, fit.factors) == (False, {})
    assert "too few" in fit.reason


def test_factors_scale_only_the_weights_of_their_group() -> None:
    found = apply_factors(SHORT, {"folders": 2.0})
    changed = {name for name in SHORT if found[name] != SHORT[name]}
    assert changed == set(GROUPS["folders"])
    assert found["folders"] == 2 * SHORT["folders"]
    assert set().union(*GROUPS.values()) <= set(SHORT)


def weights(**factors: float) -> TunedWeights:
    """Return tuned weights with these factors."""
    return TunedWeights(dict.fromkeys(GROUPS, 1.0) | factors, "1", "c" * 40, "2026-01-01", 50, 0.5, 0.6)


def test_a_weights_file_is_reread_when_it_changes(tmp_path: Path) -> None:
    file = TunedWeightsFile(tmp_path)
    assert file.read() == (None, "")
    file.write(weights(words=2.0))
    assert file.read() == (weights(words=2.0), "")
    TunedWeightsFile(tmp_path).write(weights(words=3.25))
    assert file.read() == (weights(words=3.25), "")
    assert file.remove()
    assert file.read() == (None, "")
    assert not file.remove()


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ('"weights": "', '"weights": "0', "another version"),
        ('"format": 1', '"format": 2', "another version"),
        ('"factors"', '"facto', "can't be read"),
        ("}", "", "can't be read"),
    ],
)
def test_an_unusable_weights_file_changes_nothing_and_says_why(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    file = TunedWeightsFile(tmp_path)
    file.write(weights())
    file.path.write_text(file.path.read_text().replace(old, new))
    found, why = file.read()
    assert found is None
    assert problem in why


@needs_git
def test_a_history_is_measured_and_tuned_weights_are_used_shown_and_removed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    git(tmp_path, "init", "-q")
    words = ("session", "token", "cache", "parser")
    for word in words:
        write_tree(tmp_path, f"#- {word}.py\ndef expire_{word}(old, values):\n    return old\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-q", "-m", f"Expire the old {word} values")
    with Engine(tmp_path, Settings(n_workers=1, embedder="none")) as engine:
        engine.refresh()
        report = engine.tune(fits=True)
        assert (report.n_tasks, report.figures["recall@1"].mean) == (4, 1.0)
        assert report.fit is not None
        assert not report.fit.accepted
        assert engine.status().tuned is None
        show_tuning(report)
        assert "refused: 4 tasks are too few" in capsys.readouterr().out
        assert tuning_json(report)["n_tasks"] == 4
        before = {term.name: term.value for term in engine.recall("expire the old token values").hits[0].terms}
        TunedWeightsFile(engine.folder.path).write(weights(file_name=2.0))
        after = {term.name: term.value for term in engine.recall("expire the old token values").hits[0].terms}
        assert after["file_name"] == pytest.approx(2 * before["file_name"])
        assert after["cards"] == pytest.approx(before["cards"])
        status = engine.status().tuned
        assert status is not None
        assert status.n_tasks == 50
        with Engine(tmp_path, Settings(n_workers=1, embedder="none", is_tuned=False)) as plain:
            assert {
                term.name: term.value for term in plain.recall("expire the old token values").hits[0].terms
            } == before
        assert engine.reset_tuning()
        assert engine.status().tuned is None
