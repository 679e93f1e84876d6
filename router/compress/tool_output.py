"""Compresses tool outputs: removes filler, and keeps new information verbatim.

Each compressor returns a text that is not longer than the output. `compress` recognises the kind of an output by its
form.
"""

import json
import re
from collections import Counter
from collections.abc import Callable

from codecards.router.compress.excerpts import cap_output, handle_of
from codecards.router.compress.token_count import TokenCounter

MAX_LIST_ITEMS = 3
MAX_JSON_STRING = 200
MAX_LISTED_NAMES = 12

_test_pass = re.compile(
    r"^\s*+(?:(?=\S*::)\S+ PASSED\b.*|.*\.\.\. ok|ok\s+\S+\s+[\d.]+s|--- PASS: .*|=== (?:RUN|PAUSE|CONT)\s.*"
    r"|[✓✔√] .*|PASS\s+\S+|(?:[\w/\\.-]+\s)?[.sx]{3,}(?:\s+\[\s*\d+%\])?)\s*$"
)
_test_mark = re.compile(
    r"(?m)^(?:=+ .{0,400}(?:passed|failed|error|test session starts).{0,400}=+|Ran \d+ tests?|test result: "
    r"|--- (?:FAIL|PASS): |Tests:\s|FAIL(?:ED)?\b|.{0,400}(?<!\d)\d{1,9} (?:passed|failed)\b.{0,400}in [\d.]+s)"
)
_progress = re.compile(
    r"^\s*(?:Compiling|Downloading|Downloaded|Collecting|Using cached|Requirement already satisfied|Fetching"
    r"|Checking|Building|\[\s*\d+%\]|\[\d+/\d+\])\s.*$"
)
_diagnostic = re.compile(
    r"(?m)^(?:\S+?:\d+(?::\d+)?:\s*(?:fatal )?(?:error|warning|note)\b|error(?:\[\w+\])?: |warning: )"
)
_frame = re.compile(r'^  File "(?P<path>[^"]+)", line (?P<line>\d+)')
_library = re.compile(r"site-packages|dist-packages|/lib/python|node_modules|<frozen|/rustc/|/usr/lib")
_commit_line = re.compile(r"^commit (?P<sha>[0-9a-f]{7,40})")
_listing_line = re.compile(r"^(?:[dl-][rwxsStT-]{9}.?\s.*|total \d+|\S*/\S*|[\w.-]+/?)$")


def compress(text: str) -> str:
    """Return the output without filler; an output of unknown kind is returned unchanged."""
    for matches, compressor in _COMPRESSORS:
        if matches(text):
            shorter = compressor(text)
            return shorter if len(shorter) < len(text) else text
    return text


def shown_output(text: str, count: TokenCounter) -> str:
    """Return the output as a window shows it: compressed and capped, with the handle of the original if it differs."""
    shown = cap_output(compress(text), count)
    return shown if shown == text else f"{shown}\n[whole output: {handle_of(text)}]"


def compress_test_output(text: str) -> str:
    """Return failures, their messages and the summary; passed tests are counted."""
    kept, n_passed = list[str](), 0
    for line in text.splitlines():
        if _test_pass.match(line):
            n_passed += 1
        elif line.strip() or (kept and kept[-1].strip()):
            kept.append(line)
    if n_passed:
        kept.append(f"[{n_passed} lines of passed tests left out]")
    return "\n".join(kept) + "\n"


def compress_compiler_output(text: str) -> str:
    """Return the diagnostics without progress lines; warnings beyond the first few of one kind are counted."""
    seen: Counter[str] = Counter()
    kept, n_progress = list[str](), 0
    for line in text.splitlines():
        if _progress.match(line):
            n_progress += 1
            continue
        if re.search(r"\bwarning\b", line):
            key = re.sub(r"^\S+?:\d+(?::\d+)?:", "", line)
            seen[key] += 1
            if seen[key] > MAX_LIST_ITEMS:
                continue
        kept.append(line)
    n_repeated = sum(max(0, n - MAX_LIST_ITEMS) for n in seen.values())
    if n_progress or n_repeated:
        kept.append(f"[{n_progress} progress lines and {n_repeated} repeated warnings left out]")
    return "\n".join(kept) + "\n"


