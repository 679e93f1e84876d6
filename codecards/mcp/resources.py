"""MCP resources: digests of files, and notes, for hosts that attach them to a conversation."""

from collections.abc import Mapping
from urllib.parse import quote, unquote, urlsplit

import mcp_types as types

from codecards.errors import UsageError
from codecards.mcp.served_project import ServedProject
from codecards.untrusted_text import fenced, on_one_line

SCHEME = "codecards"
MAX_LISTED_NOTES = 50
MAX_TOKENS = 8_000


def templates() -> list[types.ResourceTemplate]:
    """Return the URI templates of resources."""
    return [
        types.ResourceTemplate(
            name="digest",
            uri_template=f"{SCHEME}://{{project}}/digest/{{+path}}",
            mime_type="text/plain",
            description="The digest of a file: imports, signatures, notable comments",
        ),
        types.ResourceTemplate(
            name="note",
            uri_template=f"{SCHEME}://{{project}}/note/{{id}}",
            mime_type="text/plain",
            description="A conclusion of an earlier task",
        ),
    ]


def list_resources(projects: Mapping[str, ServedProject]) -> list[types.Resource]:
    """Return the newest notes of every project."""
    return [
        types.Resource(
            name=note.note_id,
            title=on_one_line(note.title),
            mime_type="text/plain",
            uri=f"{SCHEME}://{quote(name, safe='')}/note/{quote(note.note_id, safe='')}",
        )
        for name, project in projects.items()
        for note in project.notes()[:MAX_LISTED_NOTES]
    ]


def read_resource(projects: Mapping[str, ServedProject], uri: str) -> str:
    """Return a resource as fenced text.

    Raises:
        UsageError: The URI is not that of a resource.
        TargetNotFoundError: There is no such file or note.
    """
    parts = urlsplit(uri)
    project = projects.get(unquote(parts.netloc))
    kind, _, name = unquote(parts.path, errors="surrogateescape").lstrip("/").partition("/")
    if parts.scheme != SCHEME or project is None or kind not in ("digest", "note") or not name:
        raise UsageError(
            f"{on_one_line(uri)[:200]!r} is not a resource; the URIs are {SCHEME}://PROJECT/digest/PATH and {SCHEME}://PROJECT/note/ID"
        )
    if kind == "note":
        # Few hosts ask for notes, and the module loads yaml.
        from codecards.router.notes.markdown import write_note
        from codecards.router.notes.note import note_state

        note = project.note(name)
        return fenced(write_note(note).decode(), note=note.note_id, state=note_state(note).value)
    from codecards.router.compress.digests import fit_digest

    path, digest = project.digest(name)
    return fenced(fit_digest(digest, MAX_TOKENS), path=path)
