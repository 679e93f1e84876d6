"""Stack frames: the places that a pasted stack trace names."""

import re
from dataclasses import dataclass

MAX_FRAMES = 100

_FORMS = (
    # Python
    re.compile(r'File "(?P<path>[^"\n]+)", line (?P<line>\d+)(?:, in (?P<name>[\w<>.]+))?'),
    # IPython: File ~/shop/cart.py:12, in Cart.total(self)
    re.compile(r"^[ \t]*File (?P<path>[^\s\":]+):(?P<line>\d+), in (?P<name>[\w<>.]+)", re.MULTILINE),
    # IPython before version 8: ~/shop/cart.py in total(self), and an arrow at the line below
    re.compile(
        r"^(?P<path>[~/][^\s:]*\.pyx?) in (?P<name>[\w<>]+)\([^\n]*(?:\n(?!-+> )[^\n]*){0,12}\n-+> (?P<line>\d+)",
        re.MULTILINE,
    ),
    # Java, Kotlin, Scala: at shop.cart.Cart.total(Cart.java:12)
    re.compile(r"^[ \t]*at (?P<name>[\w$.<>]+)\((?P<path>[\w$]+\.\w+):(?P<line>\d+)\)", re.MULTILINE),
    # JavaScript: at total (src/cart.js:12:5)
    re.compile(
        r"^[ \t]*at (?:async )?(?P<name>[\w$.<>\[\] ]+?) \((?:file://)?(?P<path>[^()\n]+?):(?P<line>\d+)(?::\d+)?\)",
        re.MULTILINE,
    ),
    # C#: at Shop.Cart.Total() in /src/Cart.cs:line 12
    re.compile(r"^[ \t]*at (?P<name>[\w.<>`]+)\([^)\n]*\) in (?P<path>[^\n]+?):line (?P<line>\d+)", re.MULTILINE),
    # PHP: #0 /src/Cart.php(12): Cart->total()
    re.compile(r"^[ \t]*#\d+ (?P<path>[^\s()]+)\((?P<line>\d+)\): (?P<name>[\w\\:>-]+)\(", re.MULTILINE),
    # gdb, lldb: #0 0x... in total (x=1) at cart.c:12
    re.compile(
        r"^[ \t]*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<name>[\w:~<>]+) \([^\n]*\) at (?P<path>[^\s:]+):(?P<line>\d+)",
        re.MULTILINE,
    ),
    # Ruby: cart.rb:12:in `total'
    re.compile(r"(?<![\w./\\-])(?P<path>[\w./\\-]+\.\w+):(?P<line>\d+):in [`'](?:[\w:]+[#.])?(?P<name>\w+[?!=]?)'"),
    # sanitizers: #1 0x55d7f in total /build/cart.c:12:7
    re.compile(r"^[ \t]*#\d+ 0x[0-9a-f]+ in (?P<name>[\w:~<>]+)[^\n/]* (?P<path>/[^\s:]+):(?P<line>\d+)", re.MULTILINE),
    # Rust: panicked at 'no cart', src/cart.rs:12:5, and the compiler's --> src/cart.rs:12:5
    re.compile(r"(?:panicked at |--> )(?:'[^\n]{0,300}', )?(?P<path>[\w./\\-]+\.rs):(?P<line>\d+)"),
    # PHP: … in /src/Cart.php:12, and … in /src/Cart.php on line 12
    re.compile(r" in (?P<path>[\w./\\:-]+\.php)(?::| on line )(?P<line>\d+)"),
    # Go, Rust, Elixir, JavaScript without a name
    re.compile(r"^[ \t]*(?:at |\()?(?:file://)?(?P<path>[\w./\\@-]+\.\w{1,5}):(?P<line>\d+)(?::\d+)?", re.MULTILINE),
)


@dataclass(frozen=True, slots=True)
class Frame:
    """One place in a stack trace."""

    path: str
    """As written, with slashes."""
    line: int
    """1-based."""
    name: str
    """Last part of the function's name; "" if the frame has none."""


def find_frames(text: str) -> tuple[Frame, ...]:
    """Return the frames of all stack traces in a text, in order, each place once."""
    if not any(sign in text for sign in (":", "line ", "(")):
        return ()
    found: dict[tuple[str, int], tuple[int, Frame]] = {}
    for form in _FORMS:
        for match in form.finditer(text):
            parts = match.groupdict()
            path, line = parts["path"].replace("\\", "/"), int(parts["line"])
            name = re.split(r"[.:>\\]", (parts.get("name") or "").strip())[-1]
            name = "" if name.startswith("<") else name
            found.setdefault((path, line), (match.start(), Frame(path, line, name)))
        if len(found) > MAX_FRAMES:
            break
    return tuple(frame for _, frame in sorted(found.values(), key=lambda item: item[0]))[:MAX_FRAMES]