def compress_traceback(text: str) -> str:
    """Return the traceback without the inner frames of each run of library frames."""
    lines, kept, run = text.splitlines(), list[str](), list[list[str]]()

    def flush() -> None:
        shown = run if len(run) <= 2 else [run[0], [f"    [{len(run) - 2} library frames left out]"], run[-1]]
        kept.extend(line for frame in shown for line in frame)
        run.clear()

    index = 0
    while index < len(lines):
        match = _frame.match(lines[index])
        end = index + 1
        if match:
            while end < len(lines) and lines[end].startswith("    "):
                end += 1
            if _library.search(match["path"]):
                run.append(lines[index:end])
                index = end
                continue
        flush()
        kept.extend(lines[index:end])
        index = end
    flush()
    return "\n".join(kept) + "\n"


def compress_git_log(text: str) -> str:
    """Return one line per commit with id, date and subject; bodies and authors can be read from git."""
    kept, sha, date, awaits_subject = [], "", "", False
    for line in text.splitlines():
        if match := _commit_line.match(line):
            sha, date, awaits_subject = match["sha"], "", True
        elif sha and line.startswith("Date:"):
            date = line[5:].strip() + " "
        elif awaits_subject and line.startswith("    ") and line.strip():
            kept.append(f"{sha} {date}{line.strip()}")
            awaits_subject = False
        elif sha and not line.startswith((" ", "Author:", "Merge:", "Commit", "AuthorDate:")) and line.strip():
            kept.append(line)  # diffs and stats are not filler
    return "\n".join(kept) + "\n[git log: authors and bodies left out]\n"


def compress_listing(text: str) -> str:
    """Return the listing by folder; long lists of names are cut, and the rest is counted."""
    groups: dict[str, list[str]] = {}
    for line in text.splitlines():
        name = line.split()[-1] if line[:1] in "dl-" and len(line.split()) > 7 else line.strip()
        if name and not re.fullmatch(r"total \d+", line):
            folder, _, last = name.rstrip("/").rpartition("/")
            groups.setdefault(folder, []).append(last + ("/" if name.endswith("/") else ""))
    rows = []
    for folder, names in groups.items():
        more = len(names) - MAX_LISTED_NAMES
        shown = " ".join(names[:MAX_LISTED_NAMES]) + (f" [… {more} more names left out]" if more > 0 else "")
        rows.append(f"{folder}/: {shown}" if folder else shown)
    return "\n".join(rows) + "\n"


def compress_json(text: str) -> str:
    """Return the JSON with long lists cut to their first items and long strings to their start."""
    return json.dumps(_shorten(json.loads(text)), ensure_ascii=False, separators=(",", ":")) + "\n"


def _shorten(value: object) -> object:
    if isinstance(value, dict):
        return {key: _shorten(item) for key, item in value.items()}
    if isinstance(value, list):
        shown = [_shorten(item) for item in value[:MAX_LIST_ITEMS]]
        return (
            [*shown, f"… {len(value) - MAX_LIST_ITEMS} more items left out"] if len(value) > MAX_LIST_ITEMS else shown
        )
    if isinstance(value, str) and len(value) > MAX_JSON_STRING:
        return value[:MAX_JSON_STRING] + f"… {len(value) - MAX_JSON_STRING} characters left out"
    return value


def _is_json(text: str) -> bool:
    start = text.lstrip()[:1]
    if not start or start not in "{[":
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_listing(text: str) -> bool:
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > MAX_LISTED_NAMES and all(_listing_line.match(line.strip()) for line in lines)


def _has(pattern: re.Pattern[str]) -> Callable[[str], bool]:
    return lambda text: pattern.search(text) is not None


_COMPRESSORS: tuple[tuple[Callable[[str], bool], Callable[[str], str]], ...] = (
    (_is_json, compress_json),
    (_has(_test_mark), lambda text: compress_traceback(compress_test_output(text))),
    (lambda text: "Traceback (most recent call last)" in text, compress_traceback),
    (lambda text: len(re.findall(r"(?m)^commit [0-9a-f]{7,40}", text)) > 1, compress_git_log),
    (_has(_diagnostic), compress_compiler_output),
    (_is_listing, compress_listing),
)
"""(recogniser, compressor), the most reliable recogniser first."""
