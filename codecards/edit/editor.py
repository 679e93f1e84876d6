"""Edits files inside a project: replaces a piece of text, or writes a whole file.

**Invariant:** nothing is written outside the root, through a link, into `.git` or `.codecards`. A failed edit leaves
the file unchanged. A file keeps its encoding, byte order mark, line ends and mode.
"""

import codecs
import os
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from codecards.edit.replace import line_end_of, replace_piece, with_line_ends
from codecards.errors import AmbiguousTargetError, EditError, OutsideProjectError, TargetNotFoundError
from codecards.indexer.atomic_files import replace_file
from codecards.indexer.index_folder import FOLDER_NAME
from codecards.indexer.problems import Problem
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.walk.files import DiscoverySettings, SourceFile, read_file, resolve_inside
from codecards.indexer.walk.secret_names import is_secret_file

PROTECTED_FOLDERS = frozenset({".git", ".hg", ".svn", FOLDER_NAME})
"""Their content belongs to other programs, or is run by them."""
_BOMS = {
    "utf-8": codecs.BOM_UTF8,
    "utf-16-le": codecs.BOM_UTF16_LE,
    "utf-16-be": codecs.BOM_UTF16_BE,
    "utf-32-le": codecs.BOM_UTF32_LE,
    "utf-32-be": codecs.BOM_UTF32_BE,
}


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A completed edit."""

    path: str
    """From the root, with slashes."""
    kind: str
    """"replace", "write" or "create", as for `Session.record`."""
    status: str
    """A sentence for the model."""
    first_line: int
    last_line: int


@dataclass(frozen=True, slots=True)
class _OpenFile:
    """The text of a file, with what is needed to write it back."""

    text: str
    encoding: str
    bom: bytes


class Editor:
    """Edits files of one project; paths may be inexact where that is safe.

    Args:
        root: The project's folder.
        resolve_path: Finds the file that a written path means: `engine.project.resolve_path`.
        settings: Which files may be read.
    """

    def __init__(
        self, root: Path, resolve_path: Callable[[str], str], settings: DiscoverySettings | None = None
    ) -> None:
        self._root = root.resolve()
        self._resolve_path = resolve_path
        self._settings = settings or DiscoverySettings()

    def replace(self, path: str, search: str, replacement: str) -> FileEdit:
        """Replace a piece of text that occurs once in a file.

        Raises:
            TextNotFoundError: The text is not in the file.
            SeveralPlacesError: It occurs several times.
            EditError: The file can't be edited, or the search is empty.
            TargetNotFoundError: There is no such file.
            AmbiguousTargetError: The path may mean several files.
            OutsideProjectError: The path leads outside the project.
        """
        path = self._resolve_path(path)
        place = self._place(path)
        file = self._read(path)
        edit = replace_piece(file.text, search, replacement, where=path)
        self._write(place, edit.text, file)
        notice = f" ({edit.notice})" if edit.notice else ""
        lines = f"lines {edit.first_line}-{edit.last_line} of {path} are new{notice}"
        return FileEdit(path, "replace", lines, edit.first_line, edit.last_line)

    def write(self, path: str, content: str) -> FileEdit:
        """Replace the whole text of a file, or create the file.

        The path must be exact: a bare name that matches a file elsewhere could mean that file or a new one, and
        nothing is overwritten on a guess. `./name` names a new file at the root.

        Raises:
            AmbiguousTargetError: The path may mean a file elsewhere.
            EditError: The file can't be written.
            OutsideProjectError: The path leads outside the project.
        """
        exact = path.removeprefix("./") != path
        plain = os.path.normpath(path).replace(os.sep, "/")
        place = self._place(plain)
        if place.is_file():
            file = self._read(plain)
            self._write(place, with_line_ends(content, line_end_of(file.text)), file)
            return FileEdit(plain, "write", f"wrote {plain}", 1, content.count("\n") + 1)
        if not exact:
            self._refuse_guess(path, plain)
        self._create(place, content)
        return FileEdit(plain, "create", f"created {plain}", 1, content.count("\n") + 1)

    def _refuse_guess(self, written: str, plain: str) -> None:
        try:
            meant = self._resolve_path(written)
        except TargetNotFoundError:
            return
        raise AmbiguousTargetError(written, [meant, f"./{plain}"])

    def _place(self, path: str) -> Path:
        """Return the location of a path that may be written.

        Raises:
            EditError: The path is protected.
            OutsideProjectError: The path leads outside the project or through a link.
        """
        place = resolve_inside(self._root, path)
        if place != self._root / path:
            raise OutsideProjectError(f"{path!r} leads through a link; name the file itself")
        parts = [part.casefold() for part in place.relative_to(self._root).parts]
        if not parts or PROTECTED_FOLDERS.intersection(parts):
            raise EditError(f"{path} belongs to version control or to the index and can't be edited.")
        if is_secret_file(path) and not self._settings.index_secrets:
            raise EditError(f"{path} holds secrets, by its name; edit it yourself.")
        return place

    def _read(self, path: str) -> _OpenFile:
        data = read_file(self._root, SourceFile(path, 0, 0, 0), self._settings)
        if isinstance(data, Problem):
            raise EditError(f"{path} can't be edited: {data.detail or data.reason.value}.")
        decoded = decode(data)
        if not isinstance(decoded, DecodedText):
            raise EditError(f"{path} can't be edited: it is not text ({decoded[1]}).")
        bom = _BOMS.get(decoded.encoding, b"") if decoded.has_bom else b""
        # Decoded again: the decoded text has its NULs and lone CRs replaced, and the file must keep them.
        try:
            text = data[len(bom) :].decode(decoded.encoding)
        except UnicodeDecodeError as error:
            raise EditError(f"{path} can't be edited: it mixes encodings ({error.reason}).") from error
        return _OpenFile(text, decoded.encoding, bom)

    def _write(self, place: Path, text: str, file: _OpenFile) -> None:
        try:
            data = file.bom + text.encode(file.encoding)
        except UnicodeEncodeError as error:
            missing = text[error.start : error.end][:20]
            raise EditError(
                f"{place.name} is in {file.encoding}, which has no {missing!r}; nothing was changed."
            ) from error
        try:
            replace_file(place, data, mode=stat.S_IMODE(place.stat().st_mode))
        except OSError as error:
            raise EditError(f"{place} can't be written: {error.strerror or error}.") from error

    def _create(self, place: Path, content: str) -> None:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("x", encoding="utf-8", newline="") as file:
                file.write(content)
        except OSError as error:
            raise EditError(f"{place} can't be created: {error.strerror or error}.") from error
