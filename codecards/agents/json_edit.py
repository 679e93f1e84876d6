"""Edits a JSON file in place: inserts and removes values, and keeps every other byte.

Accepts JSON with `//` and `/* */` comments and trailing commas, as editors allow in their settings. The tree-sitter
grammar gives byte positions and comments; the standard parser checks the syntax and decodes scalars.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import tree_sitter
import tree_sitter_json
from tree_sitter import Node

BOM = b"\xef\xbb\xbf"
BLANKS = b" \t\r\n"
TOKENS = '["{" "}" "[" "]" "," ":" (string) (number) (true) (false) (null)] @found'
_plus_of_exponent = re.compile(rb"(?<=\d[eE])\+(?=\d)")


class JsonSyntaxError(ValueError):
    """The text is not JSON; the message names line and column."""


@dataclass(slots=True)
class JsonEditor:
    """A JSON file that is being edited, and the spans that were inserted."""

    data: bytes
    """UTF-8, with or without a byte order mark."""
    spans: list[tuple[int, int]] = field(default_factory=list)
    """(first byte, length) of the insertions, in order and disjoint."""
    made: list[tuple[str, ...]] = field(default_factory=list)
    """Key paths of the values and containers that were added."""
    _eol: bytes = b"\n"
    _parsed: "_Document | None" = None

    def __post_init__(self) -> None:
        self._eol = b"\r\n" if b"\r\n" in self.data else b"\n"
        if not self.data.removeprefix(BOM).strip():
            self._insert(len(self.data), b"{}" + self._eol)

    def value(self, keys: Sequence[str]) -> object:
        """Return the value at a key path; None if it is missing or a value on the path is not an object.

        Raises:
            JsonSyntaxError: The data is not JSON.
        """
        node = self._find(keys)
        return self._document().value(node) if node is not None else None

    def has(self, keys: Sequence[str]) -> bool:
        """Return whether there is a value at a key path.

        Raises:
            JsonSyntaxError: The data is not JSON.
        """
        return self._find(keys) is not None

    def _document(self) -> "_Document":
        if self._parsed is None or self._parsed.source is not self.data:
            self._parsed = _parse(self.data)
        return self._parsed

    def _find(self, keys: Sequence[str], *, strict: bool = False) -> Node | None:
        """Return the node at a key path; None if it is missing.

        Raises:
            JsonSyntaxError: With `strict`, a value on the path is not an object.
        """
        document = self._document()
        node: Node | None = document.root
        for index, key in enumerate(keys):
            assert node is not None
            if node.type != "object" and strict:
                raise JsonSyntaxError(f"{'.'.join(keys[:index]) or 'the root'} is not an object")
            # Of equal keys the last counts, as in JSON parsers.
            pairs = [one for one in node.named_children if document.key(one) == key] if node.type == "object" else []
            node = pairs[-1].child_by_field_name("value") if pairs else None
            if node is None:
                return None
        return node

    def set_member(self, keys: Sequence[str], value: object) -> None:
        """Add a member that does not exist yet, with the objects on its path.

        Raises:
            JsonSyntaxError: The data is not JSON, or a value on the path is not an object.
        """
        for depth in range(len(keys)):
            if self._find(keys[: depth + 1], strict=True) is None:
                for key in reversed(keys[depth + 1 :]):
                    value = {key: value}
                self.made += [tuple(keys[: n + 1]) for n in range(depth, len(keys))]
                self._add(keys[:depth], keys[depth], value)
                return

    def append(self, keys: Sequence[str], value: object) -> None:
        """Append an element to an array; add the array if it is missing.

        Raises:
            JsonSyntaxError: The data is not JSON, or the value at the path is not an array.
        """
        array = self._find(keys, strict=True)
        if array is None:
            self.set_member(keys, [value])
        elif array.type != "array":
            raise JsonSyntaxError(f"{'.'.join(keys)} is not an array")
        else:
            self._add(keys, "", value)

    def remove_member(self, keys: Sequence[str]) -> bool:
        """Remove a member; return whether it existed."""
        *parents, last = keys
        return self._remove(parents, "object", lambda document, member: document.key(member) == last)

    def remove_elements(self, keys: Sequence[str], accepts: Callable[[object], bool]) -> bool:
        """Remove the elements of an array that `accepts` accepts; return whether there were any."""
        return self._remove(keys, "array", lambda document, member: accepts(document.value(member)))

    def _remove(self, keys: Sequence[str], kind: str, accepts: "Callable[[_Document, Node], bool]") -> bool:
        parent, document = self._find(keys), self._document()
        members = parent.named_children if parent is not None and parent.type == kind else []
        indexes = [index for index, member in enumerate(members) if accepts(document, member)]
        for index in reversed(indexes):
            self._cut(keys, index)
        return bool(indexes)

    def _add(self, keys: Sequence[str], key: str, value: object) -> None:
        """Insert a member after the last one of its parent, in the style of the surrounding text."""
        parent, document = self._find(keys), self._document()
        assert parent is not None
        close = parent.end_byte - 1
        place = len(self.data[:close].rstrip(BLANKS))
        unit = self._unit()
        name = f"{json.dumps(key, ensure_ascii=False)}: ".encode() if parent.type == "object" else b""
        if not parent.named_children:
            base = self._indent_at(parent.start_byte) or b""
            new = self._eol + base + unit + name + self._written(value, base + unit, unit)
            if b"\n" not in self.data[parent.start_byte : close]:
                new += self._eol + base
            self._insert(place, new)
            return
        last = parent.named_children[-1]
        comma, after = document.comma_after(last), last.end_byte
        indent = self._indent_at(last.start_byte, alone=True)
        if indent is None:
            # The members share a line, which may end with a comment.
            place = comma + 1 if comma >= 0 else after
            new = b" " + name + json.dumps(value, ensure_ascii=False).encode()
        else:
            new = self._eol + indent + name + self._written(value, indent, unit)
        self._insert(place, new)
        if comma < 0:
            self._insert(after, b",")

    def _cut(self, keys: Sequence[str], index: int) -> None:
        """Delete a member, the white space before it, and the comma that it needed."""
        parent, document = self._find(keys), self._document()
        assert parent is not None
        members = parent.named_children
        first, after = len(self.data[: members[index].start_byte].rstrip(BLANKS)), members[index].end_byte
        comma = document.comma_after(members[index])
        previous = document.comma_after(members[index - 1]) if index and comma < 0 else -1
        if comma >= 0:
            self._delete(comma, comma + 1)
        self._delete(first if previous != first - 1 else previous, after)
        if 0 <= previous < first - 1:
            self._delete(previous, previous + 1)

    def _indent_at(self, place: int, *, alone: bool = False) -> bytes | None:
        """Return the indent of the line of a place; None if `alone` and the place is not the first text of its line."""
        start = max(self.data.rfind(b"\n", 0, place), self.data.rfind(b"\r", 0, place)) + 1
        line = self.data[start:place]
        indent = line[: len(line) - len(line.lstrip(b" \t"))]
        return None if alone and indent != line else indent

    def _unit(self) -> bytes:
        """Return the indent of one level: that of the first member of the root."""
        members = self._document().root.named_children
        return (self._indent_at(members[0].start_byte, alone=True) or b"  ") if members else b"  "

    def _written(self, value: object, indent: bytes, unit: bytes) -> bytes:
        lines = json.dumps(value, indent=unit.decode(), ensure_ascii=False).encode().split(b"\n")
        return (self._eol + indent).join(lines)

    def _insert(self, place: int, new: bytes) -> None:
        self.data = self.data[:place] + new + self.data[place:]
        spans = [(place, len(new))]
        for first, length in self.spans:
            if first < place < first + length:
                spans += [(first, place - first), (place + len(new), first + length - place)]
            else:
                spans.append((first + len(new) if first >= place else first, length))
        self.spans = _joined(sorted(spans))

    def _delete(self, first: int, after: int) -> None:
        self.data = self.data[:first] + self.data[after:]


@dataclass(frozen=True, slots=True)
class _Document:
    """The syntax tree of valid JSON."""

    source: bytes
    """The file, with comments and trailing commas."""
    strict: bytes
    """The file with spaces in their place."""
    root: Node
    trailing: Mapping[int, int]
    """Closing bracket -> the trailing comma before it."""

    def key(self, member: Node) -> str:
        """Return the key of a member; "" for an element."""
        key = member.child_by_field_name("key")
        return json.loads(self.strict[key.start_byte : key.end_byte]) if key is not None else ""

    def value(self, node: Node) -> object:
        """Return the decoded value of a node."""
        return json.loads(self.strict[node.start_byte : node.end_byte])

    def comma_after(self, member: Node) -> int:
        """Return the position of the comma after a member; -1 without one."""
        following = member.next_sibling
        assert following is not None
        return following.start_byte if following.type == "," else self.trailing.get(following.start_byte, -1)


def _parse(data: bytes) -> _Document:
    """Parse JSON with comments and trailing commas.

    The grammar has comments, but no trailing commas, and it accepts more than JSON. So comments and trailing commas are
    blanked first; the standard parser then checks the rest, and the grammar gives the positions.
    """
    strict, trailing = _blanked(data)
    text = strict.decode("utf-8")
    try:
        json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        before = data[: len(text[: error.pos].encode())].decode("utf-8", "replace")
        line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
        raise JsonSyntaxError(f"line {line}, column {column}: {error.msg}") from None
    except RecursionError:
        raise JsonSyntaxError("the values are nested too deeply") from None
    except ValueError as error:  # NaN, or an integer that is too long
        raise JsonSyntaxError(str(error)) from None
    return _Document(data, strict, _tree(strict).named_children[0], trailing)


def _blanked(data: bytes) -> tuple[bytes, Mapping[int, int]]:
    """Return (the data with spaces for comments and trailing commas, closing bracket -> trailing comma)."""
    strict = bytearray(data)
    if data.startswith(BOM):
        strict[: len(BOM)] = b" " * len(BOM)
    root = _tree(bytes(strict))
    for comment in _captures("(comment) @found", root):
        strict[comment.start_byte : comment.end_byte] = b" " * (comment.end_byte - comment.start_byte)
    trailing = {}
    if root.has_error:  # as after every trailing comma
        tokens = sorted((one.start_byte, one.type) for one in _captures(TOKENS, root) if one.end_byte > one.start_byte)
        for (_, before), (comma, kind), (close, after) in zip(tokens, tokens[1:], tokens[2:], strict=False):
            if kind == "," and after in ("}", "]") and before not in ("{", "[", ",", ":"):
                strict[comma] = ord(" ")
                trailing[close] = comma
    return bytes(strict), trailing


def _captures(query: str, root: Node) -> Sequence[Node]:
    return tree_sitter.QueryCursor(tree_sitter.Query(_grammar(), query)).captures(root).get("found", [])


def _tree(data: bytes) -> Node:
    """Return the root of the syntax tree; the grammar rejects the plus sign of `1e+16`, so it gets a zero there."""
    return tree_sitter.Parser(_grammar()).parse(_plus_of_exponent.sub(b"0", data)).root_node


@cache
def _grammar() -> tree_sitter.Language:
    return tree_sitter.Language(tree_sitter_json.language())


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the spans with adjacent ones merged."""
    joined: list[tuple[int, int]] = []
    for first, length in spans:
        if joined and sum(joined[-1]) == first:
            joined[-1] = (joined[-1][0], joined[-1][1] + length)
        else:
            joined.append((first, length))
    return joined
