"""When old results leave: prices, ages and a dead time decide."""

from codecards.router.policy.epochs import EpochSettings, OldResult, plan_epoch
from codecards.router.policy.prices import ANTHROPIC, Prices, expected_turns, reuse_chance


def result(
    tokens: int = 4_000, *, tail: int = 2_000, idle: int = 20, left: int = 50, is_file: bool = True
) -> OldResult:
    return OldResult(tokens, left, tail, idle, is_file)


def test_a_large_old_result_near_the_end_leaves() -> None:
    epoch = plan_epoch([result()], 30, 30, ANTHROPIC)
    assert epoch is not None
    assert epoch.leaving == (0,)
    assert epoch.saves > epoch.costs


def test_a_small_result_before_a_long_tail_stays() -> None:
    assert plan_epoch([result(300, tail=60_000)], 30, 30, ANTHROPIC) is None


def test_a_result_that_is_likely_to_be_used_again_stays() -> None:
    assert plan_epoch([result(idle=1)], 30, 30, ANTHROPIC) is None
    assert plan_epoch([result(2_000, idle=2, tail=8_000)], 30, 30, ANTHROPIC) is None


def test_epochs_keep_their_distance() -> None:
    """Mutation: no dead time; the second epoch comes at once."""
    settings = EpochSettings(dead_turns=6)
    assert plan_epoch([result()], 30, 5, ANTHROPIC, settings) is None
    assert plan_epoch([result()], 30, 6, ANTHROPIC, settings) is not None


def test_the_price_of_a_cache_write_decides() -> None:
    """Mutation: leave the cost of writing the tail out; both prices give the same."""
    results = [result(2_500, tail=9_000)]
    cheap, dear = Prices(write=0.3, read=0.25), Prices(write=3.0, read=0.1)
    assert plan_epoch(results, 30, 30, cheap) is not None
    assert plan_epoch(results, 30, 30, dear) is None


def test_the_best_place_to_begin_is_taken() -> None:
    epoch = plan_epoch([result(200, tail=50_000), result(5_000, tail=1_000)], 30, 30, ANTHROPIC)
    assert epoch is not None
    assert epoch.leaving == (1,)


def test_expectations_fall_with_age() -> None:
    chances = [reuse_chance(turns) for turns in range(1, 40)]
    assert chances == sorted(chances, reverse=True)
    assert reuse_chance(0) == 1.0
    assert expected_turns(100) < expected_turns(1)
