"""A pytest plugin and a unittest runner that make chosen tests of a package fail with a marked message.

`python -m pytest -p failing_tests` and `python failing_tests.py MODULE` read FAIL_SEED, FAIL_COUNT and FAIL_FILE from the
environment; the marks that were used are appended to FAIL_FILE.
"""

import os
import random
import sys
import unittest
from collections.abc import Sequence
from pathlib import Path
from typing import Any

rng = random.Random(os.environ.get("FAIL_SEED", "0"))
KINDS = (
    lambda mark: AssertionError(f"assert 3 == 4 ({mark})"),
    lambda mark: AssertionError(f"lists differ: [1, 2] != [1, 2, 3]: {mark}"),
    lambda mark: ValueError(f"could not convert {mark} to an index"),
    lambda mark: KeyError(f"{mark}"),
    lambda mark: TypeError(f"unsupported operand type(s) for +: 'int' and '{mark}'"),
    lambda mark: TimeoutError(f"no answer from {mark}.example within 5.0 s"),
    lambda mark: RuntimeError(f"the state is inconsistent: {mark}"),
    lambda mark: OSError(2, "No such file or directory", f"/tmp/{mark}.cfg"),
)


def chosen(names: Sequence[str]) -> dict[str, str]:
    """Return name → mark for the tests that are to fail, and store the marks."""
    n_failures = min(len(names), int(os.environ.get("FAIL_COUNT", "1")))
    picked = {name: f"qzv{rng.randrange(16**7):07x}" for name in rng.sample(list(names), n_failures)}
    with Path(os.environ["FAIL_FILE"]).open("a", encoding="ascii") as file:
        file.writelines(f"{mark}\n" for mark in picked.values())
    return picked


def _raise(mark: str) -> None:
    raise rng.choice(KINDS)(mark)


_marks: dict[str, str] = {}


def pytest_collection_modifyitems(items: list[Any]) -> None:
    """Choose the tests that fail."""
    _marks.update(chosen([item.nodeid for item in items]))


def pytest_runtest_call(item: Any) -> None:  # noqa: ANN401 - pytest is not imported here
    """Fail, where chosen."""
    if item.nodeid in _marks:
        _raise(_marks[item.nodeid])


def main(arguments: Sequence[str]) -> None:
    """Run a module's tests with unittest, some of them failing."""
    suite = unittest.defaultTestLoader.loadTestsFromName(arguments[0])
    cases: list[unittest.TestCase] = []
    waiting: list[Any] = [suite]
    while waiting:
        one = waiting.pop()
        if isinstance(one, unittest.TestSuite):
            waiting.extend(one)
        else:
            cases.append(one)
    by_id = {case.id(): case for case in cases}
    for name, mark in chosen(sorted(by_id)).items():
        case = by_id[name]
        method = name.rpartition(".")[2]
        setattr(case, method, lambda mark=mark: _raise(mark))
    unittest.TextTestRunner(verbosity=2).run(suite)


if __name__ == "__main__":
    main(sys.argv[1:])
