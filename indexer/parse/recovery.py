"""Takes a parse up again after a syntax error, so that a damaged definition does not take its neighbours along.

Tree-sitter recovers from an error as it can; often the definitions around are lost or end in the wrong parent. Here the
lines of a text with errors are split into pieces by their indentation. Each piece is parsed by itself, inside the heads and
ends of the pieces around it. The smallest damaged pieces are blanked, or a missing bracket is added, and the text is
parsed again. A repaired text has the lengths and lines of the original, so positions stay valid.

Only texts with syntax errors come here.
"""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import tree_sitter

from codecards.indexer.parse.languages import LANGUAGE_BY_NAME, load_grammar

REPAIR_SECONDS = 2.0
"""Time limit for the repair of one file; what is repaired until then counts."""
MAX_PARSED_SHARE = 12
"""Maximum number of parsed bytes, as a multiple of the size of the text."""
MAX_ROUNDS = 2
"""Maximum number of repairs of one text, each of the result of the one before."""
MAX_MERGED = 8
"""Maximum number of adjacent pieces that are tried as one."""
TRIED_SIZES = (1, 2, 3, 5, MAX_MERGED)
MAX_NESTING = 12
MAX_BLANKED = 40
"""Maximum number of rows that are blanked because they are damaged as a whole, though no part of them is."""

INDENTED_LANGUAGES = frozenset({"python", "haskell"})
WORD_END_LANGUAGES = frozenset({"ruby", "elixir", "lua", "bash"})
UNREPAIRED_LANGUAGES = frozenset({"sql", "markdown", "html", "vue", "svelte", "jupyter", "rst", "asciidoc", "org"})
_closing_line = re.compile(rb"[})\]]")
_word_line = re.compile(
    rb"(?:end|fi|done|esac|else|elif|elsif|elseif|rescue|ensure|after|catch|finally|except|then|until|while|when|in)\b|\{"
)
_closing_word = re.compile(rb"(?:end|fi|done|esac|until)\b")
_attribute_line = re.compile(rb"@\w|#!?\[")
_named_head = re.compile(
    rb"\b(?:class|struct|interface|enum|trait|object|protocol|extension|module|namespace|record|defmodule|actor|impl|mod)"
    rb"\s{1,8}[A-Za-z_][\w.:]{0,80}"
)
_callable_head = re.compile(rb"\b(?:def|defp|fun|func|fn|function)\s{1,8}[A-Za-z_]\w{0,80}")
_scanned = re.compile(rb"(?<!\\)\"(?:[^\"\\\n]|\\.)*+\"|(?<!\\)'(?:[^'\\\n]|\\.)*+'|//[^\n]*|[()\[\]{}]")
_OPENERS = {b"(": b")", b"[": b"]", b"{": b"}"}


@dataclass(frozen=True, slots=True)
class Repaired:
    """A text that parses better than the original."""

    data: bytes
    rows: tuple[int, ...]
    """Rows that differ from the original."""


def repair(data: bytes, language: str) -> Repaired | None:
    """Return a repaired text of the same length and lines, None if no repair was found.

    Args:
        data: UTF-8, with syntax errors.
        language: Key of `LANGUAGE_BY_NAME` with a grammar.
    """
    if language in UNREPAIRED_LANGUAGES or len(data) < 2:
        return None
    parser = tree_sitter.Parser(load_grammar(LANGUAGE_BY_NAME[language]))
    original = data.split(b"\n")
    lines = list(original)
    for _ in range(MAX_ROUNDS):
        before = list(lines)
        work = _Repair(lines, language, parser)
        work.level(list(range(len(lines))), {})
        work.place()
        if lines == before or work.is_over or work.parses(dict(enumerate(lines))):
            break
    rows = tuple(row for row, line in enumerate(lines) if line != original[row])
    return Repaired(b"\n".join(lines), rows) if rows else None


@dataclass(slots=True)
class _Piece:
    """Adjacent lines that belong together: a head, the deeper lines below it, and its end."""

    rows: list[int]
    base: int
    """Indentation of the first line."""


