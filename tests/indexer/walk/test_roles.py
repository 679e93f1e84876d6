"""Files are classified by path and content."""

import pytest

from codecards.indexer.walk.roles import ROLES, is_minified, role_of

PATHS = {
    "source": """
        src/app.py contest/app.py src/attest.py latest/run.go readme_parser.py src/changes.py history.ts
        src/licenses.go authors.go src/deps/tree.py src/external/api.py src/vendor_api.py src/dist/egg.py
        Testimonial.tsx Digit.py src/config.py
    """,
    "test": """
        tests/test_app.py app_test.go src/foo.test.ts src/Foo.spec.tsx src/main/java/FooTest.java
        src/test/java/Foo.java spec/user_spec.rb conftest.py pkg/testutil/x.go tests/data/conf.yaml
        cypress/login.js MyApp.Tests/LoginTests.cs
    """,
    "vendored": """
        vendor/github.com/x/y.go web/node_modules/x/i.js third_party/zlib/inflate.c deps/lib.ex
        External/Lib/a.cs vendor/x/x_test.go
    """,
    "generated": """
        api.pb.go api_pb2.py schema.generated.ts dist/app.min.js dist/app.js packages/a/dist/esm/i.mjs
        dist/a.d.ts src/generated/x.ts package-lock.json go.sum
    """,
    "docs": """
        README README.md docs/guide.rst LICENSE LICENSE-MIT CHANGES notes.txt README.zh-CN
    """,
    "config": """
        package.json pyproject.toml setup.py webpack.config.js build.gradle.kts Makefile Dockerfile.dev
        CMakeLists.txt requirements-dev.txt .github/workflows/ci.yml
    """,
}


@pytest.mark.parametrize(("path", "role"), [(path, role) for role, paths in PATHS.items() for path in paths.split()])
def test_the_path_determines_the_role(path: str, role: str) -> None:
    assert role_of(path) == role


def test_every_role_has_examples() -> None:
    assert set(PATHS) == set(ROLES)


def test_text_that_declares_itself_generated_is_generated_outside_of_vendored_folders() -> None:
    assert role_of("src/parser.py", generated=True) == "generated"
    assert role_of("vendor/x/parser.py", generated=True) == "vendored"


@pytest.mark.parametrize(
    ("text", "minified"),
    [
        ("function a(){}" * 2_000, True),
        ("/*! licence */\n" + "var a=1;" * 4_000 + "\n//# map\n", True),
        ("x = 1\n" * 20_000, False),
        ("def f():\n    return 1\n" * 1_000 + "TABLE = '" + "0" * 9_000 + "'\n", False),
        (
            "import base64\n\nTABLE = '" + "0" * 90_000 + "'\n\n\ndef decode():\n    return base64.b64decode(TABLE)\n",
            False,
        ),
        ("/*!\n * licence\n * of three\n * lines\n */\n" + "var a=1;" * 4_000, True),
        ('{\n"a": "' + "0" * 90_000 + '"\n}\n', True),
        ("", False),
    ],
)
def test_text_is_minified_if_most_of_it_is_on_very_long_lines(text: str, minified: bool) -> None:
    assert is_minified(text) is minified
