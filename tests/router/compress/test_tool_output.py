"""Compressed tool outputs."""

import json

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from codecards.router.compress.tool_output import compress

PYTEST = (
    "============ test session starts ============\n"
    + "".join(f"tests/test_a.py::test_{number} PASSED [ 1%]\n" for number in range(80))
    + "E   AssertionError: 1 != 2\ntests/test_a.py:12: AssertionError\n==== 1 failed, 80 passed in 1.2s ====\n"
)


TRACE = (
    "Traceback (most recent call last):\n"
    + '  File "app.py", line 3, in main\n    run()\n'
    + "".join(f'  File "/x/site-packages/lib/m{number}.py", line {number}, in f\n    g()\n' for number in range(9))
    + "ValueError: bad\n"
)


GIT_LOG = "".join(
    f"commit {number:07x}abc\nAuthor: A <a@b.c>\nDate:   Mon\n\n    Subject {number}\n\n    Body text\n\n"
    for number in range(5)
)


CARGO = "   Compiling serde v1.0\n" * 30 + "error[E0425]: cannot find value `x`\n --> src/main.rs:2:5\n"


@pytest.mark.seed("S1-47", "S1-34")
@pytest.mark.parametrize(
    ("output", "kept", "gone"),
    [
        (PYTEST, ["AssertionError: 1 != 2", "1 failed, 80 passed", "80 lines of passed"], "test_5 PASSED"),
        (TRACE, ["app.py", "ValueError: bad", "7 library frames"], "m4.py"),
        (GIT_LOG, ["Subject 0", "Subject 4", "0000003abc"], "Body text"),
        (CARGO, ["error[E0425]", "src/main.rs:2:5"], "serde"),
        (json.dumps({"rows": list(range(500))}), ['"rows"', "497 more items"], "100"),
        ("\n".join(f"src/file_{number}.py" for number in range(60)), ["file_0.py", "48 more names"], "file_50"),
    ],
)
def test_outputs_lose_only_their_filler(output: str, kept: list[str], gone: str) -> None:
    shorter = compress(output)
    assert all(text in shorter for text in kept)
    assert gone not in shorter
    assert len(shorter) * 2 < len(output)


@for_all(st.text(max_size=500))
def test_compressing_never_makes_an_output_longer(text: str) -> None:
    assert len(compress(text)) <= len(text)