Context = dict[float, bytes]
"""Lines around a piece by their rows: heads and ends of the pieces around it. Added lines are between two rows."""


@dataclass(slots=True)
class _Repair:
    """The repair of one text; `lines` changes on the way."""

    lines: list[bytes]
    language: str
    parser: tree_sitter.Parser
    n_parsed: int = 0
    deadline: float = field(default_factory=lambda: time.monotonic() + REPAIR_SECONDS)
    budget: int = 0
    indents: list[int] = field(default_factory=list)
    inside_comments: frozenset[int] = frozenset()
    """Rows of block comments after their first."""
    openings: list[tuple[int, bytes]] = field(default_factory=list)
    """First inner row and bracket of each head that lacks its opening."""
    endings: list[tuple[int, bytes]] = field(default_factory=list)
    """Last row and brackets of each piece that lacks its end."""

    def __post_init__(self) -> None:
        """Measure the indentation of the lines."""
        self.budget = 4_000 + MAX_PARSED_SHARE * sum(map(len, self.lines))
        self.indents = [_indent(line) for line in self.lines]
        self.inside_comments = frozenset(_rows_inside_comments(self.lines, self.language))

    @property
    def is_over(self) -> bool:
        """Return whether the limits of the repair are reached."""
        return self.n_parsed > self.budget or time.monotonic() > self.deadline

    def is_healthy(self, rows: Sequence[int], context: Context) -> bool:
        """Return whether lines parse without an error inside the lines of their context."""
        inside: Context = {row: self.lines[row] for row in rows}
        return self.parses(inside | context if context else inside)

    def parses(self, lines: Context) -> bool:
        """Return whether lines parse without an error."""
        text = b"\n".join(lines[row] for row in sorted(lines)) + b"\n"
        if self.language == "php" and b"<?" not in text:
            text = b"<?php\n" + text
        self.n_parsed += len(text) + 40
        return not self.parser.parse(text).root_node.has_error

    def level(self, rows: Sequence[int], context: Context, depth: int = 0) -> None:
        """Repair the pieces of one level of nesting."""
        pieces = _merged_containers(list(self._pieces(rows)), self.lines)
        number = 0
        while number < len(pieces) and not self.is_over:
            n_healthy = self._n_healthy(pieces, number, context)
            if not n_healthy:
                self._mend(pieces[number], context, depth)
            number += max(1, n_healthy)

    def _n_healthy(self, pieces: Sequence[_Piece], number: int, context: Context) -> int:
        """Return the number of pieces from `number` on that parse as one, 0 if they don't."""
        rows: list[int] = []
        for count in range(1, MAX_MERGED + 1):
            if number + count > len(pieces) or self.is_over:
                break
            rows += pieces[number + count - 1].rows
            if count in TRIED_SIZES and self.is_healthy(rows, context):
                return count
        return 0

    def _mend(self, piece: _Piece, context: Context, depth: int) -> None:
        """Repair a damaged piece: its frame, then the pieces inside; what can't be repaired is blanked."""
        frame_rows, inner = self._split(piece)
        if not inner or depth >= MAX_NESTING:
            self._blank(piece.rows, context)
            return
        frame = self._frame(frame_rows, inner, context)
        if frame is None:  # its inner pieces are read as those of the piece around
            for row in frame_rows:
                self.lines[row] = b" " * len(self.lines[row])
            around = context
            if self.language == "python":
                self._set(frame_rows[0], b"if 1:")
                around = context | {frame_rows[0]: self.lines[frame_rows[0]]}
            self.level(inner, around, depth + 1)
            return
        around = context | frame
        n_added = len(self.openings) + len(self.endings)
        for region in _regions(inner):
            self.level(region, around, depth + 1)
        has_added = len(self.openings) + len(self.endings) > n_added  # brackets that get their places in the end
        if len(inner) <= MAX_BLANKED and not has_added and not self.is_over and not self.is_healthy(inner, around):
            for row in inner:
                self.lines[row] = b" " * len(self.lines[row])
            if self.language == "python":
                self._set(inner[0], b"0")

    def _blank(self, rows: Sequence[int], context: Context) -> None:
        """Blank lines; where a statement is needed, a number is one."""
        for row in rows:
            self.lines[row] = b" " * len(self.lines[row])
        if self.language == "python":
            self._set(rows[0], b"0")
        elif context and not self.is_healthy(rows, context):
            before = self.lines[rows[0]]
            self._set(rows[0], b"0")
            if not self.is_healthy(rows, context):
                self.lines[rows[0]] = before

    def _set(self, row: int, text: bytes) -> None:
        """Blank a line but for a text at its indentation, if there is room for it."""
        line = self.lines[row]
        if len(line) >= self.indents[row] + len(text):
            self.lines[row] = (line[: self.indents[row]] + text).ljust(len(line))

    # frames: the head and the end of a piece

    def _frame(self, rows: Sequence[int], inner: Sequence[int], context: Context) -> Context | None:
        """Return the lines of a frame, repaired if they have to be; None if no repair helps."""
        frame: Context = {row: self.lines[row] for row in rows}
        if self._is_frame_healthy(frame, inner, context):
            return frame
        attempts: tuple[Callable[[Context, Sequence[int]], Context | None], ...] = (
            self._with_end,
            self._with_opening,
            self._without_last_closer,
            self._with_simple_head,
        )
        simple = self._with_simple_head(frame, inner)
        for start in (frame, simple) if simple is not None else (frame,):
            for attempt in attempts:
                mended = None if self.is_over else attempt(start, inner)
                if mended is not None and self._is_frame_healthy(mended, inner, context):
                    self._commit(mended, inner)
                    return mended
        return None

    def _is_frame_healthy(self, frame: Context, inner: Sequence[int], context: Context) -> bool:
        """Return whether a frame parses without what is inside."""
        if self.language == "python":
            frame = frame | {region[0]: b" " * self.indents[region[0]] + b"0" for region in _regions(inner)}
        return self.parses(context | frame)

    def _commit(self, frame: Context, inner: Sequence[int]) -> None:
        """Take over a repaired frame; added lines get their places in the end."""
        for row, line in frame.items():
            if isinstance(row, int):
                self.lines[row] = line
            elif row < inner[0]:
                self.openings.append((inner[0], line))
            else:
                self.endings.append((inner[-1], line))

    def _with_end(self, frame: Context, inner: Sequence[int]) -> Context | None:
        """Return the frame with the closing brackets, or the word, that it lacks at its end."""
        missing = _unclosed(b"\n".join(frame.values()))
        if not missing and self.language in WORD_END_LANGUAGES and max(frame) < inner[0]:
            missing = b"end"
        return frame | {inner[-1] + 0.5: missing} if missing else None

    def _with_opening(self, frame: Context, inner: Sequence[int]) -> Context | None:
        """Return the frame with an opening brace after the head, or a colon if there is room for it."""
        head = min(frame)
        if self.language == "python":
            line = frame[head]
            text = line.rstrip()
            return None if text == line or text.endswith(b":") else frame | {head: (text + b":").ljust(len(line))}
        if self.language in WORD_END_LANGUAGES:
            return None
        return frame | {inner[0] - 0.5: b"{"}

    def _without_last_closer(self, frame: Context, inner: Sequence[int]) -> Context | None:
        """Return the frame without the last closing bracket or word of its end."""
        row = max(frame)
        if row <= inner[0]:
            return None
        line = frame[row]
        found = max(line.rfind(one) for one in (b"}", b")", b"]"))
        word = line.rfind(b"end")
        start, size = (found, 1) if found > word else (word, 3)
        if start < 0:
            return None
        return frame | {row: line[:start] + b" " * size + line[start + size :]}

    def _with_simple_head(self, frame: Context, inner: Sequence[int]) -> Context | None:
        """Return the frame with its head reduced to keyword, name and opening: "class Crate {"."""
        heads = [row for row in sorted(frame) if row < inner[0]] or [min(frame)]
        for row in heads:
            line = frame[row]
            named = _named_head.search(line)
            called = None if named else _callable_head.search(line)
            found = named or called
            if found is None:
                continue
            ending = b"()" if called else b""
            if self.language in ("python", "elixir"):
                ending += b":" if self.language == "python" else b" do"
            elif self.language not in WORD_END_LANGUAGES:
                ending += b" {"
            if found.end() + len(ending) > len(line):
                return None
            blanks = {other: b" " * len(frame[other]) for other in heads}
            kept = line[: self.indents[int(row)]].ljust(found.start()) + found[0] + ending
            return frame | blanks | {row: kept.ljust(len(line))}
        return None

    def place(self) -> None:
        """Write the added brackets into white space beside their places."""
        for row, text in self.openings:
            before = self.lines[row - 1]
            if before.endswith(b" " * len(text)) and before.strip():
                kept = before.rstrip()
                self.lines[row - 1] = (kept + text).ljust(len(before))
            elif self.lines[row].startswith((b" " * len(text), b"\t" * len(text))):
                self.lines[row] = text + self.lines[row][len(text) :]
        for row, text in self.endings:
            self._place_ending(row, text)

    def _place_ending(self, row: int, text: bytes) -> None:
        for blank in (row, row - 1, row + 1):
            if 0 <= blank < len(self.lines) and not self.lines[blank].strip() and len(self.lines[blank]) >= len(text):
                self.lines[blank] = text.ljust(len(self.lines[blank]))
                return
        mark = text + b";" if text == b"end" else text
        after = next((one for one in range(row + 1, len(self.lines)) if self.lines[one].strip()), -1)
        if after >= 0 and _indent(self.lines[after]) >= len(mark):
            self.lines[after] = mark + self.lines[after][len(mark) :]
            return
        while row > 0 and not self.lines[row].strip():
            row -= 1
        line = self.lines[row]
        if line.strip()[:1] in (b"}", b")", b"]") and _indent(line) >= len(text):
            self.lines[row] = line[: _indent(line) - len(text)] + line.strip() + text
            self.lines[row] = self.lines[row].ljust(len(line))
        elif len(line) >= len(text):
            self.lines[row] = text.ljust(len(line))

    # pieces

    def _pieces(self, rows: Sequence[int]) -> Iterator[_Piece]:
        """Split lines at those with the indentation of the first."""
        piece: _Piece | None = None
        base = -1
        balance = 0
        is_pending = is_open = False  # after attributes, whose definition follows; before the end of what was begun
        for row in rows:
            stripped = self.lines[row].strip()
            if not stripped or row in self.inside_comments:
                if piece is not None:
                    piece.rows.append(row)
                    continue
                if not stripped:
                    continue
            if base < 0:
                base = self.indents[row]
            is_deeper = self.indents[row] > base
            is_end = _closing_line.match(stripped) is not None
            continues = piece is not None and (
                is_deeper
                or is_pending
                or (is_end and (is_open or balance > 0))
                or (_word_line.match(stripped) is not None and self._continues(stripped, piece))
            )
            if not continues:
                if piece is not None:
                    yield piece
                piece, balance, is_open = _Piece([], base), 0, False
            assert piece is not None
            piece.rows.append(row)
            balance += _balance_of(stripped)
            if not is_deeper and is_end:
                is_open = stripped.endswith((b"{", b"(", b"["))
                balance = max(0, balance) if is_open else 0
            else:
                is_open = is_open or is_deeper
            is_pending = not is_deeper and self._is_attribute(stripped)
        if piece is not None:
            yield piece

    def _continues(self, stripped: bytes, piece: _Piece) -> bool:
        """Return whether a line that starts with a word such as `else` or `end` belongs to the piece before it."""
        if not _closing_word.match(stripped):
            return True
        tail = [row for row in piece.rows if self.lines[row].strip()][-1]
        return not (self.indents[tail] <= piece.base and _closing_word.match(self.lines[tail].strip()))

    def _is_attribute(self, stripped: bytes) -> bool:
        if _attribute_line.match(stripped):
            return b"{" not in stripped and self.language not in ("ruby", "elixir")
        return self.language == "csharp" and stripped.startswith(b"[") and stripped.endswith(b"]")

    def _split(self, piece: _Piece) -> tuple[list[int], list[int]]:
        """Return the rows of the frame of a piece (its head and its end) and the rows inside."""
        rows = [row for row in piece.rows if self.lines[row].strip()]
        openings = [
            number
            for number, row in enumerate(rows)
            if self.indents[row] <= piece.base and self._opens(self.lines[row])
        ]
        heads = openings[0] if openings else 0
        frame = [row for number, row in enumerate(rows) if number <= heads or self.indents[row] <= piece.base]
        inner = [row for row in piece.rows if row not in frame and row > frame[0]]
        if not any(self.lines[row].strip() for row in inner) and len(rows) > 2 and openings:
            frame, inner = [rows[0], rows[-1]], rows[1:-1]  # a container whose body is not indented
        while inner and not self.lines[inner[0]].strip():
            inner.pop(0)
        return frame, inner

    def _opens(self, line: bytes) -> bool:
        """Return whether a line ends with the opening of a body."""
        code = line.split(b"//")[0].rstrip() if self.language not in ("python", "ruby", "bash") else line.rstrip()
        if self.language in INDENTED_LANGUAGES:
            return code.endswith((b":", b"where", b"=", b"do", b"of"))
        return code.endswith((b"{", b" do", b"then")) or (self.language in ("ruby", "lua") and not code.endswith(b","))


