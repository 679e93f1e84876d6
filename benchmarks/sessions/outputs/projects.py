"""Small projects in several languages, made for compilers and runners that are verbose about what works."""

import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.sessions.outputs.record import Recorder

N_EACH = 12
"""Outputs of a tool."""


def _fresh(recorder: "Recorder", name: str) -> Path:
    folder = recorder.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def make_gcc(recorder: "Recorder") -> None:
    """`make -k` over many files, of which some do not compile."""
    for number in range(N_EACH):
        folder = _fresh(recorder, f"c{number}")
        broken = {recorder.rng.randrange(70): recorder.mark() for _ in range(1 + number % 3)}
        for index in range(70):
            bad = f"  return undeclared_{broken[index]};\n" if index in broken else "  return x;\n"
            (folder / f"mod_{index:02}.c").write_text(
                f"#include <stdio.h>\n#include <stdlib.h>\nint f{index}(int x) {{\n{bad}}}\n"
            )
        flags = "-Wall -Wextra -O1 -fPIC -DNDEBUG -Iinclude" + (" -v" if number % 4 == 3 else "")
        (folder / "Makefile").write_text(
            f"objects = $(patsubst %.c,%.o,$(wildcard *.c))\nall: $(objects)\n%.o: %.c\n\tgcc {flags} -c -o $@ $<\n"
        )
        (folder / "include").mkdir()
        if number % 4 == 3:
            for path in sorted(folder.glob("mod_*.c"))[6:]:
                if int(path.stem[4:]) not in broken:
                    path.unlink()
        recorder.run("gcc", "make -k" + (" -j2" if number % 2 else ""), folder, tuple(broken.values()))


def javac(recorder: "Recorder") -> None:
    """`javac -verbose`, which names every class that it loads."""
    for number in range(N_EACH):
        folder = _fresh(recorder, f"java{number}")
        marks = [recorder.mark() for _ in range(1 + number % 3)]
        for index in range(30):
            bad = f"    Missing_{marks[index]} y = null;\n" if index < len(marks) else ""
            (folder / f"Unit{index}.java").write_text(
                "import java.util.*;\nimport java.util.concurrent.*;\nimport java.nio.file.*;\nimport java.time.*;\n"
                f"public class Unit{index} {{\n  ConcurrentHashMap<Path, Duration> seen = new ConcurrentHashMap<>();\n"
                f"  List<String> names(Path p) {{\n{bad}    return new ArrayList<>();\n  }}\n}}\n"
            )
        recorder.run("javac", "javac -verbose *.java", folder, marks)


def cargo(recorder: "Recorder") -> None:
    """`cargo test` of a crate with many tests, and builds that fail."""
    for number in range(N_EACH):
        folder = _fresh(recorder, f"rust{number}")
        (folder / "src").mkdir()
        (folder / "Cargo.toml").write_text('[package]\nname = "shapes"\nversion = "0.1.0"\nedition = "2021"\n')
        marks = [recorder.mark() for _ in range(1 + number % 3)]
        bad = set(recorder.rng.sample(range(160), len(marks)))
        tests = []
        left = list(marks)
        for index in range(160):
            body = f"assert_eq!({index}, {index});"
            if index in bad:
                body = f'assert_eq!({index}, {index + 1}, "area of {left.pop()}");'
            tests.append(f"    #[test]\n    fn shape_{index:03}_has_the_right_area() {{ {body} }}\n")
        (folder / "src" / "lib.rs").write_text("#[cfg(test)]\nmod tests {\n" + "".join(tests) + "}\n")
        command = "cargo test --offline" + (" --no-fail-fast" if number % 2 else "") + " 2>&1"
        recorder.run("cargo", command, folder, marks, {"CARGO_TARGET_DIR": str(recorder.folder / "target")})


