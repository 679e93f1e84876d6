"""Zig: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("pub fn go(a: i32) void {}", ["function go 1-1"]),
        ("extern fn ext(a: i32) void;", ["declaration ext 1-1"]),
        (
            "const Point = struct {\n    x: i32,\n    const zero = 0;\n    fn init() void {}\n};",
            ["struct Point 1-5", "constant Point.zero 3-3", "method Point.init 4-4"],
        ),
        ("pub const E = enum(u8) {\n    a,\n    fn m() void {}\n};", ["enum E 1-4", "method E.m 3-3"]),
        ("const U = union(enum) { a: i32 };", ["struct U 1-1"]),
        ("const Err = error{ A, B };", ["enum Err 1-1"]),
        (
            "pub fn List(comptime T: type) type {\n    return struct {\n        fn append(x: T) void {}\n    };\n}",
            ["function List 1-5", "method List.append 3-3"],
        ),
        ("var count: i32 = 1;", ["variable count 1-1"]),
        ('test "does it" {\n    try go(1);\n}', ["function does it 1-3"]),
        ('const std = @import("std");', []),
        ("fn f() void {\n    const local = 1;\n}", ["function f 1-3"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "zig") == expected


def test_calls_have_their_receivers() -> None:
    source = "fn f(self: *Self) void { self.run(1); try a.b.go(); helper(); Self.init(); }"
    assert uses(source, "zig") == ["f -> self.run", "f -> a.b.go", "f -> helper", "f -> self.init"]


def test_local_types_are_bound() -> None:
    source = "fn f(a: *const Foo, n: u32) void { const b = Bar.init(1); var c: ?*Baz = null; const d = Qux{ .x = 1 }; }"
    assert bound(source, "zig") == {"a": "Foo", "b": "Bar.init()", "c": "Baz", "d": "Qux"}


def test_imported_files_and_their_members() -> None:
    source = 'const std = @import("std");\nconst Foo = @import("foo.zig").Foo;\npub usingnamespace @import("x.zig");\n'
    assert imported(source, "zig") == [("std", "", "std"), ("foo.zig", "Foo", "Foo"), ("x.zig", "*", "")]


def test_only_pub_and_export_are_exported() -> None:
    facts = facts_of("pub fn f() void {}\nfn g() void {}\nexport fn h() void {}\n", "zig")
    assert {one.name: one.exported for one in facts.definitions} == {"f": True, "g": False, "h": True}
