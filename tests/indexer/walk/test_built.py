"""Files that a build wrote are told by the listing, where their sources are there."""

import pytest

from codecards.indexer.walk.built import built_files

PACKAGE = {"package.json": 1, "src/core/Geometry.js": 900, "src/index.ts": 100}


@pytest.mark.parametrize(
    ("path", "size", "is_built"),
    [
        ("dist/index.mjs", 100, True),
        ("dist/index.cjs", 100, True),
        ("dist/index.d.cts", 100, True),
        ("dist/index.mjs.map", 100, True),
        ("fesm2022/core.mjs", 100, True),
        ("build/three.core.js", 1_200_000, True),
        ("build/webpack.config.js", 900, False),
        ("lib/index.js", 100, True),
        ("lib/other.js", 100, False),
        ("dist/README.md", 100, False),
        ("scripts/run.js", 200_000, False),
        ("other/dist/index.js", 100, False),
    ],
)
def test_outputs_beside_their_sources_are_built(path: str, size: int, is_built: bool) -> None:
    assert built_files({**PACKAGE, path: size}) == ({path: "src/"} if is_built else {})


def test_outputs_without_sources_are_kept() -> None:
    assert built_files({"package.json": 1, "dist/index.js": 1}) == {}
    assert built_files({"src/index.ts": 1, "dist/index.js": 1}) == {}


def test_packages_below_the_root_count_for_themselves() -> None:
    sizes = {
        "packages/a/package.json": 1,
        "packages/a/src/a.ts": 1,
        "packages/a/dist/a.js": 1,
        "packages/b/dist/b.js": 1,
    }
    assert built_files(sizes) == {"packages/a/dist/a.js": "packages/a/src/"}
