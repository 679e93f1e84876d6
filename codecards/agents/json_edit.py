"""JSON text: values put into a JSON file and taken out of it, every other byte kept.

Reads JSON with `//` and `/* */` comments and trailing commas, as editors' settings have them. No library at hand edits
such a file without writing it anew, so this one scans for positions and inserts at them.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

MAX_DEPTH = 100
_blank = re.compile(r"(?:[ \t\r\n]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_string = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_word = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")


class JsonTextError(ValueError):
    """The text is no JSON; the message names line and column."""


@dataclass(frozen=True, slots=True)
class Node:
    """A value and where it stands."""

    kind: str
    """"object", "array" or "scalar"."""
    first: int
    after: int
    """text[first:after] is the value."""
    members: tuple["Member", ...] = ()
    comma: int = -1
    """Where a trailing comma stands; -1 without one."""
    value: object = None
    """Of a scalar."""

    def member(self, key: str) -> "Member | None":
        """Return the member of a key; the last one, as readers of JSON take it."""
        return next((one for one in reversed(self.members) if one.key == key), None)

    def plain(self) -> object:
        """Return the value without its places."""
        if self.kind == "object":
            return {one.key: one.node.plain() for one in self.members}
        if self.kind == "array":
            return [one.node.plain() for one in self.members]
        return self.value


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object, or one element of an array."""

    key: str
    """"" in an array."""
    first: int
    """Where it starts: at its key, or its value."""
    node: Node


@dataclass(slots=True)
class JsonText:
    """A JSON text that is being edited, and which parts of it were put in."""

    text: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    """(first, length) of what was put in, by place, none touching another."""
    made: list[tuple[str, ...]] = field(default_factory=list)
    """Keys of containers and values that had to be made."""
    _eol: str = "\n"
    _parsed: tuple[str, Node] | None = None

    def __post_init__(self) -> None:
        self._eol = "\r\n" if "\r\n" in self.text else "\n"
        if not self.text.removeprefix("\ufeff").strip():
            self._insert(len(self.text), "{}" + self._eol)

    def root(self) -> Node:
        """Return the value of the text.

        Raises:
            JsonTextError: It is no JSON.
        """
        if self._parsed is None or self._parsed[0] is not self.text:
            self._parsed = (self.text, parse(self.text))
        return self._parsed[1]

    def find(self, keys: Sequence[str]) -> Node | None:
        """Return the value at some keys; None if there is none.

        Raises:
            JsonTextError: It is no JSON, or something on the way is no object.
        """
        node = self.root()
        for index, key in enumerate(keys):
            if node.kind != "object":
                raise JsonTextError(f"{'.'.join(keys[:index]) or 'the root'} is no object")
            member = node.member(key)
            if member is None:
                return None
            node = member.node
        return node

    def look(self, keys: Sequence[str]) -> Node | None:
        """Return the value at some keys; None if there is none, also where something on the way is no object.

        Raises:
            JsonTextError: It is no JSON.
        """
        node: Node | None = self.root()
        for key in keys:
            member = node.member(key) if node is not None and node.kind == "object" else None
            node = member.node if member is not None else None
        return node

    def set_member(self, keys: Sequence[str], value: object) -> None:
        """Put in a member that is not there yet, and the objects on its way.

        Raises:
            JsonTextError: It is no JSON, or something on the way is no object.
        """
        for depth in range(len(keys)):
            if self.find(keys[: depth + 1]) is None:
                for key in reversed(keys[depth + 1 :]):
                    value = {key: value}
                self.made += [tuple(keys[: n + 1]) for n in range(depth, len(keys))]
                parent = self.find(keys[:depth])
                assert parent is not None
                self._add(parent, keys[depth], value)
                return

    def append(self, keys: Sequence[str], value: object) -> None:
        """Put one more element into an array, and the array itself if it is missing.

        Raises:
            JsonTextError: It is no JSON, or what is there is no array.
        """
        array = self.find(keys)
        if array is None:
            self.set_member(keys, [value])
        elif array.kind != "array":
            raise JsonTextError(f"{'.'.join(keys)} is no array")
        else:
            self._add(array, "", value)

    def remove(self, keys: Sequence[str], of: Callable[[object], bool] | None = None) -> bool:
        """Take out a member, or of an array the elements that `of` accepts; return whether there were any."""
        *parents, last = keys
        if of is None:
            parent = self.look(parents)
            members = [one for one in parent.members if one.key == last] if parent and parent.kind == "object" else []
        else:
            parent = self.look(keys)
            members = (
                [one for one in parent.members if of(one.node.plain())] if parent and parent.kind == "array" else []
            )
        for member in reversed(members):
            parent = self.look(parents if of is None else keys)
            assert parent is not None
            self._cut(parent, next(n for n, one in enumerate(parent.members) if one.first == member.first))
        return bool(members)

    def _add(self, parent: Node, key: str, value: object) -> None:
        """Put a member after the last one of its parent, in the style of the text around it."""
        close = parent.after - 1
        tail = len(self.text[:close].rstrip(" \t\r\n"))
        base = self._indent_at(parent.first) or ""
        unit = self._unit()
        name = f"{json.dumps(key, ensure_ascii=False)}: " if parent.kind == "object" else ""
        if not parent.members:
            inner = base + unit
            new = self._eol + inner + name + self._written(value, inner, unit)
            if "\n" not in self.text[parent.first : close]:
                new += self._eol + base
            self._insert(tail, new)
            return
        last = parent.members[-1]
        found = self._indent_at(last.first, alone=True)
        if found is None:
            # All on one line, perhaps with a comment at its end.
            tail = parent.comma + 1 if parent.comma >= 0 else last.node.after
            new = " " + name + json.dumps(value, ensure_ascii=False)
        else:
            new = self._eol + found + name + self._written(value, found, unit)
        self._insert(tail, new)
        if parent.comma < 0:
            self._insert(last.node.after, ",")

    def _cut(self, parent: Node, index: int) -> None:
        """Take a member out, with the comma and the white space that came with it."""
        member = parent.members[index]
        first = len(self.text[: member.first].rstrip(" \t\r\n"))
        after = member.node.after
        comma = _blank.match(self.text, after)
        assert comma is not None
        following = comma.end() if self.text[comma.end() : comma.end() + 1] == "," else -1
        previous = -1
        if following < 0 and index:
            place = _blank.match(self.text, parent.members[index - 1].node.after)
            assert place is not None
            previous = place.end()
        if following >= 0:
            self._delete(following, following + 1)
        self._delete(first if previous != first - 1 else previous, after)
        if 0 <= previous < first - 1:
            self._delete(previous, previous + 1)

    def _indent_at(self, place: int, *, alone: bool = False) -> str | None:
        """Return the white space that starts the line of a place; None if `alone` and something else is before it."""
        start = max(self.text.rfind("\n", 0, place), self.text.rfind("\r", 0, place)) + 1
        line = self.text[start:place]
        indent = line[: len(line) - len(line.lstrip(" \t"))]
        if alone and indent != line:
            return None
        return indent

    def _unit(self) -> str:
        root = self.root()
        return (self._indent_at(root.members[0].first, alone=True) or "  ") if root.members else "  "

    def _written(self, value: object, indent: str, unit: str) -> str:
        lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
        return (self._eol + indent).join(lines)

    def _insert(self, place: int, new: str) -> None:
        self.text = self.text[:place] + new + self.text[place:]
        spans: list[tuple[int, int]] = []
        done = False
        for first, length in self.spans:
            if not done and first <= place <= first + length:
                spans.append((first, length + len(new)))
                done = True
                continue
            if not done and place < first:
                spans.append((place, len(new)))
                done = True
            spans.append((first + len(new), length) if done else (first, length))
        if not done:
            spans.append((place, len(new)))
        self.spans = _joined(spans)

    def _delete(self, first: int, after: int) -> None:
        self.text = self.text[:first] + self.text[after:]


