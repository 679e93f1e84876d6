"""Recovers C functions that the parser lost in broken regions, by their heads."""

import re
from dataclasses import replace

from codecards.indexer.facts import Definition, FileFacts

_head = re.compile(
    r"^(?![ \t]*(?:typedef|return|else|case|goto|if|for|while|switch|do)\b)(?:[A-Za-z_][\w \t*&:<>,()\"-]{0,200}?[ \t*&])?"
    r"(?P<name>[A-Za-z_~][\w:~]*)[ \t]*\((?P<parameters>[^;{}]{0,2000}?)\)[ \t\w]{0,80}\s{0,80}\{",
    re.MULTILINE,
)
_hidden = re.compile(
    r"/\*.*?(?:\*/|\Z)|//[^\n]*|(?<!\\)\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"|(?<!\\)'(?:\\.|[^'\\\n])++'|^[ \t]*#(?:[^\n\\]|\\.)*",
    re.DOTALL | re.MULTILINE,
)
_first_argument = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:,|\Z)")
_visible = re.compile(r"[^\n]")
_brace = re.compile(r"[{}]")
_KEYWORDS = frozenset("if for while switch return sizeof defined else do case catch".split())
MAX_LOST = 2_000
"""Maximum number of functions recovered from one file."""


def with_lost_functions(facts: FileFacts, text: str) -> FileFacts:
    """Return the facts with a definition for each function head at the start of a line that lacks one.

    Args:
        facts: Facts of a file that could not be parsed completely.
        text: The text that was parsed.
    """
    plain = _hidden.sub(lambda match: _visible.sub(" ", match[0]), text)
    known = {(one.name, one.name_line) for one in facts.definitions}
    names = {one.name for one in facts.definitions if one.kind in ("function", "method", "constructor", "macro")}
    lost: list[Definition] = []
    position = row = 0
    end_of_last = -1
    for match in _head.finditer(plain):
        if match.start() < end_of_last or len(lost) >= MAX_LOST:
            continue
        row += plain.count("\n", position, match.start("name"))
        position = match.start("name")
        owner, _, name = match["name"].rpartition("::")
        end = _end_of_body(plain, match.end() - 1)
        if end < 0:
            continue
        if (name, row + 1) in known:
            end_of_last = end
            continue
        if name.isupper():  # `DEFINE_CALL3(open, int flags) {` defines its first argument
            argument = _first_argument.match(match["parameters"])
            name = argument[1] if argument else ""
        if not name or name in _KEYWORDS or name in names:
            continue
        end_of_last = end
        first = row - plain.count("\n", match.start(), match.start("name"))
        head = " ".join(text[match.start() : match.end() - 1].split())
        qualified = f"{owner.replace('::', '.')}.{name}" if owner else name
        lost.append(
            Definition(
                name=name,
                qualified_name=qualified,
                kind="method" if owner else "function",
                parent=-1,
                lead_line=first + 1,
                first_line=first + 1,
                name_line=row + 1,
                last_line=row + plain.count("\n", match.start("name"), end) + 1,
                signature=head[:300],
                exported=not head.startswith("static"),
            )
        )
    return _merged(facts, lost) if lost else facts


def _end_of_body(plain: str, start: int) -> int:
    """Return the position of the brace that closes the one at start, -1 if it is not closed."""
    depth = 0
    for match in _brace.finditer(plain, start):
        depth += 1 if match[0] == "{" else -1
        if depth == 0:
            return match.start()
    return -1


def _merged(facts: FileFacts, lost: list[Definition]) -> FileFacts:
    """Return the facts with the lost definitions inserted by line, and all positions adjusted."""
    old = facts.definitions
    lost = [one for one in lost if not any(_crosses(one, other) for other in old)]
    if not lost:
        return facts
    tagged = [(one.first_line, -one.last_line, 1, number, one) for number, one in enumerate(old)]
    tagged += [(one.first_line, -one.last_line, 0, number, one) for number, one in enumerate(lost)]
    tagged.sort(key=lambda entry: entry[:4])
    moved = {number: position for position, (_, _, is_old, number, _) in enumerate(tagged) if is_old}
    moved[-1] = -1
    new = {number: position for position, (_, _, is_old, number, _) in enumerate(tagged) if not is_old}
    definitions = [replace(one, parent=moved[one.parent]) if is_old else one for _, _, is_old, _, one in tagged]
    spans = [(one.first_line, one.last_line, new[number]) for number, one in enumerate(lost)]

    def owner_at(owner: int, line: int) -> int:
        if owner >= 0:
            return moved[owner]
        return next((position for first, last, position in spans if first <= line <= last), -1)

    return replace(
        facts,
        definitions=tuple(definitions),
        references=tuple(replace(one, owner=owner_at(one.owner, one.line)) for one in facts.references),
        imports=tuple(replace(one, scope=moved[one.scope]) for one in facts.imports),
        bindings=tuple(replace(one, scope=owner_at(one.scope, one.line)) for one in facts.bindings),
    )


def _crosses(one: Definition, other: Definition) -> bool:
    """Return whether a recovered function conflicts with a known definition."""
    is_inside = other.first_line <= one.first_line and one.last_line <= other.last_line
    contains = one.first_line <= other.first_line and other.last_line <= one.last_line
    if is_inside:
        return other.kind not in ("namespace", "class", "struct")
    overlaps = one.first_line <= other.last_line and other.first_line <= one.last_line
    return overlaps and not (
        contains and other.kind in ("variable", "declaration", "constant", "struct", "enum", "type")
    )
