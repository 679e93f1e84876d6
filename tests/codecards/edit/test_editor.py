"""Edits stay inside the project, keep a file's encoding and mode, and are never made on a guess."""

import codecs
import os
import stat
from pathlib import Path

import pytest

from codecards.edit.editor import Editor
from codecards.errors import AmbiguousTargetError, EditError, OutsideProjectError, TargetNotFoundError
from tests.support.indexed import write_repository

SHOP = """\
#- shop/user.py
def find(name):
    return name
#- shop/order.py
def find(number):
    return number
#- a/config.py
LIMIT = 1
#- b/config.py
LIMIT = 2
#- .env
PASSWORD=hunter2hunter2
#- .git/hooks/pre-commit
exit 0
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "shop", SHOP)


@pytest.fixture
def editor(root: Path) -> Editor:
    def resolve(written: str) -> str:
        found = [path.relative_to(root).as_posix() for path in sorted(root.rglob("*")) if path.is_file()]
        fitting = [path for path in found if f"/{path}".endswith(f"/{written.removeprefix('./')}")]
        if not fitting:
            raise TargetNotFoundError(written, what="file")
        if len(fitting) > 1:
            raise AmbiguousTargetError(written, fitting)
        return fitting[0]

    return Editor(root, resolve)


@pytest.mark.seed("S0-17")
def test_a_piece_is_replaced_and_a_whole_file_written_or_created(editor: Editor, root: Path) -> None:
    edit = editor.replace("shop/user.py", "return name", "return name.lower()")
    assert (edit.kind, edit.path, edit.status) == ("replace", "shop/user.py", "lines 2-2 of shop/user.py are new")
    assert editor.write("shop/user.py", "x = 1\n").kind == "write"
    assert editor.write("shop/new/deep.py", "y = 2\n").kind == "create"
    assert (root / "shop/user.py").read_text() == "x = 1\n"
    assert (root / "shop/new/deep.py").read_text() == "y = 2\n"


@pytest.mark.seed("S0-21")
def test_a_path_is_completed_for_a_replacement_but_nothing_is_overwritten_on_a_guess(
    editor: Editor, root: Path
) -> None:
    assert editor.replace("order.py", "return number", "return 0").path == "shop/order.py"
    with pytest.raises(AmbiguousTargetError):
        editor.replace("config.py", "LIMIT", "MAX")
    with pytest.raises(AmbiguousTargetError) as caught:
        editor.write("user.py", "")
    assert caught.value.candidates == ("shop/user.py", "./user.py")
    assert editor.write("./user.py", "").path == "user.py"
    assert (root / "shop/user.py").read_text().startswith("def find(name)")


@pytest.mark.seed("S0-18")
def test_a_failed_edit_leaves_the_file_as_it_was(editor: Editor, root: Path) -> None:
    before = (root / "shop/user.py").read_bytes()
    with pytest.raises(EditError):
        editor.replace("shop/user.py", "nowhere", "x")
    with pytest.raises(TargetNotFoundError):
        editor.replace("shop/gone.py", "x", "y")
    assert (root / "shop/user.py").read_bytes() == before


@pytest.mark.seed("S0-19")
@pytest.mark.parametrize(
    ("encoding", "bom"),
    [("utf-8", b""), ("utf-8", codecs.BOM_UTF8), ("gb18030", b""), ("utf-16-le", codecs.BOM_UTF16_LE)],
)
def test_encoding_mark_and_line_ends_stay(editor: Editor, root: Path, encoding: str, bom: bytes) -> None:
    source = "# 导出用户的数据，逐行写出，不占内存\r\nx = 1\r\n"
    (root / "table.py").write_bytes(bom + source.encode(encoding))
    editor.replace("table.py", "内存\nx = 1", "内存\nx = 2\ny = 3")
    assert (root / "table.py").read_bytes() == bom + source.replace("x = 1", "x = 2\r\ny = 3").encode(encoding)
    editor.write("table.py", "a\nb\n")
    assert (root / "table.py").read_bytes() == bom + "a\r\nb\r\n".encode(encoding)


def test_text_that_the_encoding_cannot_represent_is_refused(editor: Editor, root: Path) -> None:
    data = "# -*- coding: latin-1 -*-\n# é\nx = 1\n".encode("latin-1")
    (root / "old.py").write_bytes(data)
    with pytest.raises(EditError, match="has no"):
        editor.replace("old.py", "x = 1", "x = '中'")
    assert (root / "old.py").read_bytes() == data


@pytest.mark.parametrize("path", ["../outside.py", "/etc/outside.py", "shop/../../outside.py", "a\0b"])
def test_nothing_outside_the_project_is_written(editor: Editor, root: Path, path: str) -> None:
    with pytest.raises(OutsideProjectError):
        editor.write(path, "x")
    assert not (root.parent / "outside.py").exists()


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".GIT/config", "sub/.git/config", ".codecards/index/x", ".env", "."]
)
def test_protected_files_are_not_written(editor: Editor, path: str) -> None:
    with pytest.raises(EditError):
        editor.write(path, "x")


@pytest.mark.skipif(os.name == "nt", reason="links and modes are those of POSIX systems")
def test_links_are_not_followed_and_modes_are_kept(editor: Editor, root: Path) -> None:
    outside = root.parent / "outside.py"
    outside.write_text("x = 1\n")
    (root / "link.py").symlink_to(outside)
    with pytest.raises(OutsideProjectError):
        editor.replace("link.py", "x = 1", "x = 2")
    (root / "inner.py").symlink_to(root / "shop/user.py")
    with pytest.raises(OutsideProjectError):
        editor.write("inner.py", "x")
    (root / "shop/user.py").chmod(0o755)
    editor.write("shop/user.py", "x = 1\n")
    assert stat.S_IMODE((root / "shop/user.py").stat().st_mode) == 0o755
    assert outside.read_text() == "x = 1\n"