def node(recorder: "Recorder") -> None:
    """`npm test` with Node's own runner: TAP and spec reports."""
    for number in range(N_EACH):
        folder = _fresh(recorder, f"node{number}")
        report = ("tap", "spec")[number % 2]
        (folder / "package.json").write_text(
            f'{{"name": "shop", "version": "1.0.0", "scripts": {{"test": "node --test --test-reporter={report}"}}}}\n'
        )
        marks = [recorder.mark() for _ in range(1 + number % 3)]
        bad = set(recorder.rng.sample(range(90), len(marks)))
        left, tests = list(marks), []
        for index in range(90):
            wanted = f"price of {left.pop()}" if index in bad else f"price {index}"
            tests.append(
                f"test('the cart shows the price of item {index}', () => assert.equal('price {index}', '{wanted}'));\n"
            )
        (folder / "cart.test.js").write_text(
            "const test = require('node:test');\nconst assert = require('node:assert');\n" + "".join(tests)
        )
        recorder.run("npm", "npm test", folder, marks)


def git(recorder: "Recorder") -> None:
    """Merges of many files that end in conflicts."""
    for number in range(N_EACH):
        folder = _fresh(recorder, f"git{number}")
        marks = [recorder.mark() for _ in range(1 + number % 3)]
        setup = ["git init -q -b main .", "git config user.email a@example.org", "git config user.name a", "mkdir src"]
        # Names in both branches are changed; those with a mark at the same line, the others at different ends.
        names = [f"src/component_{index:03}.txt" for index in range(260)] + [f"src/{mark}.txt" for mark in marks]
        for name in names:
            (folder / "src").mkdir(exist_ok=True)
            (folder / name).write_text("".join(f"line {row}\n" for row in range(12)))
        script = [*setup[:3], "git add -A", "git commit -qm start", "git checkout -qb other", f"{sys.executable} ../edit.py other",
                  "git commit -qam other", "git checkout -q main", f"{sys.executable} ../edit.py main", "git commit -qam main"]  # fmt: skip
        (recorder.folder / "edit.py").write_text(
            "import sys, pathlib\nside = sys.argv[1]\nfor path in pathlib.Path('src').iterdir():\n"
            "    lines = path.read_text().splitlines()\n"
            "    lines[5 if 'qzv' in path.name else 0 if side == 'main' else 11] += ' ' + side\n"
            "    path.write_text('\\n'.join(lines) + '\\n')\n"
        )
        recorder.run("setup", " && ".join(script), folder)
        recorder.run("git", ("git merge other", "git merge --no-commit --no-ff other")[number % 2], folder, marks)


def python_tools(recorder: "Recorder") -> None:
    """Run pip on a package whose build fails; ruff and mypy, verbose, on a tree with a few mistakes."""
    for number in range(N_EACH):
        mark = recorder.mark()
        folder = _fresh(recorder, f"pip{number}")
        (folder / "pkg").mkdir()
        for index in range(90):
            (folder / "pkg" / f"module_{index:02}.py").write_text(f"X = {index}\n")
        (folder / "pkg" / "__init__.py").write_text("")
        (folder / "setup.py").write_text(
            "from setuptools import setup\nfrom setuptools.command.build_py import build_py\n"
            "class Build(build_py):\n    def run(self):\n        super().run()\n"
            f"        raise RuntimeError('the header {mark}.h was not found')\n"
            "setup(name='pkg', version='1.0', packages=['pkg'], cmdclass={'build_py': Build})\n"
        )
        recorder.run(
            "pip", f"{sys.executable} -m pip install -v --no-build-isolation --no-deps --target out .", folder, (mark,)
        )
        tree = _fresh(recorder, f"py{number}")
        marks = [recorder.mark() for _ in range(1 + number % 3)]
        for index in range(60):
            bad = f"print(undefined_{marks[index]})\n" if index < len(marks) else ""
            (tree / f"part_{index:02}.py").write_text(f'"""Part."""\n\nVALUE: int = {index}\n{bad}')
        recorder.run("ruff", f"{sys.executable} -m ruff check --no-cache -v --isolated .", tree, marks)
        recorder.run(
            "mypy", f"{sys.executable} -m mypy -v --no-incremental --no-site-packages part_0[0-9].py", tree, marks
        )


RECORDERS: Mapping[str, Callable[["Recorder"], None]] = {
    "gcc": make_gcc,
    "javac": javac,
    "cargo": cargo,
    "npm": node,
    "git": git,
    "python3": python_tools,
}
"""Program → what records it."""
