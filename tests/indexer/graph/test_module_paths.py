"""Imports refer to files by the rules of their language."""

import pytest

from codecards.indexer.facts import FileFacts, Import
from codecards.indexer.graph.heads import FileHead, crate_of, head_of
from codecards.indexer.graph.module_paths import ModulePaths, module_name


def paths(*names: str, language: str = "python", package: str = "") -> ModulePaths:
    return ModulePaths({name: FileHead(language, package) for name in names})


@pytest.mark.parametrize(
    ("importer", "module", "level", "expected"),
    [
        ("app.py", "pkg", 0, "pkg/__init__.py"),
        ("app.py", "pkg.util", 0, "pkg/util.py"),
        ("pkg/util.py", "pkg.deep.low", 0, "pkg/deep/low.py"),
        ("pkg/deep/low.py", "util", 2, "pkg/util.py"),
        ("pkg/deep/low.py", "", 1, "pkg/deep/__init__.py"),
        ("pkg/deep/low.py", "", 27, None),
        ("app.py", "json", 0, None),
        ("app.py", "numpy", 0, None),
        ("scripts/run.py", "common", 0, "scripts/common.py"),
        ("tests/test_a.py", "lib2.mod", 0, "src/lib2/mod.py"),
        ("other/x.py", "logging.handlers", 0, None),
    ],
)
def test_python_modules_are_found_from_the_roots_of_packages(
    importer: str, module: str, level: int, expected: str | None
) -> None:
    names = """
    app.py pkg/__init__.py pkg/util.py pkg/deep/__init__.py pkg/deep/low.py pkg/json.py scripts/run.py scripts/common.py
    src/lib2/__init__.py src/lib2/mod.py tests/test_a.py other/logging/__init__.py other/logging/handlers.py other/x.py
    """
    found = paths(*names.split())
    assert found.python(importer, module, level) == expected


@pytest.mark.parametrize(
    ("importer", "module", "expected"),
    [
        ("src/a.ts", "./b", "src/b.ts"),
        ("src/a.ts", "./b.js", "src/b.ts"),
        ("src/a.ts", "./part", "src/part/index.tsx"),
        ("src/part/index.tsx", "../a", "src/a.ts"),
        ("src/a.ts", "@/b", "src/b.ts"),
        ("src/a.ts", "@shop/money", "packages/money/src/index.ts"),
        ("src/a.ts", "react", None),
        ("src/a.ts", "b", None),
        ("src/a.ts", "./none", None),
    ],
)
def test_script_specifiers_are_paths_aliases_or_workspace_packages(
    importer: str, module: str, expected: str | None
) -> None:
    found = paths("src/a.ts", "src/b.ts", "src/part/index.tsx", "packages/money/src/index.ts", language="typescript")
    assert found.file_of(importer, module) == expected


def go(**imports: str) -> ModulePaths:
    files = {
        "main.go": FileFacts(
            "go", 1, package="main", imports=tuple(Import(m, "", a, 0, 1, -1) for a, m in imports.items())
        ),
        "util/json/j.go": FileFacts("go", 1, package="json"),
        "http/h.go": FileFacts("go", 1, package="http"),
    }
    return ModulePaths({path: head_of(path, facts) for path, facts in files.items()})


def test_go_import_paths_end_with_the_folder_of_the_package() -> None:
    modules = go(
        json="example.com/shop/util/json", http="example.com/shop/http", std="net/http", far="github.com/x/http"
    )
    assert modules.go_import("example.com/shop/util/json") == "util/json#json"
    assert modules.go_import("example.com/shop/http") == "http#http"
    assert modules.go_import("net/http") is None
    assert modules.go_import("encoding/json") is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/lib.rs", ("src", ())),
        ("src/a/b.rs", ("src", ("a", "b"))),
        ("src/a/mod.rs", ("src", ("a",))),
        ("crates/x/src/a.rs", ("crates/x/src", ("a",))),
        ("src/bin/tool.rs", ("src/bin/tool", ())),
        ("tests/it.rs", ("tests/it", ())),
    ],
)
def test_rust_files_are_modules_of_their_crate(path: str, expected: tuple[str, tuple[str, ...]]) -> None:
    assert crate_of(path) == expected


@pytest.mark.parametrize(
    ("path", "language", "package", "expected"),
    [
        ("shop/pricing.py", "python", "", "shop.pricing"),
        ("src/shop/__init__.py", "python", "", "shop"),
        ("src/Shop.java", "java", "com.shop", "com.shop"),
        ("src/parts/index.ts", "typescript", "", "parts"),
    ],
)
def test_module_names_are_those_that_importers_use(path: str, language: str, package: str, expected: str) -> None:
    assert module_name(path, FileFacts(language, 1, package=package)) == expected


@pytest.mark.parametrize(
    ("importer", "module"),
    [("c.ts", "."), ("c.ts", "./"), ("c.ts", "./index"), ("sub/d.ts", ".."), ("sub/d.ts", "../")],
)
def test_a_script_finds_the_index_at_the_root(importer: str, module: str) -> None:
    found = paths("index.ts", "c.ts", "sub/d.ts", language="typescript")
    assert found.file_of(importer, module) == "index.ts"
