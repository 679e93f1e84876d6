"""PHP: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<?php\nfunction f(int $a): int\n{\n  return $a;\n}", ["function f 2-5"]),
        (
            "<?php\nabstract class A\n{\n  const X = 1;\n  private ?B $b;\n  public function __construct() {}\n  abstract function m();\n}",
            ["class A 2-8", "constant A.X 4-4", "field A.b 5-5", "constructor A.__construct 6-6", "method A.m 7-7"],
        ),
        (
            "<?php\ninterface I { public function m(): int; }\ntrait T { function t() {} }\nenum E: string { case A = 'a'; function l() {} }",
            ["interface I 2-2", "method I.m 2-2", "trait T 3-3", "method T.t 3-3", "enum E 4-4", "method E.l 4-4"],
        ),
        (
            "<html>\n<?php\nfunction row() {\n  return <<<X\n  function fake() {}\n  X;\n}\n?>\n</html>",
            ["function row 3-7"],
        ),
        ("<?php\nnamespace A\\B {\n  class C {}\n}", ["namespace A.B 2-4", "class A.B.C 3-3"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "php") == expected


def test_calls_have_their_owner_and_receiver() -> None:
    source = "<?php\nclass A { function f($y) { g(1); $this->x->go(); self::make(); parent::m(); B::s()->t(); $y?->u(); \\N\\h(); } }"
    assert uses(source, "php") == [
        "f -> g",
        "f -> self.x.go",
        "f -> self.make",
        "f -> super.m",
        "f -> B.s",
        "f -> B.s().t",
        "f -> y.u",
        "f -> N.h",
    ]


def test_each_use_form_gives_its_names() -> None:
    source = "<?php\nuse A\\B\\C;\nuse D\\E as F;\nuse G\\{H, I as J};\nuse function x\\f;"
    assert imported(source, "php") == [
        ("A.B", "C", "C"),
        ("D", "E", "F"),
        ("G", "H", "H"),
        ("G", "I", "J"),
        ("x", "f", "f"),
    ]


def test_local_names_are_bound_to_their_types() -> None:
    source = "<?php\nclass A { protected Store $s; function __construct(private Repo $r, ?Foo $f) { $this->k = new K(); $y = $f; } }"
    found = bound(source, "php")
    assert (found["s"], found["self.r"], found["f"], found["self.k"], found["y"]) == (
        "Store",
        "Repo",
        "Foo",
        "K()",
        "=f",
    )


def test_package_traits_and_visibility_are_kept() -> None:
    facts = facts_of(
        "<?php\nnamespace Acme\\Work;\nclass A extends B implements C { use T; private function m() {} }", "php"
    )
    assert (facts.package, facts.definitions[0].bases) == ("Acme.Work", ("B", "C", "T"))
    assert not facts.definitions[1].exported