def parse(text: str) -> Node:
    """Return the value of a JSON text with its places.

    Raises:
        JsonTextError: It is no JSON.
    """
    first = _skip(text, 1 if text.startswith("\ufeff") else 0)
    node = _value(text, first, 0)
    after = _skip(text, node.after)
    if after != len(text):
        raise _error(text, after, "more text after the end")
    return node


def _value(text: str, place: int, depth: int) -> Node:
    if depth > MAX_DEPTH:
        raise _error(text, place, f"more than {MAX_DEPTH} levels")
    mark = text[place : place + 1]
    if mark in ("{", "[") and mark:
        return _container(text, place, depth)
    found = _string.match(text, place) or _word.match(text, place)
    if found is None:
        raise _error(text, place, "a value is expected")
    return Node("scalar", place, found.end(), value=json.loads(found[0]))


def _container(text: str, first: int, depth: int) -> Node:
    is_object = text[first] == "{"
    close = "}" if is_object else "]"
    members: list[Member] = []
    comma = -1
    place = _skip(text, first + 1)
    while text[place : place + 1] != close:
        if members and comma < 0:
            raise _error(text, place, f"',' or '{close}' is expected")
        start, key = place, ""
        if is_object:
            found = _string.match(text, place)
            if found is None:
                raise _error(text, place, "a key in quotes is expected")
            key = json.loads(found[0])
            place = _skip(text, found.end())
            if text[place : place + 1] != ":":
                raise _error(text, place, "':' is expected")
            place = _skip(text, place + 1)
        node = _value(text, place, depth + 1)
        members.append(Member(key, start, node))
        place = _skip(text, node.after)
        comma = place if text[place : place + 1] == "," else -1
        if comma >= 0:
            place = _skip(text, place + 1)
    return Node("object" if is_object else "array", first, place + 1, tuple(members), comma)


def _skip(text: str, place: int) -> int:
    found = _blank.match(text, place)
    assert found is not None
    return found.end()


def _error(text: str, place: int, what: str) -> JsonTextError:
    line = text.count("\n", 0, place) + 1
    column = place - text.rfind("\n", 0, place)
    return JsonTextError(f"line {line}, column {column}: {what}")


def _joined(spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    normalised_name: list[tuple[int, int]] = []
    for first, length in spans:
        if normalised_name and normalised_name[-1][0] + normalised_name[-1][1] == first:
            normalised_name[-1] = (normalised_name[-1][0], normalised_name[-1][1] + length)
        else:
            normalised_name.append((first, length))
    return normalised_name
