"""reStructuredText, AsciiDoc and Org: headings by lines, without a grammar."""

import re
from collections.abc import Iterator, Sequence

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.dialects.base import Dialect, Extract
from codecards.indexer.parse.dialects.sections import MAX_NAME_CHARACTERS, Heading, section_facts

_RST_MARKS = frozenset("=-`:'\"~^_*+#<>.!$%&,/;?@\\|{}()[]")
MIN_RST_UNDERLINE = 3
_role = re.compile(r":[\w.+:-]{1,60}:`([^`]{1,200})`")
_target = re.compile(r"\s{0,8}<[^<>]{1,300}>$")
_equals = re.compile(r"(={1,6}|#{1,6})[ \t]{1,20}(\S.*)")
_block_mark = re.compile(r"(-{4,}|\.{4,}|\+{4,}|/{4,}|`{3,})\s{0,20}")
_attribute_or_anchor = re.compile(r"\[[^\]]{0,200}\]|:[\w-]{1,60}:")
_stars = re.compile(r"(\*{1,20})[ \t]{1,20}(\S.*)")
_org_block = re.compile(r"[ \t]{0,20}#\+(begin|end)_(\w{1,40})", re.IGNORECASE)
_org_state = re.compile(r"(?:TODO|DONE|NEXT|WAITING|HOLD|CANCELLED|CANCELED|STARTED|PROJ|IDEA)\s{1,8}(?=\S)")
_org_priority = re.compile(r"\[#\w\]\s{0,8}")
_org_tags = re.compile(r"(?<=\s):[\w@#%:]{1,200}:$")
_org_link = re.compile(r"\[\[[^\[\]]{1,300}\](?:\[([^\[\]]{1,200})\])?\]")
_ASCIIDOC_LEVELS = "=-~^+"


class RstDialect(Dialect):
    """reStructuredText: a level for each form of heading, in the order in which they first come."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the sections of the document."""
        lines = _lines(text)
        return section_facts("rst", n_lines, lines, list(_rst_headings(lines)))


class AsciiDocDialect(Dialect):
    """AsciiDoc: headings begin with `=`, or are underlined; listings and comments have none."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the sections of the document."""
        lines = _lines(text)
        return section_facts("asciidoc", n_lines, lines, list(_asciidoc_headings(lines)))


class OrgDialect(Dialect):
    """Org: headings begin with stars; blocks have none."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the sections of the document."""
        lines = _lines(text)
        return section_facts("org", n_lines, lines, list(_org_headings(lines)))


def _lines(text: str) -> list[str]:
    return [line.removesuffix("\r") for line in text.split("\n")]


def _underline(line: str) -> str:
    """Return the character of an underline or overline, "" for another line."""
    stripped = line.rstrip()
    is_one = (
        len(stripped) >= MIN_RST_UNDERLINE and stripped[0] in _RST_MARKS and stripped == stripped[0] * len(stripped)
    )
    return stripped[0] if is_one else ""


def _rst_headings(lines: Sequence[str]) -> Iterator[Heading]:
    forms: dict[tuple[str, bool], int] = {}
    row = 0
    while row + 1 < len(lines):
        mark = _underline(lines[row])
        if mark and row + 2 < len(lines) and lines[row + 1].strip() and _underline(lines[row + 2]) == mark:
            title, is_over, below = lines[row + 1].strip(), True, row + 3
        elif not mark and _is_rst_title(lines, row):
            title, is_over, below = lines[row].strip(), False, row + 2
            mark = _underline(lines[row + 1])
        else:
            row += 1
            continue
        level = forms.setdefault((mark, is_over), len(forms) + 1)
        name = _target.sub("", _role.sub(r"\1", title)).replace("`", "").replace("*", "").replace("\\", "")
        yield Heading(row, level, " ".join(name.split())[:MAX_NAME_CHARACTERS], below)
        row = below


def _is_rst_title(lines: Sequence[str], row: int) -> bool:
    """Return whether a line is a title by the underline below it."""
    title, below = lines[row].rstrip(), lines[row + 1].rstrip()
    if not title or title[0].isspace() or title.startswith(".. ") or not _underline(below):
        return False
    before = lines[row - 1].strip() if row else ""
    return not before and (len(below) >= len(title) or len(below) > MIN_RST_UNDERLINE)


def _asciidoc_headings(lines: Sequence[str]) -> Iterator[Heading]:
    block = ""
    row = 0
    while row < len(lines):
        line = lines[row].rstrip()
        if block:
            block = "" if line == block else block
        elif (level := _asciidoc_underline(lines, row)) > 0:
            yield Heading(row, level, line.strip()[:MAX_NAME_CHARACTERS], row + 2)
            row += 1
        elif _block_mark.fullmatch(line):
            block = line
        elif line.startswith("```"):
            block = "```"
        elif match := _equals.fullmatch(line):
            name = match[2].rstrip().removesuffix(match[1]).strip().replace("*", "").replace("`", "")
            yield Heading(row, len(match[1]), name[:MAX_NAME_CHARACTERS], row + 1)
        row += 1


def _asciidoc_underline(lines: Sequence[str], row: int) -> int:
    """Return the level of a title that is underlined, 0 for another line."""
    title = lines[row].rstrip()
    below = lines[row + 1].rstrip() if row + 1 < len(lines) else ""
    before = lines[row - 1].strip() if row else ""
    if len(below) < MIN_RST_UNDERLINE or below[0] not in _ASCIIDOC_LEVELS or below != below[0] * len(below):
        return 0
    is_title = title[:1].isalnum() and abs(len(title) - len(below)) <= 1
    if not is_title or (before and not _attribute_or_anchor.match(before)):
        return 0
    return _ASCIIDOC_LEVELS.index(below[0]) + 1


def _org_headings(lines: Sequence[str]) -> Iterator[Heading]:
    block = ""
    for row, line in enumerate(lines):
        if mark := _org_block.match(line):
            name = mark[2].lower()
            if mark[1].lower() == "begin":
                block = block or name
            elif name == block:
                block = ""
        elif not block and (match := _stars.fullmatch(line.rstrip())):
            title = _org_priority.sub("", _org_state.sub("", match[2], count=1), count=1)
            title = _org_link.sub(lambda link: link[1] or link[0].strip("[]"), _org_tags.sub("", title))
            yield Heading(row, len(match[1]), title.strip()[:MAX_NAME_CHARACTERS].strip("*/_=~ "), row + 1)


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return {"rst": RstDialect, "asciidoc": AsciiDocDialect, "org": OrgDialect}[language]()
