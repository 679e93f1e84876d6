"""Kotlin: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("interface I {\n  fun m(a: Int): Int\n}", ["interface I 1-3", "method I.m 2-2"]),
        ("fun interface Run {\n  fun go()\n}", ["interface Run 1-3", "method Run.go 2-2"]),
        ("enum class Mode {\n  ON, OFF;\n\n  fun next() = 1\n}", ["enum Mode 1-5", "method Mode.next 4-4"]),
        (
            "data class A(val r: R) : B(r), C {\n  companion object {\n    fun of() = A(1)\n  }\n}",
            ["class A 1-5", "method A.of 3-3"],
        ),
        ("object Registry {\n  private val all = 1\n}", ["object Registry 1-3", "field Registry.all 2-2"]),
        ("fun <T> List<T>.second(): T = this[1]", ["method List.second 1-1"]),
        ("val String.loud: Int\n  get() = size(1)", ["property String.loud 1-2"]),
        ("const val MAX = 3", ["constant MAX 1-1"]),
        ("typealias Handler = (A) -> Unit", ["type Handler 1-1"]),
        ("class A {\n  constructor(x: Int) : this() { go() }\n}", ["class A 1-3", "constructor A.constructor 2-2"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "kotlin") == expected


def test_bases_are_the_types_without_arguments() -> None:
    assert facts_of("class A(r: R) : Base<Int>(r), Face by r", "kotlin").definitions[0].bases == ("Base", "Face")


def test_calls_have_their_receivers() -> None:
    source = 'fun f() { a?.b!!.go(1); Registry.add(this); "x".shout(); xs.each(1) { it.run() } }'
    assert uses(source, "kotlin") == ["f -> a.b.go", "f -> Registry.add", "f -> ?.shout", "f -> xs.each", "f -> it.run"]


def test_arguments_are_not_counted_if_a_lambda_follows() -> None:
    source = "fun f() {\n  each(1) { go(1, 2) }\n}"
    assert {one.name: one.n_arguments for one in facts_of(source, "kotlin").references} == {"each": -1, "go": 2}


def test_local_types_are_bound() -> None:
    source = "fun f(s: Store?) {\n  val a = Foo(1)\n  val b: Bar = x\n  val c = s.other\n}"
    assert bound(source, "kotlin") == {"s": "Store", "a": "Foo()", "b": "Bar", "c": "=s.other"}


def test_imports_and_package() -> None:
    source = "package demo.x\nimport a.b.C\nimport a.b.*\nimport a.D as E\n"
    assert imported(source, "kotlin") == [("a.b", "C", "C"), ("a.b", "*", ""), ("a", "D", "E")]
    assert facts_of(source, "kotlin").package == "demo.x"


def test_members_on_the_line_of_their_braces_are_found() -> None:
    source = """
    sealed interface Shape { data class Round(val r: Int) : Shape; data object Flat : Shape }
    enum class Op(val sign: String) { ADD("+") { override fun run() = 1 }, SUB("-"); abstract fun run(): Int }
    class Shop {
        inner class Till { fun owner() = this@Shop.name() }
        fun name() = "${ label }"
    }
    """
    assert outline(source, "kotlin") == [
        "interface Shape 1-1",
        "class Shape.Round 1-1",
        "object Shape.Flat 1-1",
        "enum Op 2-2",
        "method Op.run 2-2",
        "method Op.run 2-2",
        "class Shop 3-6",
        "class Shop.Till 4-4",
        "method Shop.Till.owner 4-4",
        "method Shop.name 5-5",
    ]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "class R {\n  fun a() = 1\n  fun <T : Any> suspend(job: T): T {\n    return job\n  }\n  fun b() = a()\n}",
            ["class R 1-7", "method R.a 2-2", "method R.suspend 3-5", "method R.b 6-6"],
        ),
        (
            "class R {\n  fun open(n: Int) = n\n  fun b(block: suspend (Int) -> Unit) = inline(3)\n  fun inline(n: Int) = n\n}",
            ["class R 1-5", "method R.open 2-2", "method R.b 3-3", "method R.inline 4-4"],
        ),
        (
            "class C\ninternal actual constructor(\n  val data: Int,\n) {\n  fun one() = data\n}\nfun out() = 3",
            ["class C 1-6", "method C.one 5-5", "function out 7-7"],
        ),
        (
            "class M {\n  fun f(x: Any) = when (x) {\n    is A if x.n > 1 -> g()\n    else if h(x) -> 2\n    else -> 3\n  }\n  fun g() = 1\n}",
            ["class M 1-8", "method M.f 2-6", "method M.g 7-7"],
        ),
        ('class D {\n  val a = $$"x $b $$c"\n  fun f() = 1\n}', ["class D 1-4", "field D.a 2-2", "method D.f 3-3"]),
    ],
)
def test_what_the_grammar_does_not_know_costs_nothing_around_it(source: str, expected: list[str]) -> None:
    assert outline(source, "kotlin") == expected
    assert facts_of(source, "kotlin").problems == ()
