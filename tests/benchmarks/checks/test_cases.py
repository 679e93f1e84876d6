"""The failures of the case bank that are accepted."""

from benchmarks.checks.cases import Disputed, judge

DISPUTED = {"C1": Disputed(("symbols: wanted 1, got 2",), "2 is right")}


def case(name: str, status: str, *messages: str) -> dict[str, object]:
    not_met = [{"type": "symbols", "level": "must", "state": "fail", "message": message} for message in messages]
    return {"id": name, "status": status, "not_met": not_met}


DISPUTED_CASE = case("C1", "fail", "wanted 1, got 2")


def test_a_disputed_case_may_fail_as_listed_and_a_skipped_case_is_not_a_failure() -> None:
    assert judge([DISPUTED_CASE, case("C2", "pass"), case("C3", "skip")], complete=True, disputed=DISPUTED) == []


def test_a_failing_case_is_a_complaint() -> None:
    assert judge([DISPUTED_CASE, case("C2", "fail", "no")], complete=True, disputed=DISPUTED) == [
        "C2: fails: symbols: no"
    ]


def test_the_list_of_disputed_cases_stays_current() -> None:
    for changed in (case("C1", "pass"), case("C1", "fail", "wanted 1, got 3")):
        (complaint,) = judge([changed], complete=True, disputed=DISPUTED)
        assert complaint.startswith("C1: does not fail as DISPUTED")
    assert judge([], complete=True, disputed=DISPUTED) == ["C1: is disputed but did not run"]
    assert judge([], complete=False, disputed=DISPUTED) == []
