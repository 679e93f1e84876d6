"""Scala: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "abstract class A[T](r: R) extends B[T](r) with C {\n  def go(a: Int): Int\n  val x = 1\n}",
            ["class A 1-4", "method A.go 2-2", "field A.x 3-3"],
        ),
        ("object O extends App {\n  case class In(a: Int)\n}", ["object O 1-3", "class O.In 2-2"]),
        ("trait T {\n  def m: Int = 1\n}", ["trait T 1-3", "method T.m 2-2"]),
        ("enum Color {\n  case Red\n  def f = 1\n}", ["enum Color 1-4", "method Color.f 3-3"]),
        ("class A {\n  def this(x: Int) = this()\n}", ["class A 1-3", "constructor A.this 2-2"]),
        ("extension (s: String) def shout: String = s", ["method String.shout 1-1"]),
        ("given ord: Ord[Int] with {\n  def cmp(x: Int) = 1\n}", ["object ord 1-3", "method ord.cmp 2-2"]),
        (
            "def f(x: Int) = {\n  def inner() = 1\n  val local = 2\n  local\n}",
            ["function f 1-5", "function f.inner 2-2"],
        ),
        ("type H = Int", ["type H 1-1"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "scala") == expected


def test_bases_are_all_types_after_extends_and_with() -> None:
    assert facts_of("class A extends B[Int](1) with C with D", "scala").definitions[0].bases == ("B", "C", "D")


def test_calls_have_their_receivers() -> None:
    source = "def f(a: A) = { a.b.go(1); this.q.run(); g[Int](1); x.h[Int](2); xs.each { y => y.z() }; a plus b }"
    expected = ["f -> a.b.go", "f -> self.q.run", "f -> g", "f -> x.h", "f -> xs.each", "f -> y.z", "f -> a.plus"]
    assert uses(source, "scala") == expected


def test_local_types_are_bound() -> None:
    source = "def f(s: Store) = {\n  val a = new Foo(1)\n  val b: Bar = x\n  val c = Baz(2)\n  a\n}"
    assert bound(source, "scala") == {"s": "Store", "a": "Foo", "b": "Bar", "c": "Baz()"}


def test_import_selectors_and_packages_in_two_clauses() -> None:
    source = "package a.b\npackage c\nimport x.y.{A, B => C, D as E, F => _, _}\nimport q.R, s._\n"
    assert imported(source, "scala") == [
        ("x.y", "A", "A"),
        ("x.y", "B", "C"),
        ("x.y", "D", "E"),
        ("x.y", "*", ""),
        ("q", "R", "R"),
        ("s", "*", ""),
    ]
    assert facts_of(source, "scala").package == "a.b.c"
