"""What is learned for the order of cards."""

import numpy as np
import pytest

from training.ranking.learn import (
    Examples,
    LearnedQuestion,
    cross_validate,
    join_questions,
    learn,
    mean_reciprocal_rank,
)


def made(n_questions: int, right_by: int, seed: int = 0) -> Examples:
    """Return questions of five cards whose right one has the highest value of one feature."""
    values = np.random.default_rng(seed).random((n_questions, 5, 3), np.float32)
    right = values[:, :, right_by] == values[:, :, right_by].max(axis=1, keepdims=True)
    first = np.arange(n_questions, dtype=np.int64) * 5
    return Examples(values.reshape(-1, 3), right.reshape(-1), first, ("file", "name", "type"))


def test_the_feature_that_tells_the_right_card_weighs_most() -> None:
    weights = learn(made(200, right_by=1), {"name": 1.0, "type": 1.0})
    assert weights["name"] > 5 * max(1.0, weights["type"])


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_no_weight_has_another_sign_than_it_must(sign: float) -> None:
    weights = learn(made(100, right_by=1), {"name": sign, "type": -sign})
    assert all(value * (sign if name == "name" else -sign) >= 0 for name, value in weights.items())


def test_weights_are_judged_on_packages_that_they_were_not_learned_on() -> None:
    examples = made(60, right_by=1)
    questions = [
        LearnedQuestion(
            f"package{number % 3}",
            "heading",
            False,
            examples.values[first : first + 5],
            examples.is_right[first : first + 5],
        )
        for number, first in enumerate(examples.first.tolist())
    ]
    assert cross_validate(questions, ("name_precision", "nesting"), {"heading"})["heading"] > 0.9
    assert cross_validate(questions, ("name_precision", "nesting"), {"commit"}) == {}
    assert mean_reciprocal_rank(questions, ("name_precision", "nesting"), {"name_precision": -9.0}) < 0.5
    joint = join_questions(questions, ("name_precision", "nesting"))
    assert joint.first.tolist() == examples.first.tolist()
    assert np.array_equal(joint.values, examples.values)
