"""The lists of builtin names are well-formed."""

import tomllib
from collections import Counter
from pathlib import Path

from codecards.indexer.graph import builtins
from codecards.indexer.graph.builtins import Builtins


def test_the_lists_have_no_duplicates_and_no_blanks() -> None:
    lists = tomllib.loads(Path(builtins.__file__).with_name("builtins.toml").read_text(encoding="utf-8"))
    for name, words in lists.items():
        assert words, name
        assert Counter(words).most_common(1)[0][1] == 1, name
        assert all(word.isidentifier() for word in words), name


def test_common_names_include_the_builtin_methods() -> None:
    loaded: Builtins = builtins.builtins()
    assert loaded.methods < loaded.common_names
    assert {"len", "printf"} <= loaded.functions
    assert "malloc" in loaded.c_library
    assert builtins.builtins() is loaded
