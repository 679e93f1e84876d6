"""Java: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "class A {\n  A() {}\n  @Override\n  public <T> T m(T a) { return a; }\n}",
            ["class A 1-5", "constructor A.A 2-2", "method A.m 3-4"],
        ),
        ("class A {\n  static class B {\n    class C {}\n  }\n}", ["class A 1-5", "class A.B 2-4", "class A.B.C 3-3"]),
        (
            "interface I {\n  int K = 1;\n  void m();\n  default void d() {}\n}",
            ["interface I 1-5", "constant I.K 2-2", "method I.m 3-3", "method I.d 4-4"],
        ),
        ("record P(int x) {\n  P {}\n}", ["record P 1-3", "constructor P.P 2-2"]),
        (
            "enum E {\n  A { int f() { return 1; } },\n  B;\n  int f() { return 2; }\n}",
            ["enum E 1-5", "object E.A 2-2", "method E.A.f 2-2", "method E.f 4-4"],
        ),
        (
            "class A {\n  static final int N = 1;\n  private int a, b;\n}",
            ["class A 1-4", "constant A.N 2-2", "field A.a 3-3", "field A.b 3-3"],
        ),
        (
            "class A {\n  Runnable r() {\n    return new Runnable() {\n      public void run() {}\n    };\n  }\n}",
            ["class A 1-7", "method A.r 2-6", "method A.r.run 4-4"],
        ),
        ('@interface M {\n  String value() default "";\n}', ["interface M 1-3", "method M.value 2-2"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "java") == expected


def test_calls_have_their_owner_and_receiver() -> None:
    source = "class A { void f() { g(); this.x.go(1); super.m(); B.s().t(); A.this.n(); list.map(Foo::bar); } }"
    assert uses(source, "java") == [
        "f -> g",
        "f -> self.x.go",
        "f -> super.m",
        "f -> B.s",
        "f -> B.s().t",
        "f -> A.n",
        "f -> list.map",
    ]
    assert uses(source, "java", "value") == ["f -> Foo.bar"]


def test_constructions_annotations_and_bases_are_references() -> None:
    source = "@Entity class A extends B<C> implements I { @Inject A() { super(1); new Foo<>(2); } }"
    assert uses(source, "java", "construct", "decorator", "inherit") == [
        "A -> Entity",
        "A -> B",
        "A -> I",
        "A -> Inject",
        "A -> super",
        "A -> Foo",
    ]
    assert facts_of(source, "java").definitions[0].bases == ("B", "I")


def test_each_import_form_gives_its_name() -> None:
    source = "import java.util.List;\nimport java.io.*;\nimport static a.B.max;\nimport static a.C.*;\nclass X {}"
    assert imported(source, "java") == [
        ("java.util", "List", "List"),
        ("java.io", "*", ""),
        ("a.B", "max", "max"),
        ("a.C", "*", ""),
    ]


@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        ("var x = new Foo(); var y = make();", {"x": "Foo()", "y": "make()"}),
        ("Foo<Bar> x = make();", {"x": "Foo"}),
        ("for (Foo q : qs) {}", {"q": "Foo"}),
        ("try (Res s = open()) {} catch (Bad e) {}", {"s": "Res", "e": "Bad"}),
        ("if (o instanceof Foo ff) {}", {"ff": "Foo"}),
        ("this.k = o;", {"self.k": "=o"}),
    ],
)
def test_local_names_are_bound_to_their_types(statement: str, expected: dict[str, str]) -> None:
    found = bound(f"class A {{ Store store; void f(final Other o) {{ {statement} }} }}", "java")
    expected = expected | {"o": "Other", "store": "Store"}
    assert {name: found.get(name) for name in expected} == expected


def test_package_docs_and_visibility_are_kept() -> None:
    facts = facts_of(
        'package a.b;\n/** Does it. */\n@Dep("x")\npublic class A {\n  private Foo m() { return null; }\n}', "java"
    )
    outer, method = facts.definitions
    assert (facts.package, outer.doc, outer.lead_line, outer.signature) == ("a.b", "Does it.", 2, "public class A")
    assert (method.returns, method.exported, outer.exported) == ("Foo", False, True)
