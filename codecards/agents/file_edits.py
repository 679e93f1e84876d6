"""Adds the parts of codecards to a file of an agent, and removes them."""

import hashlib
import tomllib

from codecards.agents.json_edit import BOM, JsonEditor, JsonSyntaxError
from codecards.agents.marked_block import check_text, with_block, without_block
from codecards.agents.record import InstalledFile
from codecards.agents.targets import InstallTarget, JsonEntries, JsonEntry, TextBlock
from codecards.errors import ConfigurationError


def without_ours(
    data: bytes | None, target: InstallTarget, known: InstalledFile | None, name: str, command: str
) -> tuple[bytes | None, bool]:
    """Return (the file without the parts of codecards, whether codecards created it).

    The file is None if codecards created it and it holds nothing else.
    """
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
    """Return (the file with the parts of codecards, its record without path and agents)."""
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
    editor = _editor(data or b"", name)
    notes: list[str] = []
    try:
        for entry in target.entries:
            if entry.kind == "element":
                elements = editor.value(entry.keys)
                if not isinstance(elements, list) or not any(_is_ours(one, command) for one in elements):
                    editor.append(entry.keys, entry.value)
            elif not editor.has(entry.keys):
                editor.set_member(entry.keys, entry.value)
            elif entry.kind == "member" and editor.value(entry.keys) != entry.value:
                notes.append(f"already has another entry {entry.keys[-1]!r}, which was left as it is")
    except JsonSyntaxError as error:
        raise ConfigurationError(f"{name} can't be changed: {error}. Nothing was changed.") from error
    spans = tuple(editor.spans)
    return editor.data, InstalledFile("", (), False, (), "", spans, tuple(editor.made), tuple(notes))


def _without_entries(
    data: bytes, target: JsonEntries, known: InstalledFile | None, name: str, command: str
) -> bytes | None:
    if not data.removeprefix(BOM).strip():
        return data
    editor = _editor(data, name)
    try:
        for entry in target.entries:
            if entry.kind == "element":
                editor.remove_elements(entry.keys, lambda value: _is_ours(value, command))
            elif entry.kind == "member" and _is_own_member(editor, entry, known):
                editor.remove_member(entry.keys)
        for keys in sorted(known.made if known else (), key=len, reverse=True):
            if editor.has(keys) and not _has_members(editor.value(keys)):
                editor.remove_member(keys)
        nothing_left = not _has_members(editor.value(()))
    except JsonSyntaxError as error:
        raise ConfigurationError(f"{name} can't be read: {error}. Nothing was changed.") from error
    return None if known is not None and known.created and nothing_left else editor.data


def _is_own_member(editor: JsonEditor, entry: JsonEntry, known: InstalledFile | None) -> bool:
    """Return whether a member is on record, or has exactly the value that `install` writes."""
    if not editor.has(entry.keys):
        return False
    return editor.value(entry.keys) == entry.value or (known is not None and entry.keys in known.made)


def _has_members(value: object) -> bool:
    """Return whether a value is an object or array with members."""
    return isinstance(value, dict | list) and bool(value)


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


def _check_toml(data: bytes, name: str, *, after: bool = False) -> None:
    try:
        tomllib.loads(data.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        if after:
            raise ConfigurationError(
                f"{name} defines `mcp_servers` in a way that allows no further table ({error}). Nothing was changed; "
                "add the server by hand."
            ) from error
        raise ConfigurationError(f"{name} is not TOML: {error}. Nothing was changed.") from error


def _editor(data: bytes, name: str) -> JsonEditor:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{name} is not UTF-8 (byte {error.start}). Nothing was changed.") from error
    return JsonEditor(data)


def content_hash(data: bytes) -> str:
    """Return the SHA-256 of some bytes in hexadecimal."""
    return hashlib.sha256(data).hexdigest()
