"""Python: definitions, references, imports and bindings."""

import pytest

from codecards.indexer.parse.definitions import MAX_SIGNATURE_CHARACTERS
from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f(a): pass", ["function f 1-1"]),
        ("async def f():\n    def g():\n        pass\n    return g", ["function f 1-4", "function f.g 2-3"]),
        ("@a\n@b(\n  1,\n)\ndef f():\n    pass", ["function f 1-6"]),
        (
            "class A(B):\n    def __init__(self): pass\n    def m(self): pass",
            ["class A 1-3", "constructor A.__init__ 2-2", "method A.m 3-3"],
        ),
        (
            "class A:\n    @property\n    def p(self): pass\n    @p.setter\n    def p(self, v): pass",
            ["class A 1-5", "property A.p 2-3", "property A.p 4-5"],
        ),
        (
            "class A:\n    @overload\n    def m(self, a: int): ...\n    @overload\n    def m(self, a: str): ...\n    def m(self, a): pass",
            ["class A 1-6", "method A.m 2-3", "method A.m 4-5", "method A.m 6-6"],
        ),
        ("class A:\n    class B:\n        x = 1", ["class A 1-3", "class A.B 2-3", "field A.B.x 3-3"]),
        (
            "LIMIT = 3\nname: str = 'x'\na, b = 1, 2",
            ["constant LIMIT 1-1", "variable name 2-2", "variable a 3-3", "variable b 3-3"],
        ),
        (
            "if x:\n    y = 1\ntry:\n    z = 1\nexcept E:\n    z = 2",
            ["variable y 2-2", "variable z 4-4", "variable z 6-6"],
        ),
        ("def f():\n    local = 1", ["function f 1-2"]),
        (
            "type Pair[T] = tuple[T, T]\ndef first[T, *Ts](a: T) -> T:\n    return a",
            ["type Pair 1-1", "function first 2-3"],
        ),
        (
            "def f():\n    match = 1\n    type = match\n    match type:\n        case 1: pass\ndef g(): pass",
            ["function f 1-5", "function g 6-6"],
        ),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "python") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def f():\n    g()\n    a.b.g(1)", ["f -> g", "f -> a.b.g"]),
        (
            "class A(B):\n    def m(self):\n        super().m()\n        self.x.go()\n        A().n()",
            ["m -> super.m", "m -> self.x.go", "m -> A", "m -> A().n"],
        ),
        ("class A:\n    @classmethod\n    def m(cls): cls.make()", ["m -> self.make"]),
        ("@traced('x')\ndef f(): pass", ["f -> traced"]),
        ("rows[0].go(); (a + b).go()", ["-> ?.go", "-> ?.go"]),
        ("a.b(lambda: c()).d(x, y=f())", ["-> a.b", "-> c", "-> a.b().d", "-> f"]),
    ],
)
def test_calls_have_their_owner_and_receiver(source: str, expected: list[str]) -> None:
    assert uses(source, "python") == expected


def test_arguments_are_counted_unless_a_splat_hides_their_number() -> None:
    facts = facts_of("f()\nf(1, b=2)\nf(*a)\nf(1,  # why\n  2)\nf(a * b)", "python")
    assert [one.n_arguments for one in facts.references] == [0, 2, -1, 2, 1]


def test_functions_passed_as_values_are_references_and_variables_are_not() -> None:
    source = """
        import pool
        def work(): pass
        def start(item):
            pool.run(work, item)
            Thread(target=pool.stop)
            return {"w": work}
        """
    assert uses(source, "python", "value") == ["start -> work", "start -> pool.stop", "start -> work"]


