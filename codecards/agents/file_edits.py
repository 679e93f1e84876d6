"""Install edits: one file's bytes with our parts, and without them."""

import hashlib
import tomllib

from codecards.agents.catalog import InstallTarget, JsonEntries, JsonEntry, TextBlock
from codecards.agents.json_edit import JsonText, JsonTextError
from codecards.agents.marked_block import check_text, with_block, without_block
from codecards.agents.record import InstalledFile
from codecards.errors import ConfigurationError


def without_ours(
    data: bytes | None, target: InstallTarget, known: InstalledFile | None, name: str, command: str
) -> tuple[bytes | None, bool]:
    """Return a file without what we put in, None if it was made by us and holds nothing else, and whether it is so."""
    if data is None:
        return None, True
    if known is not None and content_hash(data) == known.after:
        return (None, True) if known.created else (_without_spans(data, known), False)
    if isinstance(target, TextBlock):
        if target.toml:
            _check_toml(data, name)
        rest = without_block(data, comment=target.comment, head=target.head, name=name)
    else:
        rest = _without_entries(data, target, known, name, command)
    return rest, rest is None


def with_ours(data: bytes | None, target: InstallTarget, name: str, command: str) -> tuple[bytes, InstalledFile]:
    """Return a file with what we put in, and the record of it but for its owner."""
    if isinstance(target, JsonEntries):
        return _with_entries(data, target, name, command)
    if data is not None:
        check_text(data, name)
        if target.toml:
            _check_toml(data, name)
    done = with_block(data, target.body, comment=target.comment, head=target.head)
    if target.toml:
        _check_toml(done, name, after=True)
    first = len(data or b"")
    return done, InstalledFile("", (), False, (), "", ((first, len(done) - first),))


def _with_entries(data: bytes | None, target: JsonEntries, name: str, command: str) -> tuple[bytes, InstalledFile]:
    text = JsonText(_decoded(data or b"", name))
    notes: list[str] = []
    try:
        for entry in target.entries:
            there = text.find(entry.keys)
            if entry.kind == "element":
                if there is None or not any(_is_ours(one.node.plain(), command) for one in there.members):
                    text.append(entry.keys, entry.value)
                continue
            if there is None:
                text.set_member(entry.keys, entry.value)
            elif entry.kind == "member" and there.plain() != entry.value:
                notes.append(f"has an entry {entry.keys[-1]!r} of its own; it was left as it is")
    except JsonTextError as error:
        raise ConfigurationError(f"{name} can't be changed: {error}. Nothing was changed.") from error
    done = text.text.encode()
    spans = _in_bytes(text)
    return done, InstalledFile("", (), False, (), "", spans, tuple(text.made), tuple(notes))


def _without_entries(
    data: bytes, target: JsonEntries, known: InstalledFile | None, name: str, command: str
) -> bytes | None:
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        return data
    text = JsonText(_decoded(data, name))
    try:
        for entry in target.entries:
            if entry.kind == "element":
                text.remove(entry.keys, lambda value: _is_ours(value, command))
            elif entry.kind == "member" and _may_go(text, entry, known):
                text.remove(entry.keys)
        for keys in sorted(known.made if known else (), key=len, reverse=True):
            node = text.look(keys)
            if node is not None and not node.members:
                text.remove(keys)
        nothing_left = not text.root().members
    except JsonTextError as error:
        raise ConfigurationError(f"{name} can't be read: {error}. Nothing was changed.") from error
    return None if known is not None and known.created and nothing_left else text.text.encode()


def _may_go(text: JsonText, entry: JsonEntry, known: InstalledFile | None) -> bool:
    """Return whether a member is ours: on record, or just what we would write."""
    there = text.look(entry.keys)
    return there is not None and (there.plain() == entry.value or (known is not None and entry.keys in known.made))


def _is_ours(value: object, command: str) -> bool:
    """Return whether an element of a list of hooks calls codecards."""
    if isinstance(value, dict):
        return any(_is_ours(one, command) for one in value.values())
    if isinstance(value, list):
        return any(_is_ours(one, command) for one in value)
    return isinstance(value, str) and (
        value.startswith("codecards hook ") or (bool(command) and value.startswith(f"{command} hook "))
    )


def _without_spans(data: bytes, known: InstalledFile) -> bytes:
    for first, length in reversed(known.spans):
        data = data[:first] + data[first + length :]
    return data


def _in_bytes(text: JsonText) -> tuple[tuple[int, int], ...]:
    return tuple(
        (len(text.text[:first].encode()), len(text.text[first : first + length].encode()))
        for first, length in text.spans
    )


def _check_toml(data: bytes, name: str, *, after: bool = False) -> None:
    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        if after:
            raise ConfigurationError(
                f"{name} defines `mcp_servers` so that no table can be added below ({error}). Nothing was changed; "
                "add the server by hand."
            ) from error
        raise ConfigurationError(f"{name} is no TOML: {error}. Nothing was changed.") from error


def _decoded(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{name} is not UTF-8 (byte {error.start}). Nothing was changed.") from error


def content_hash(data: bytes) -> str:
    """Return the name of some bytes: their SHA-256 in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
