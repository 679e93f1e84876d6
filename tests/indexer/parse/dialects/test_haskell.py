"""Haskell: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("go :: Int -> Int\ngo 0 = 1\ngo n = n\n\nother = 2\n", ["function go 1-3", "function other 5-5"]),
        ("f x = g x\n  where\n    g y = y\n", ["function f 1-3", "function f.g 3-3"]),
        (
            "data Foo = Foo { fld :: Int } | Bar Int\n",
            ["struct Foo 1-1", "field Foo.fld 1-1", "constructor Foo.Bar 1-1"],
        ),
        ("newtype N = N Int\n", ["struct N 1-1"]),
        ("type Alias = Int\n", ["type Alias 1-1"]),
        ("class Cls a where\n  meth :: a -> Int\n", ["class Cls 1-2", "declaration Cls.meth 2-2"]),
        ("instance Cls Foo where\n  meth x = run x\n", ["impl Foo 1-2", "method Foo.meth 2-2"]),
        ("a <+> b = add a b\n", ["function <+> 1-1"]),
        ("x `op` y = go x y\n", ["function op 1-1"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline("module M where\n" + source, "haskell") == [_later(one) for one in expected]


def _later(line: str) -> str:
    """Return an expected outline line shifted by one line."""
    head, _, span = line.rpartition(" ")
    first, last = span.split("-")
    return f"{head} {int(first) + 1}-{int(last) + 1}"


def test_calls_are_applications_and_operands() -> None:
    source = "module M where\nimport qualified Data.Text as T\nimport H (helper)\ngo xs = T.pack (bar xs) >>= each helper . last'\n"
    assert uses(source, "haskell") == ["go -> T.pack", "go -> bar", "go -> each", "go -> last'"]
    assert uses(source, "haskell", "value") == ["go -> helper"]


def test_imports_give_names_and_qualifiers() -> None:
    source = "module M where\nimport Data.Map (Map, lookup)\nimport qualified Data.Text as T\nimport Foo hiding (x)\n"
    assert imported(source, "haskell") == [
        ("Data.Map", "", "Data.Map"),
        ("Data.Map", "Map", "Map"),
        ("Data.Map", "lookup", "lookup"),
        ("Data.Text", "", "T"),
        ("Foo", "", "Foo"),
        ("Foo", "*", ""),
    ]


def test_only_names_of_the_export_list_are_exported() -> None:
    facts = facts_of("module A.B (go, Foo(..)) where\n-- | Goes.\ngo = 1\nhidden = 2\ndata Foo = Foo Int\n", "haskell")
    assert facts.package == "A.B"
    assert {one.name: one.exported for one in facts.definitions} == {"go": True, "hidden": False, "Foo": True}
    assert facts.definitions[0].doc == "Goes."
