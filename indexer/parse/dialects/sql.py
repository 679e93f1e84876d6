"""SQL: the objects of `CREATE` statements, the members of packages, and the names that bodies use.

The grammar loses whole statements of some dialects, so the text is read by its words, without comments, strings and data.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from codecards.indexer.facts import Definition, FileFacts, Reference
from codecards.indexer.parse.comments import clean_comment
from codecards.indexer.parse.dialects.base import Dialect, Extract
from codecards.indexer.parse.dialects.sql_text import SqlText, code_of

KINDS = {
    "table": "table",
    "view": "view",
    "function": "function",
    "procedure": "procedure",
    "trigger": "trigger",
    "index": "index",
    "type": "type",
    "domain": "type",
    "sequence": "variable",
    "package": "module",
    "event": "trigger",
}
MAX_LEAD_LINES = 60
MAX_REFERENCES = 20_000
_PART = r"(?:[\w$#@]{1,128}|\"[^\"\n]{1,128}\"|`[^`\n]{1,128}`|\[[^\]\n]{1,128}\])"
_NAME = rf"{_PART}(?:\s{{0,8}}\.\s{{0,8}}{_PART}){{0,3}}"
_head = re.compile(
    r"(?:^|(?<=;))[ \t]*(?:create|alter(?=\s{1,8}(?:procedure|proc|function|trigger|view)\b))\s{1,80}"
    r"(?:or\s{1,80}(?:replace|alter)\s{1,80})?(?:definer\s{0,8}=\s{0,8}\S{1,200}\s{1,80})?(?:sql\s{1,8}security\s{1,8}\w{1,20}\s{1,80})?"
    r"(?:(?:global|local|temp|temporary|unlogged|external|unique|clustered|editionable|noneditionable"
    r"|nonclustered|materialized|recursive|constraint|force|aggregate|foreign|fulltext|spatial)\s{1,80}){0,4}"
    r"(?P<kind>table|view|function|procedure|proc|trigger|index|type|domain|sequence|package(?:\s{1,80}body)?|event)\s{1,80}"
    rf"(?:concurrently\s{{1,80}})?(?:if\s{{1,80}}not\s{{1,80}}exists\s{{1,80}})?(?P<name>{_NAME})",
    re.IGNORECASE | re.MULTILINE,
)
_member = re.compile(rf"^[ \t]*(?P<kind>procedure|function)\s{{1,80}}(?P<name>{_PART})", re.IGNORECASE | re.MULTILINE)
_ROUTINES = frozenset({"function", "procedure", "proc", "trigger", "package", "event"})
_batch_end = re.compile(r"^[ \t]*(?:go|/)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)
_block_mark = re.compile(
    r";|\bbegin\s{1,8}(?:tran|transaction)\b|\bend\s{1,8}(?:if|loop|while|repeat|for)\b|\bend\s{1,8}case\b"
    r"|\b(?:begin|case|end)\b",
    re.IGNORECASE,
)
_body_start = re.compile(r"\b(?:is|as)\b", re.IGNORECASE)
_used = re.compile(
    rf"\b(?P<word>from|join|into|update|references|table|truncate|using|on|execute\s{{1,8}}(?:function|procedure)|exec|execute|call|perform)"
    rf"\s{{1,80}}(?:only\s{{1,8}}|lateral\s{{1,8}}|if\s{{1,8}}exists\s{{1,8}})?(?P<name>{_NAME})(?P<call>\s{{0,4}}\()?"
    rf"|(?<![\w.$@#\"`\]])(?P<called>{_NAME})(?:(?<!\w)\s{{0,4}}|(?<=\w)\s{{0,1}})\(",
    re.IGNORECASE,
)
_NOT_NAMES = frozenset(
    """select where set values only lateral unnest dual inserted deleted new old each row if exists not null current of stdin stdout
    key by in as on using and or case when then else end begin return returns from table function procedure trigger view index
    check primary foreign unique default constraint references with over partition order group having limit offset union all
    distinct between like is any some array row cast convert coalesce nullif greatest least count sum avg min max now concat
    length lower upper substring substr trim replace round abs floor ceil ceiling power sqrt mod random rand getdate sysdate
    current_timestamp current_date to_char to_date to_number nvl nvl2 decode isnull ifnull iif len datediff dateadd
    row_number rank dense_rank lag lead first_value last_value ntile string_agg array_agg json_agg jsonb_agg group_concat
    json_build_object jsonb_build_object format left right char varchar nvarchar varchar2 nchar text int integer bigint smallint
    tinyint numeric decimal number float real double bit boolean date time timestamp datetime datetime2 binary varbinary
    interval filter within grouping rollup cube sets identity exec execute call perform declare fetch open close loop while
    include print raise raiserror throw elsif elseif exception others type domain sequence generate_series extract position
    overlay overlaps tables columns immediate output
    insert update delete merge create alter drop enum set generated always stored virtual""".split()
)


@dataclass(frozen=True, slots=True)
class _Statement:
    """One definition with the positions of its text."""

    definition: Definition
    start: int
    head_end: int
    end: int


class SqlDialect(Dialect):
    """PostgreSQL, MySQL, SQLite, SQL Server and Oracle, told apart by content."""

    def whole_file(self, text: str, n_lines: int, extract: Extract) -> FileFacts | None:
        """Return the facts of a text, read by its words."""
        code = code_of(text)
        lines = _Lines(text)
        statements = list(_statements(code, lines))
        definitions = tuple(one.definition for one in statements)
        return FileFacts(
            "sql",
            n_lines,
            definitions=definitions,
            references=tuple(_references(code.code, statements, lines)),
            leading_comment=lines.comment(0, min((one.lead_line for one in definitions), default=n_lines + 1) - 1),
        )


class _Lines:
    """Lines of a text by position."""

    def __init__(self, text: str) -> None:
        self.texts = text.split("\n")
        self._text = text
        self._starts = [0]
        for line in self.texts:
            self._starts.append(self._starts[-1] + len(line) + 1)

    def at(self, position: int) -> int:
        """Return the 1-based line of a position."""
        return min(len(self.texts), bisect_right(self._starts, position))

    def lead(self, first: int) -> int:
        """Return the first line of the comments directly above a line."""
        line, inside = first, False
        while line > 1 and first - line < MAX_LEAD_LINES:
            above = self.texts[line - 2].strip()
            if inside:
                inside = not above.startswith("/*")
            elif above.endswith("*/"):
                inside = "/*" not in above
            elif not above.startswith(("--", "# ")):
                break
            line -= 1
        return first if inside else line

    def comment(self, start: int, end: int) -> str:
        """Return the comments at the start of lines, start exclusive, up to the first line that is none."""
        kept: list[str] = []
        inside = False
        for line in self.texts[start : max(start, end)]:
            stripped = line.strip()
            if not (inside or stripped.startswith(("--", "/*", "# ")) or not stripped):
                break
            inside = (inside or stripped.startswith("/*")) and "*/" not in stripped
            if stripped:
                kept.append(stripped)
        return "\n".join(filter(None, (clean_comment(one) for one in _comment_groups(kept))))[:2000]

    def first_line(self, start: int) -> str:
        """Return the rest of the line from a position on."""
        end = self._text.find("\n", start, start + 300)
        return " ".join(self._text[start : end if end >= 0 else start + 300].split())


def _comment_groups(lines: Sequence[str]) -> Iterator[str]:
    """Yield adjacent line comments as one text, and each block comment."""
    group: list[str] = []
    inside = False
    for line in lines:
        starts_block = not inside and line.startswith("/*")
        if starts_block and group:
            yield "\n".join(group)
            group = []
        group.append(line)
        if starts_block or inside:
            inside = "*/" not in line
            if not inside:
                yield "\n".join(group)
                group = []
    if group:
        yield "\n".join(group)


def _statements(code: SqlText, lines: _Lines) -> Iterator[_Statement]:
    """Yield the definitions of `CREATE` statements and the members of packages, parents before children."""
    plain = code.plain
    heads = list(_head.finditer(plain))
    position = 0
    for number, head in enumerate(heads):
        limit = heads[number + 1].start() if number + 1 < len(heads) else len(plain)
        words = head["kind"].lower().split()
        kind = KINDS.get(words[0], "procedure")
        end = _end_of(code, head, limit, words[0])
        start = head.start() + len(head[0]) - len(head[0].lstrip())
        statement = _statement(head, kind, start, end, lines)
        yield statement
        position += 1
        if words[0] == "package":
            is_body = len(words) > 1
            for member in _members(plain, statement, position - 1, lines, is_body=is_body):
                yield member
                position += 1


def _statement(head: re.Match[str], kind: str, start: int, end: int, lines: _Lines) -> _Statement:
    name = _last_part(head["name"])
    first = lines.at(start)
    lead = lines.lead(first)
    definition = Definition(
        name=name,
        qualified_name=name,
        kind=kind,
        parent=-1,
        lead_line=lead,
        first_line=first,
        name_line=lines.at(head.start("name")),
        last_line=max(first, lines.at(end)),
        signature=lines.first_line(start),
        doc=lines.comment(lead - 1, first - 1),
    )
    return _Statement(definition, start, head.end(), end)


def _members(plain: str, package: _Statement, parent: int, lines: _Lines, *, is_body: bool) -> Iterator[_Statement]:
    """Yield the routines of a package."""
    heads = list(_member.finditer(plain, package.head_end, package.end))
    end = 0
    for number, head in enumerate(heads):
        if head.start() < end:
            continue  # inside the routine before it
        limit = heads[number + 1].start() if number + 1 < len(heads) else package.end
        kind = head["kind"].lower() if is_body else "declaration"
        end = _block_end(plain, head.end(), package.end, needs_begin=True) if is_body else -1
        if end < 0:
            end = _semicolon(plain, head.end(), limit)
        start = head.start() + len(head[0]) - len(head[0].lstrip())
        member = _statement(head, kind, start, end, lines)
        qualified = f"{package.definition.name}.{member.definition.name}"
        yield replace(member, definition=replace(member.definition, parent=parent, qualified_name=qualified))


def _last_part(written: str) -> str:
    """Return the last part of a name without its quotes."""
    part = re.findall(_PART, written)[-1]
    return str(part[1:-1] if part[0] in '"`[' else part)


def _end_of(code: SqlText, head: re.Match[str], limit: int, kind: str) -> int:
    """Return the last position of a statement."""
    plain, start = code.plain, head.end()
    batch = _batch_end.search(plain, start, limit)
    stop = batch.start() if batch else limit
    if kind not in _ROUTINES:
        return _semicolon(plain, start, stop)
    if kind == "package":
        name = re.escape(_last_part(head["name"]))
        ends = list(re.finditer(rf"\bend\s{{1,8}}\"?{name}\"?\s{{0,8}};", plain[start:stop], re.IGNORECASE))
        return start + ends[-1].end() - 1 if ends else _last_visible(plain, start, stop)
    if code.dialect == "tsql" or (code.dialect == "oracle" and batch is not None):
        return _last_visible(plain, start, stop)
    needs_begin = code.dialect == "oracle" and _body_start.search(plain, start, stop) is not None
    end = _block_end(plain, start, stop, needs_begin=needs_begin)
    return end if end >= 0 else _last_visible(plain, start, stop)


def _semicolon(plain: str, start: int, stop: int) -> int:
    end = plain.find(";", start, stop)
    return end if end >= 0 else _last_visible(plain, start, stop)


def _last_visible(plain: str, start: int, stop: int) -> int:
    return max(start, start + len(plain[start:stop].rstrip()) - 1)


def _block_end(plain: str, start: int, stop: int, *, needs_begin: bool) -> int:
    """Return the `;` that ends a routine, outside BEGIN … END; -1 if there is none.

    Args:
        plain: Text without comments and strings.
        start: After the name.
        stop: Where the search ends.
        needs_begin: Whether declarations with a `;` of their own come before the body.
    """
    depth, has_begun = 0, not needs_begin
    for mark in _block_mark.finditer(plain, start, stop):
        words = mark[0].lower().split()
        if words[0] == ";":
            if depth <= 0 and has_begun:
                return mark.start()
        elif len(words) > 1:
            depth -= words == ["end", "case"]
        elif words[0] == "end":
            depth -= 1
        else:
            depth += 1
            has_begun = has_begun or words[0] == "begin"
    return -1


def _references(code: str, statements: Sequence[_Statement], lines: _Lines) -> Iterator[Reference]:
    """Yield the tables and routines that bodies and statements use, each once for each definition."""
    spelled = {one.definition.name.casefold(): one.definition.name for one in statements}
    places = [(one.start, number) for number, one in enumerate(statements)]
    starts = [start for start, _ in places]
    seen: set[tuple[int, str]] = set()
    for match in _used.finditer(code):
        if len(seen) >= MAX_REFERENCES:
            return
        written = match["name"] or match["called"]
        at = match.start("name") if match["name"] else match.start("called")
        owner = _owner_at(at, statements, starts)
        if owner >= 0 and at < statements[owner].head_end:
            continue
        kind = statements[owner].definition.kind if owner >= 0 else ""
        word = (match["word"] or "").lower().split()
        if not word and kind in ("table", "type", "index", "variable"):
            continue  # `varchar(9)`
        if word == ["on"] and kind not in ("trigger", "index"):
            continue
        name = spelled.get(_last_part(written).casefold(), _last_part(written))
        if name.casefold() in _NOT_NAMES or name[:1] in "@#" or name.isdigit() or (owner, name) in seen:
            continue
        seen.add((owner, name))
        yield Reference(name, "", "call", lines.at(at), owner)


def _owner_at(position: int, statements: Sequence[_Statement], starts: Sequence[int]) -> int:
    """Return the innermost statement around a position, -1 outside all."""
    number = bisect_right(starts, position) - 1
    while number >= 0:
        if position <= statements[number].end:
            return number
        number = statements[number].definition.parent if statements[number].definition.parent >= 0 else -1
    return -1


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return SqlDialect()
