"""Note files: Markdown with YAML front matter, readable and editable by hand, and read back without loss."""

import re
from codecs import BOM_UTF8
from typing import Any

import yaml

from codecards.errors import StateFileError
from codecards.router.notes.note import Anchor, Note, Revision

FORMAT = 1
_frame = re.compile(r"\A---\r?\n(?P<head>.*?\r?\n)---\r?\n(?P<body>.*)\Z", re.DOTALL)
# The C loader reads a thousand notes ten times faster. All wheels have it, but not every build from source.
_Loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


def write_note(note: Note) -> bytes:
    """Return the content of a note's file."""
    head: dict[str, object] = {
        "format": FORMAT,
        "id": note.note_id,
        "title": note.title,
        "created": note.created,
        "updated": note.updated,
        "source": note.source,
        "confidence": note.confidence,
        "outcome": note.outcome,
        "archived": note.archived,
        "anchors": [
            {"symbol": anchor.symbol, "path": anchor.path, "syntax": anchor.syntax_hash} for anchor in note.anchors
        ],
        "files": list(note.files),
        "rejected": list(note.rejected),
        "verification": note.verification,
        "leftovers": note.leftovers,
        "history": [{"replaced": revision.replaced, "text": revision.text} for revision in note.history],
    }
    kept = {
        key: value
        for key, value in head.items()
        if (value not in ("", []) and value is not False) or key in ("format", "id")
    }
    text = yaml.safe_dump(kept, allow_unicode=True, sort_keys=False, width=100)
    title = f"# {note.title}\n\n" if note.title else ""
    # Lone surrogates (from invalid command-line arguments) are kept in the body; YAML does not allow them.
    return f"---\n{_printable(text)}---\n{title}".encode() + note.text.encode("utf-8", "surrogatepass") + b"\n"


def read_note(data: bytes, name: str) -> Note:
    """Return the note of a file.

    Raises:
        StateFileError: The front matter is missing or can't be read; the file is left unchanged.
    """
    data = data.removeprefix(BOM_UTF8)
    match = _frame.match(data.decode("utf-8", "surrogatepass" if _has_surrogates(data) else "replace"))
    if match is None:
        raise StateFileError(f"{name} has no front matter between lines of ---.")
    try:
        head = yaml.load(match["head"], Loader=_Loader)  # the base loader returns only strings, lists and maps
    except yaml.YAMLError as error:
        raise StateFileError(f"The front matter of {name} can't be read: {error}") from error
    if not isinstance(head, dict) or not head.get("id"):
        raise StateFileError(f"The front matter of {name} has no id.")
    if str(head.get("format", FORMAT)) != str(FORMAT):
        raise StateFileError(f"{name} has format {head.get('format')}; this version reads {FORMAT}.")
    body = match["body"]
    title = str(head.get("title", ""))
    heading = next((f"# {title}{end}" for end in ("\n\n", "\r\n\r\n") if body.startswith(f"# {title}{end}")), "")
    body = body.removeprefix(heading) if title else body
    return Note(
        note_id=str(head["id"]),
        title=title,
        text=body.removesuffix("\n"),
        created=str(head.get("created", "")),
        anchors=tuple(
            Anchor(str(row.get("symbol", "")), str(row.get("path", "")), str(row.get("syntax", "")))
            for row in _maps(head.get("anchors"))
        ),
        files=_strings(head.get("files")),
        rejected=_strings(head.get("rejected")),
        verification=str(head.get("verification", "")),
        leftovers=str(head.get("leftovers", "")),
        outcome=str(head.get("outcome", "")),
        confidence=_number(head.get("confidence")),
        source=str(head.get("source", "user")),
        updated=str(head.get("updated", "")),
        archived=str(head.get("archived", "")).lower() in ("true", "yes"),
        history=tuple(
            Revision(str(row.get("text", "")), str(row.get("replaced", ""))) for row in _maps(head.get("history"))
        ),
    )


def _has_surrogates(data: bytes) -> bool:
    try:
        data.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        return False
    return True


def _printable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def _maps(value: object) -> list[dict[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []


def _strings(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,) if value else ()
    return tuple(str(item) for item in value) if isinstance(value, list) else ()


def _number(value: object) -> float:
    try:
        return min(1.0, max(0.0, float(str(value)))) if value is not None else 1.0
    except ValueError:
        return 1.0
