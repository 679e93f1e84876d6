"""SQL: the objects of `CREATE` statements.

The grammar loses whole statements of some dialects (procedures, triggers, packages), so the heads of statements are also
searched by a regular expression, with strings, comments and `$$` bodies blanked.
"""

import re
from dataclasses import replace

from codecards.indexer.facts import Definition, FileFacts
from codecards.indexer.parse.dialects.base import Dialect

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
_hidden = re.compile(r"--[^\n]*|/\*.*?\*/|(\$\w*\$).*?\1|'(?:[^'\\]|''|\\.)*'|(?<![\w\]])N'(?:[^']|'')*'", re.DOTALL)
_head = re.compile(
    r"^[ \t]*create\s+(?:or\s+(?:replace|alter)\s+)?(?:definer\s*=\s*\S+\s+)?"
    r"(?:(?:global|local|temp|temporary|unlogged|external|unique|clustered"
    r"|nonclustered|materialized|recursive|constraint|editionable|force|aggregate|foreign|fulltext|spatial)\s+)*"
    r"(?P<kind>table|view|function|procedure|proc|trigger|index|type|domain|sequence|package(?:\s+body)?|event)\s+"
    r"(?:concurrently\s+)?(?:if\s+not\s+exists\s+)?(?P<name>(?:[\w$#]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\])(?:\s*\.\s*(?:[\w$#]+|\"[^\"]+\"|`[^`]+`|\[[^\]]+\]))*)",
    re.IGNORECASE | re.MULTILINE,
)
_routines = frozenset({"function", "procedure", "proc", "trigger", "package", "event"})
_batch_end = re.compile(r"^[ \t]*(?:go|/)[ \t]*\r?$", re.IGNORECASE | re.MULTILINE)


class SqlDialect(Dialect):
    """The common subset of PostgreSQL, MySQL, SQLite, SQL Server and Oracle."""

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with the statements that the parser lost."""
        known = {(one.name.casefold(), one.name_line) for one in facts.definitions}
        scanned = [one for one in _statements(text) if (one.name.casefold(), one.name_line) not in known]
        names = {one.name_line: one for one in scanned}
        kept = [one for one in facts.definitions if one.name_line not in names]
        whole = {one.name_line: one for one in _statements(text)}
        # The grammar ends a routine at the first `;` of a body that it cannot parse.
        kept = [
            replace(one, last_line=max(one.last_line, whole[one.name_line].last_line))
            if one.name_line in whole
            else one
            for one in kept
        ]
        definitions = tuple(sorted([*kept, *scanned], key=lambda one: one.first_line))
        flat = tuple(replace(one, parent=-1, qualified_name=one.name) for one in definitions)
        return replace(facts, definitions=flat, references=(), problems=() if scanned or kept else facts.problems)


def _statements(text: str) -> list[Definition]:
    """Return the definitions of `CREATE` statements."""
    plain = _hidden.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    found = []
    heads = list(_head.finditer(plain))
    for number, head in enumerate(heads):
        limit = heads[number + 1].start() if number + 1 < len(heads) else len(plain)
        kind = head["kind"].lower().split()[0]
        end = _statement_end(plain, head.end(), limit, is_routine=kind in _routines)
        start = head.start() + len(head[0]) - len(head[0].lstrip())
        first, last = plain.count("\n", 0, start) + 1, plain.count("\n", 0, end) + 1
        name = re.split(r"\s*\.\s*", head["name"])[-1].strip('"`[]')
        lead = _lead(text, first)
        found.append(
            Definition(
                name=name,
                qualified_name=name,
                kind=KINDS.get(kind, "procedure"),
                parent=-1,
                lead_line=lead,
                first_line=first,
                name_line=plain.count("\n", 0, head.start("name")) + 1,
                last_line=last,
                signature=" ".join(text[start : start + 300].partition("\n")[0].split())[:300],
                doc=_comment(text, lead, first),
            )
        )
    return found


def _statement_end(plain: str, start: int, limit: int, *, is_routine: bool) -> int:
    """Return the end of a statement: its `;` outside BEGIN … END, the end of the batch, else of the text."""
    depth, position = 0, start
    marks = re.compile(r";|\b(?:begin|case|end)\b", re.IGNORECASE) if is_routine else re.compile(";")
    for mark in marks.finditer(plain, start, limit):
        word = mark[0].lower()
        if word == ";":
            position = mark.end() - 1
            if depth <= 0:
                return position
        else:
            depth += -1 if word == "end" else 1
    batch = _batch_end.search(plain, start, limit)
    end = batch.start() if batch else limit
    return max(start, start + len(plain[start:end].rstrip()) - 1)


def _lead(text: str, first_line: int) -> int:
    lines = text.split("\n")
    line = first_line
    while line > 1 and lines[line - 2].lstrip().startswith("--"):
        line -= 1
    return line


def _comment(text: str, lead: int, first_line: int) -> str:
    return "\n".join(line.strip().lstrip("-").strip() for line in text.split("\n")[lead - 1 : first_line - 1])[:2000]


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return SqlDialect()
