"""Ruby: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "module A\n  class B < C\n    def initialize(x)\n    end\n  end\nend",
            ["module A 1-6", "class A.B 2-5", "constructor A.B.initialize 3-4"],
        ),
        (
            "class A::B\n  def <=>(o)\n  end\n  def x=(v); end\nend",
            ["class A.B 1-5", "method A.B.<=> 2-3", "method A.B.x= 4-4"],
        ),
        (
            "class A\n  class << self\n    def make = new\n  end\n  def self.parse(t) = make(t)\nend",
            ["class A 1-6", "method A.make 3-3", "method A.parse 5-5"],
        ),
        (
            'class A\n  define_method(:label) do |x|\n    x\n  end\n  %i[a b].each { |s| define_method("#{s}?") { s } }\nend',
            ["class A 1-6", "method A.label 2-4"],
        ),
        ("def top\nend\nRATE = 1", ["function top 1-2", "constant RATE 3-3"]),
        ("Point = Struct.new(:x) do\n  def far; end\nend", ["class Point 1-3", "method Point.far 2-2"]),
        ("class A\n  attr_reader :a, :b\nend", ["class A 1-3", "field A.a 2-2", "field A.b 2-2"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "ruby") == expected


def test_calls_have_their_owner_and_receiver() -> None:
    source = "class A\n  def f(y)\n    g 1\n    @s.go(y)\n    self.class.make\n    B::C.run\n    y&.ok?\n    x(1).z!\n  end\nend"
    assert uses(source, "ruby") == [
        "f -> g",
        "f -> self.s.go",
        "f -> self.make",
        "f -> B.C.run",
        "f -> y.ok?",
        "f -> x",
        "f -> x().z!",
    ]


def test_a_bare_name_calls_a_method_unless_it_is_a_local() -> None:
    source = "class A\n  def base; 1; end\n  def rate; 2; end\n  def f(rate)\n    base * rate\n  end\nend"
    assert uses(source, "ruby") == ["f -> base"]


def test_new_constructs_and_mixed_in_modules_are_bases() -> None:
    source = "class A < Base::B\n  include M\n  def f\n    Foo.new(1)\n  end\nend"
    assert uses(source, "ruby", "construct", "inherit") == ["A -> Base.B", "A -> M", "f -> Foo"]
    assert facts_of(source, "ruby").definitions[0].bases == ("Base.B", "M")


def test_required_files_are_imports() -> None:
    source = "require 'json'\nrequire_relative 'foo/bar'"
    assert imported(source, "ruby") == [("json", "", ""), ("./foo/bar", "", "")]


def test_local_names_are_bound_to_their_types() -> None:
    found = bound(
        "class A\n  def f(p)\n    x = N::Foo.new(1)\n    @y = Bar.new\n    z = make(1)\n    @p = p\n  end\nend", "ruby"
    )
    assert found == {"x": "N.Foo", "self.y": "Bar", "z": "make()", "self.p": "=p"}


def test_methods_after_private_are_not_exported() -> None:
    facts = facts_of(
        "class A\n  def a; end\n  private\n  def b; end\n  public\n  def c; end\nend\nclass B\n  def d; end\n  private def e; end\nend",
        "ruby",
    )
    assert {one.name: one.exported for one in facts.definitions if one.kind == "method"} == {
        "a": True,
        "b": False,
        "c": True,
        "d": True,
        "e": False,
    }
