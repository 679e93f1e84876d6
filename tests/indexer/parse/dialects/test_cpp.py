"""C++: classes, templates, namespaces, methods outside their class."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("class A : public B<int>, private ns::C { void f(); };", ["class A 1-1", "declaration A.f 1-1"]),
        (
            "template <typename T>\nclass Grid {\n  ~Grid() {}\n  explicit operator bool() const { return 1; }\n};",
            ["class Grid 1-5", "method Grid.~Grid 3-3", "method Grid.operator bool 4-4"],
        ),
        ("template <class T, int N>\nT &Grid<T, N>::at(int i) { return 1; }", ["method Grid.at 1-2"]),
        ("template <class T>\nGrid<T>::Grid() {}", ["constructor Grid.Grid 1-2"]),
        ("Grid &Grid::operator+=(const Grid &o) { return *this; }", ["method Grid.operator+= 1-1"]),
        ("bool Less::operator()(int a) const { return a; }", ["method Less.operator() 1-1"]),
        ("namespace a::b {\nint f() { return 1; }\n}", ["namespace a.b 1-3", "function a.b.f 2-2"]),
        ("namespace {\nint hidden;\n}", ["variable hidden 2-2"]),
        ("using Alias = std::map<int, Foo>;", ["type Alias 1-1"]),
        ("class EXPORT_API A : public B {\n  void f() {}\n};", ["class A 1-3", "method A.f 2-2"]),
        ("TEST(Suite, does_it) { run(); }", ["function Suite.does_it 1-1"]),
        ('TEST_CASE("does it") {\n  run();\n}', ["function does it 1-3"]),
        ("A::A() try : x(1) {\n  run();\n} catch (...) {\n}", ["constructor A.A 1-4"]),
        ("void f() { Foo x(a, b); }", ["function f 1-1"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "cpp") == expected


def test_bases_lose_access_specifiers_and_type_arguments() -> None:
    assert facts_of("class A : public B<int>, private virtual ns::C {};", "cpp").definitions[0].bases == ("B", "ns.C")


def test_calls_have_canonical_receivers() -> None:
    source = "void A::f() { this->q->run(); Foo::make(); ns::fn<int>(1); v[0].go(); plain<int>(2); }"
    assert uses(source, "cpp") == ["f -> self.q.run", "f -> Foo.make", "f -> ns.fn", "f -> ?.go", "f -> plain"]


def test_local_types_are_bound() -> None:
    source = """
        void f(const Grid& g) {
          Foo foo(1); auto z = std::make_unique<Bar>(3); auto w = new ns::Baz(2);
          std::unique_ptr<Qux> q; auto k = Foo::create();
        }
    """
    expected = {"g": "Grid", "foo": "Foo", "z": "Bar", "w": "ns.Baz", "q": "Qux", "k": "Foo.create()"}
    assert bound(source, "cpp") == expected


def test_using_declarations_and_namespace_aliases_are_imports() -> None:
    source = "using std::vector;\nusing namespace foo::bar;\nnamespace fs = std::filesystem;\n"
    assert imported(source, "cpp") == [("std", "vector", "vector"), ("foo.bar", "*", ""), ("std.filesystem", "", "fs")]


def test_members_after_private_are_not_exported() -> None:
    source = "class A {\npublic:\n  void shown() {}\nprivate:\n  void hidden() {}\n};"
    shown = {one.name: one.exported for one in facts_of(source, "cpp").definitions}
    assert shown == {"A": True, "shown": True, "hidden": False}


@pytest.mark.parametrize("delimiter", ["", "x", "abcdefghijklmno", "abcdefghijklmnop"])
def test_raw_strings_of_every_delimiter_hide_nothing(delimiter: str) -> None:
    source = f'const char *a = R"{delimiter}(one " {{ )"two\n#if X\n){delimiter}";\nint f() {{ return 1; }}\nint g() {{ return f(); }}'
    if not delimiter:
        source = source.replace(')"two', "two")
    assert outline(source, "cpp")[-2:] == ["function f 4-4", "function g 5-5"]
    assert facts_of(source, "cpp").problems == ()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("namespace a {\ninline namespace v1 {\nint f() { return 1; }\n}\n}", ["namespace a 1-5", "function a.f 3-3"]),
        ("namespace a::inline v1 {\nint f() { return 1; }\n}", ["namespace a 1-3", "function a.f 2-2"]),
        ("namespace a::inline v1::b {\nint f() { return 1; }\n}", ["namespace a.b 1-3", "function a.b.f 2-2"]),
    ],
)
def test_members_of_inline_namespaces_are_those_of_the_namespace_around(source: str, expected: list[str]) -> None:
    assert outline(source, "cpp") == expected
