"""C#: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "namespace A.B\n{\n  partial class C\n  {\n    C() {}\n    int M() => 1;\n  }\n}",
            ["namespace A.B 1-8", "class A.B.C 3-7", "constructor A.B.C.C 5-5", "method A.B.C.M 6-6"],
        ),
        (
            "record struct R(int A);\ninterface I\n{\n  int F() => 1;\n}\nenum E { A }\nstruct S {}\ndelegate int D(int a);",
            ["record R 1-1", "interface I 2-5", "method I.F 4-4", "enum E 6-6", "struct S 7-7", "type D 8-8"],
        ),
        (
            "class C\n{\n  const int K = 1;\n  int a, b;\n  int P { get; set; }\n  int this[int i] { get { return 1; } }\n  ~C() {}\n}",
            [
                "class C 1-8",
                "constant C.K 3-3",
                "field C.a 4-4",
                "field C.b 4-4",
                "property C.P 5-5",
                "property C.this[] 6-6",
                "method C.~C 7-7",
            ],
        ),
        (
            "class C\n{\n  public static C operator +(C a, C b) { return a; }\n  public static implicit operator int(C c) => 1;\n}",
            ["class C 1-5", "method C.operator + 3-3", "method C.operator int 4-4"],
        ),
        (
            "class C\n{\n  void M()\n  {\n    int Local() => 1;\n  }\n}",
            ["class C 1-7", "method C.M 3-6", "function C.M.Local 5-5"],
        ),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "csharp") == expected


def test_calls_have_their_owner_and_receiver() -> None:
    source = "class C { void F() { G(); this.x.Go(1); base.M(); B.S<int>().T(); y?.A().Z(); } }"
    assert uses(source, "csharp") == [
        "F -> G",
        "F -> self.x.Go",
        "F -> super.M",
        "F -> B.S",
        "F -> B.S().T",
        "F -> y.A",
        "F -> y.A().Z",
    ]


def test_each_using_form_gives_its_name() -> None:
    source = "using System.Text;\nusing static A.B;\nusing F = A.Foo;\nclass X {}"
    assert imported(source, "csharp") == [("System.Text", "*", ""), ("A.B", "*", ""), ("A", "Foo", "F")]


def test_local_names_are_bound_to_their_types() -> None:
    source = "class C { readonly Store _s; void F(Other o) { var x = new Foo(); var y = await Make(); Bar z = G(); this._s = o; } }"
    found = bound(source, "csharp")
    assert (found["_s"], found["o"], found["x"], found["y"], found["z"], found["self._s"]) == (
        "Store",
        "Other",
        "Foo()",
        "Make()",
        "Bar",
        "=o",
    )


def test_a_namespace_for_the_file_is_its_package_and_members_are_private_by_default() -> None:
    facts = facts_of(
        "namespace Demo.Orders;\n[Serializable]\npublic class A : B, IC {\n  void M() {}\n  public void N() {}\n}",
        "csharp",
    )
    assert facts.package == "Demo.Orders"
    assert [(one.name, one.exported) for one in facts.definitions] == [("A", True), ("M", False), ("N", True)]
    assert (facts.definitions[0].bases, facts.definitions[0].signature) == (("B", "IC"), "public class A : B, IC")


def test_a_base_with_constructor_arguments_is_a_base() -> None:
    facts = facts_of("class A(int x) : B(x), IC;", "csharp")
    assert facts.definitions[0].bases == ("B", "IC")
    assert [one.name for one in facts.references if one.kind == "inherit"] == ["B", "IC"]


def test_members_of_extension_blocks_are_those_of_the_class() -> None:
    source = """
    static class E
    {
      extension(string s)
      {
        public int N() => "}".Length;
        public bool B => true;
      }
      extension<T>(List<T> all) where T : class {
        public int M() { return N(); }
      }
      static int Plain() => 1;
    }
    class F { int Y() => 1; }
    """
    assert outline(source, "csharp") == [
        "class E 1-12",
        "method E.N 5-5",
        "property E.B 6-6",
        "method E.M 9-9",
        "method E.Plain 11-11",
        "class F 13-13",
        "method F.Y 13-13",
    ]
    assert facts_of(source, "csharp").problems == ()
