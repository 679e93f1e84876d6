"""Rust: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('pub async fn f() {}\nunsafe extern "C" fn g() {}', ["function f 1-1", "function g 2-2"]),
        (
            "struct P { a: u8 }\nstruct Q;\nenum E { A }\nunion U { a: u8 }",
            ["struct P 1-1", "struct Q 2-2", "enum E 3-3", "struct U 4-4"],
        ),
        (
            "impl<T: Clone> Grid<T> {\n  pub fn new() -> Self { Grid }\n  fn at(&self) {}\n}",
            ["impl Grid 1-4", "method Grid.new 2-2", "method Grid.at 3-3"],
        ),
        ("impl Area for m::Grid<u8> {\n  fn area(&self) {}\n}", ["impl Grid 1-3", "method Grid.area 2-2"]),
        (
            "trait Area: Base {\n  const N: u8;\n  fn area(&self);\n  fn both(&self) {}\n}",
            ["trait Area 1-5", "constant Area.N 2-2", "method Area.area 3-3", "method Area.both 4-4"],
        ),
        ("mod m {\nfn f() {}\n}\nmod other;", ["module m 1-3", "function m.f 2-2"]),
        ("macro_rules! twice {\n  ($e:expr) => { $e };\n}", ["macro twice 1-3"]),
        ("const A: u8 = 1;\nstatic B: u8 = 1;\ntype C = u8;", ["constant A 1-1", "variable B 2-2", "type C 3-3"]),
        ("/// Docs.\n#[no_mangle]\n// why\n#[inline]\nfn f() {}", ["function f 2-5"]),
        ("fn f() {\n  fn inner() {}\n  const K: u8 = 1;\n}", ["function f 1-4", "function f.inner 2-2"]),
        ("#[cfg(test)]\nmod tests { #[test] fn t() {} }", ["module tests 1-2", "function tests.t 2-2"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "rust") == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("g(1); m::g(); self.a.go(); Self::make();", ["f -> g", "f -> m.g", "f -> self.a.go", "f -> self.make"]),
        (
            "Grid::<u8>::new().area(); x.bar().await?.baz::<u8>(1);",
            ["f -> Grid.new", "f -> Grid.new().area", "f -> x.bar", "f -> x.bar().baz"],
        ),
        ("assert_eq!(Grid::<u8>::new().area(), inner(1));", ["f -> Grid.new", "f -> Grid.new().area", "f -> inner"]),
    ],
)
def test_calls_have_their_owner_and_receiver_in_macros_too(body: str, expected: list[str]) -> None:
    assert sorted(uses(f"impl A {{ fn f(&self) {{ {body} }} }}", "rust")) == sorted(expected)


def test_macros_constructions_and_traits_are_references() -> None:
    source = "impl Area for Grid { fn f() { twice!(1); Foo { a: 1 }; m::Bar { b } } }"
    assert uses(source, "rust", "macro", "construct", "inherit") == [
        "Grid -> Area",
        "f -> twice",
        "f -> Foo",
        "f -> m.Bar",
    ]


def test_a_use_tree_gives_one_import_for_each_name() -> None:
    source = "use std::{fmt::{self, Display as D}, io::*};\nuse super::x;\nextern crate serde;"
    assert imported(source, "rust") == [
        ("std.fmt", "", "fmt"),
        ("std.fmt", "Display", "D"),
        ("std.io", "*", ""),
        ("super", "x", "x"),
        ("serde", "", "serde"),
    ]


def test_pub_use_is_reexported() -> None:
    facts = facts_of("pub use a::B;\nuse a::C;", "rust")
    assert [one.reexported for one in facts.imports] == [True, False]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("let s = Foo::new(1)?;", {"s": "Foo.new()"}),
        ("let mut w = Foo { a: 1 };", {"w": "Foo"}),
        ("let q: Box<dyn Area> = x;", {"q": "Area"}),
        ("let r = &self.store;", {"r": "=self.store"}),
    ],
)
def test_local_names_are_bound_to_their_types(statement: str, expected: dict[str, str]) -> None:
    found = bound(f"impl A {{ fn f(&self, o: &'a mut Other) {{ {statement} }} }}", "rust")
    expected = expected | {"o": "Other"}
    assert {name: found.get(name) for name in expected} == expected


def test_visibility_results_and_bases_are_kept() -> None:
    facts = facts_of(
        "pub trait T { fn a(&self) -> Result<Foo, E>; }\nimpl T for P { fn a(&self) {} }\nimpl P { fn b(&self) {} }",
        "rust",
    )
    by_name = {one.qualified_name: one for one in facts.definitions if one.kind != "impl"}
    assert (by_name["T.a"].returns, by_name["T.a"].exported) == ("Foo", True)
    assert (by_name["P.a"].exported, by_name["P.b"].exported) == (True, False)
    assert [one.bases for one in facts.definitions if one.kind == "impl"] == [("T",), ()]
