"""What is learned for the order of cards."""

import numpy as np
import pytest

from training.card_stage import Examples, joined, learn


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


def test_a_question_without_a_right_card_teaches_nothing() -> None:
    values = np.ones((3, 2), np.float32)
    right = np.array([True, False, False])
    examples = joined([(values, right), (values, np.zeros(3, np.bool_))], ("name",))
    assert examples.first.tolist() == [0]
    assert len(examples.values) == 3