def _merged_containers(pieces: list[_Piece], lines: Sequence[bytes]) -> list[_Piece]:
    """Join an opening line, the pieces after it and its closing line where a body is not indented."""
    found: list[_Piece] = []
    opened: list[int] = []
    for piece in pieces:
        text = [lines[row].strip() for row in piece.rows if lines[row].strip()]
        if len(text) == 1 and text[0].endswith(b"{"):
            opened.append(len(found))
        elif opened and text and text[0][:1] == b"}" and sum(map(_balance_of, text)) < 0:
            start = opened.pop()
            rows = [row for one in found[start:] for row in one.rows] + piece.rows
            found[start:] = [_Piece(rows, piece.base)]
            continue
        found.append(piece)
    return found


def _rows_inside_comments(lines: Sequence[bytes], language: str) -> Iterator[int]:
    """Yield the rows of block comments that begin a line, after the first; those without an end have none."""
    opening, closing = (b"{-", b"-}") if language == "haskell" else (b"/*", b"*/")
    first = -1
    for row, line in enumerate(lines):
        if first < 0:
            stripped = line.lstrip()
            if stripped.startswith(opening) and closing not in stripped:
                first = row
        elif closing in line:
            yield from range(first + 1, row + 1)
            first = -1


def _regions(rows: Sequence[int]) -> list[list[int]]:
    """Return the runs of adjacent rows."""
    regions: list[list[int]] = []
    for row in rows:
        if regions and regions[-1][-1] == row - 1:
            regions[-1].append(row)
        else:
            regions.append([row])
    return regions


def _indent(line: bytes) -> int:
    """Return the number of white characters at the start of a line."""
    return len(line) - len(line.lstrip())


def _balance_of(text: bytes) -> int:
    """Return the number of opening minus closing brackets."""
    opened = text.count(b"{") + text.count(b"(") + text.count(b"[")
    return opened - text.count(b"}") - text.count(b")") - text.count(b"]")


def _unclosed(text: bytes) -> bytes:
    """Return the closing brackets that a text lacks, innermost first; strings do not count."""
    stack: list[bytes] = []
    for match in _scanned.finditer(text):
        mark = match[0]
        if mark in _OPENERS:
            stack.append(_OPENERS[mark])
        elif stack and mark == stack[-1]:
            stack.pop()
    return b"".join(reversed(stack))