def test_types_in_annotations_are_references() -> None:
    source = "def f(a: Foo, b: list[Bar] | None = None) -> 'int': pass\ntry: pass\nexcept (E1, E2): pass"
    assert uses(source, "python", "type") == ["f -> Foo", "f -> Bar", "-> E1", "-> E2"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import a.b, c as d", [("a.b", "", "a.b"), ("c", "", "d")]),
        ("from a.b import (c, d as e)", [("a.b", "c", "c"), ("a.b", "d", "e")]),
        ("from a import *", [("a", "*", "")]),
        ("from . import x", [("", "x", "x")]),
    ],
)
def test_each_import_form_gives_its_names(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert imported(source, "python") == expected


def test_dots_before_a_module_are_its_level_however_many() -> None:
    facts = facts_of("from ..a import b\nfrom ........................... import ghost", "python")
    assert [one.level for one in facts.imports] == [2, 27]


def test_an_import_inside_a_function_is_scoped_to_it() -> None:
    assert [one.scope for one in facts_of("def f():\n    import a", "python").imports] == [0]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "def f(a: Foo, b: Optional[Bar] = None, c: 'pkg.Baz | None' = None): pass",
            {"a": "Foo", "b": "Bar", "c": "pkg.Baz"},
        ),
        ("x = Foo(1)", {"x": "Foo()"}),
        ("x: Foo = make()", {"x": "Foo"}),
        ("async def f():\n    x = await load()", {"x": "load()"}),
        ("with open_store(1) as s: pass", {"s": "open_store()"}),
        ("if (m := find()): pass", {"m": "find()"}),
        ("class A:\n    def __init__(self, s): self.s = s; self.t = Foo()", {"self.s": "=s", "self.t": "Foo()"}),
        ("try: pass\nexcept Bad as e: pass", {"e": "Bad"}),
    ],
)
def test_local_names_are_bound_to_their_types(source: str, expected: dict[str, str]) -> None:
    found = bound(source, "python")
    assert {name: found.get(name) for name in expected} == expected


def test_attributes_of_self_are_bound_in_the_class() -> None:
    facts = facts_of("class A:\n    def m(self):\n        self.x = Foo()", "python")
    assert [(one.name, facts.definitions[one.scope].name) for one in facts.bindings] == [("self.x", "A")]


def test_heads_docs_bases_and_results_are_kept() -> None:
    source = '''
        # Keeps tokens.
        class Store(Base[int], abc.ABC, metaclass=M):
            """Holds them."""
            async def purge(
                self, now: float
            ) -> Result | None:
                "Drops old ones."
        '''
    store, purge = facts_of(source, "python").definitions
    assert (store.signature, store.bases) == ("class Store(Base[int], abc.ABC, metaclass=M)", ("Base", "abc.ABC"))
    assert (store.doc, store.lead_line, store.first_line) == ("Keeps tokens.\nHolds them.", 1, 2)
    assert (purge.signature, purge.returns) == ("async def purge( self, now: float ) -> Result | None", "Result")
    assert purge.doc == "Drops old ones."


def test_names_with_one_underscore_are_private_and_dunder_all_is_exported() -> None:
    facts = facts_of("__all__ = ['a', \"b\"]\ndef a(): pass\ndef _c(): pass", "python")
    assert [(one.name, one.local) for one in facts.exports] == [("a", "a"), ("b", "b")]
    assert {one.name: one.exported for one in facts.definitions} == {"__all__": True, "a": True, "_c": False}


def test_the_module_docstring_is_the_leading_comment() -> None:
    assert facts_of('#!/usr/bin/env python\n"""Does\nthings."""\nx = 1', "python").leading_comment == "Does\nthings."


def test_comments_are_not_part_of_a_signature() -> None:
    source = """
        def connect(
            host: str,  # where (and, if need be, how)
            port: int = 80,
        ) -> None:
            # what follows is slow
            dial(host, port)
        """
    assert facts_of(source, "python").definitions[0].signature == "def connect( host: str, port: int = 80, ) -> None"


def test_a_cut_signature_ends_with_an_ellipsis() -> None:
    written = ", ".join(f"argument_{number}: int" for number in range(40))
    signature = facts_of(f"def run({written}) -> None:\n    pass\n", "python").definitions[0].signature
    assert signature.startswith("def run(argument_0: int, ")
    assert signature.endswith("…")
    assert MAX_SIGNATURE_CHARACTERS - 10 < len(signature) <= MAX_SIGNATURE_CHARACTERS


@pytest.mark.parametrize("quotes", ['"""', "'''"])
def test_a_long_docstring_with_backslashes_is_read(quotes: str) -> None:
    doc = "Line with a \\ and \\n in it.\n" * 2_000
    facts = facts_of(f"{quotes}{doc}{quotes}\n\ndef serve():\n    pass\n", "python")
    assert facts.leading_comment.startswith("Line with a")
    assert [one.name for one in facts.definitions] == ["serve"]
