"""Languages are detected by file name and first bytes."""

import subprocess
import sys

import pytest

from codecards.indexer.parse.languages import LANGUAGES, Language, detect_language, load_grammar


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("a/b.py", b"", "python"),
        ("a/B.PY", b"", "python"),
        ("types.d.ts", b"", "typescript"),
        ("x.tsx", b"", "tsx"),
        ("x.mjs", b"", "javascript"),
        ("Rakefile", b"", "ruby"),
        ("lib/Makefile", b"", ""),
        ("x.txt", b"#!/bin/sh", ""),
        ("data.json", b"", ""),
        ("no_suffix", b"plain", ""),
        ("run", b"#!/usr/bin/env -S python3.12 -u\n", "python"),
        ("run", b"#!/bin/bash\n", "bash"),
        ("run", b"#!/usr/bin/env FOO=1 node\n", "javascript"),
        ("run", b"#!\n", ""),
        ("run", b"#!/usr/bin/env\n", ""),
        (".bashrc", b"", "bash"),
        (".py", b"", ""),
        ("x.C", b"", "cpp"),
        ("x.c", b"", "c"),
        ("x.h", b"#include <stdio.h>\nint f(void);\n", "c"),
        ("x.h", b'#ifdef __cplusplus\nextern "C" {\nclass A {};\n#endif\nint f(void);\n', "c"),
        ("x.h", b"/* std::string */\nstruct a { int b; };\n", "c"),
        ("x.h", b"namespace a {\n}\n", "cpp"),
        ("x.h", b"class A : public B {\n};\n", "cpp"),
        ("x.h", b"template <typename T> T f();\n", "cpp"),
    ],
)
def test_a_language_is_detected_by_name_and_head(path: str, head: bytes, language: str) -> None:
    assert detect_language(path, head) == language


def test_no_suffix_or_file_name_belongs_to_two_languages() -> None:
    names = [name for one in LANGUAGES for name in (*one.suffixes, *one.filenames, *one.interpreters)]
    assert len(names) == len(set(names))


@pytest.mark.parametrize("language", [one for one in LANGUAGES if one.grammar], ids=lambda one: one.name)
def test_each_grammar_loads(language: Language) -> None:
    assert load_grammar(language).node_kind_count > 0


def test_detecting_languages_loads_no_parser() -> None:
    code = "import sys, codecards.indexer.parse.languages; print('tree_sitter' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
