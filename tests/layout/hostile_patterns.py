"""Feeds hostile strings to the compiled patterns of the product; the test beside it runs this in processes of its own.

`python -m tests.layout.hostile_patterns FOLDER` prints the patterns that take longer than `LIMITS_S` for one string.
"""

import ast
import importlib
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from codecards.indexer.text import secrets

ROOT = Path(__file__).parents[2]
FOLDERS = ("indexer", "retrieval", "router", "codecards")
LONG, SHORT = 1_000_000, 50_000
LIMITS_S = {LONG: 60.0, SHORT: 4.0}
"""CPU seconds for a string of a size: far above what a linear pattern takes, far below what a quadratic one does."""
UNITS_OF_LONG = ("a", " ", "\n", "\\")
UNITS = (
    *('"', "(", "1", "/", ".", '\\"'),
    *(
        "A",
        "_",
        "\t",
        "\r\n",
        "'",
        "`",
        "[",
        "{",
        "<",
        ")",
        "]",
        "}",
        ">",
        "#",
        "*",
        "-",
        "+",
        "=",
        ":",
        ";",
        ",",
        "@",
        "$",
        "é",
    ),
    *(
        "a ",
        "a.",
        "a,",
        "a\n",
        " \n",
        "\\\n",
        "\\'",
        '"a',
        "()",
        "[]",
        "<>",
        "a(b) ",
        "A ",
        "@a ",
        "@a(",
        "#[a] ",
        "[a] ",
        "a=",
        "a::",
    ),
    *(
        "/*",
        "/* ",
        "{- ",
        "<!-- ",
        "$a$ ",
        '""" ',
        "```\n",
        "a/",
        "http://a/",
        "a@b.",
        "static ",
        "new ",
        "''",
        "a-",
        "1 passed ",
        " in ",
    ),
    *("1.", "error ", "key=", "$a", "\n#", "- ", "a b\n", "::a", "x86", "\x01a"),
)
AFFIXES = {LONG: (("", ""),), SHORT: (("", "\x01"), ('"', ""))}
BOUNDED = {
    "codecards.indexer.parse.dialects.rust._before": 120,
    "codecards.indexer.parse.dialects.chains._separator": 400,
    "codecards.indexer.parse.dialects.chains._type_noise": 400,
}
"""Patterns whose callers cut what they search, with the number of characters."""
OF_THE_PRODUCT = {"codecards.indexer.parse.captures._not_capture"}
"""Patterns that see only texts of the product."""
SEARCHING = {"search", "finditer", "findall", "sub", "subn", "split"}


class TooSlowError(Exception):
    """A pattern did not finish within the limit."""


def modules(folder: str) -> Iterator[tuple[str, Path]]:
    """Yield name and path of the modules of a folder of the product."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        parts = parts if parts[0] == "codecards" else ("codecards", *parts)
        yield ".".join(parts[:-1] if parts[-1] in ("__init__", "__main__") else parts), path


def uses_of(path: Path) -> dict[str, set[str]]:
    """Return name → methods that the module calls on it."""
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.setdefault(node.value.id, set()).add(node.attr)
    return found


def patterns(value: object, name: str) -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes]]]:
    """Yield the compiled patterns in a value of a module."""
    if isinstance(value, re.Pattern):
        yield name, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from patterns(inner, f"{name}[{key}]")
    elif isinstance(value, (tuple, list, frozenset, set)):
        for number, inner in enumerate(value):
            yield from patterns(inner, f"{name}[{number}]")


def product_patterns(folder: str) -> Iterator[tuple[str, re.Pattern[str] | re.Pattern[bytes], bool]]:
    """Yield name, pattern and whether it is searched anywhere in a text, once each."""
    seen = set()
    for module, path in modules(folder):
        uses = uses_of(path)
        for name, value in list(vars(importlib.import_module(module)).items()):
            for label, pattern in patterns(value, f"{module}.{name}"):
                methods = uses.get(name, SEARCHING) if label.endswith(name) else SEARCHING
                if label not in OF_THE_PRODUCT and (pattern.pattern, pattern.flags) not in seen:
                    seen.add((pattern.pattern, pattern.flags))
                    yield label, pattern, bool(methods & SEARCHING) or not methods & {"match", "fullmatch"}
    if folder == "indexer":
        compiled = secrets._token_patterns()
        yield "secrets.toml: hints", compiled.hint, True
        yield "secrets.toml: tokens", compiled.token, True


def hostile_texts() -> Iterator[tuple[str, float]]:
    """Yield the strings and the time limit of each."""
    for units, size in ((UNITS_OF_LONG, LONG), (UNITS, SHORT)):
        for unit in units:
            for before, after in AFFIXES[size]:
                yield before + unit * (size // len(unit)) + after, LIMITS_S[size]


def is_slow(pattern: re.Pattern[str] | re.Pattern[bytes], text: str, limit_s: float, *, is_searched: bool) -> bool:
    """Return whether a pattern takes longer than the limit for a text."""
    subject: str | bytes = text.encode() if isinstance(pattern.pattern, bytes) else text
    signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
    try:
        if is_searched:
            for _ in pattern.finditer(subject):  # type: ignore[arg-type] # str or bytes, as the pattern
                pass
        else:
            pattern.match(subject)  # type: ignore[arg-type] # str or bytes, as the pattern
    except TooSlowError:
        return True
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return False


def main(folder: str) -> int:
    """Print the slow patterns of a folder, and return their number."""

    def stop(*_: object) -> None:
        raise TooSlowError

    signal.signal(signal.SIGVTALRM, stop)
    texts = list(hostile_texts())
    n_slow = n_patterns = 0
    for label, pattern, is_searched in product_patterns(folder):
        n_patterns += 1
        for text, limit_s in texts:
            cut = text[: BOUNDED[label]] if label in BOUNDED else text
            if is_slow(pattern, cut, limit_s, is_searched=is_searched):
                n_slow += 1
                sys.stdout.write(f"{label}: {pattern.pattern!r} on {cut[:12]!r}…\n")
                break
    sys.stderr.write(f"{n_patterns} patterns\n")
    return 1 if n_slow else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
