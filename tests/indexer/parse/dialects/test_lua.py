"""Lua: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("local function f(a) return a end", ["function f 1-1"]),
        ("function M.f(a)\n  return a\nend", ["function M.f 1-3"]),
        ("function M:go(a) end", ["method M.go 1-1"]),
        ("function M.sub.deep() end", ["function M.sub.deep 1-1"]),
        ("M.f = function(a) end", ["function M.f 1-1"]),
        ("local f = function() end", ["function f 1-1"]),
        ("local t = {\n  key = function() end,\n}", ["object t 1-3", "function t.key 2-2"]),
        ("local M = {}\nfunction M.f() end\nreturn M", ["object M 1-1", "function M.f 2-2"]),
        ("local x, y = 1, 2", ["variable x 1-1", "variable y 1-1"]),
        ('local util = require("a.util")', []),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "lua") == expected


def test_calls_have_their_receivers() -> None:
    source = "local function f(a) M.go(1); a:run(2); self.z.w(); plain 'x' end"
    assert uses(source, "lua") == ["f -> M.go", "f -> a.run", "f -> self.z.w", "f -> plain"]


def test_required_modules_are_imports_under_their_local_name() -> None:
    source = "local util = require('a.util')\nlocal f = require 'b'.f\nrequire('c').run()\n"
    assert imported(source, "lua") == [("a.util", "", "util"), ("b", "f", "f"), ("c", "", "")]


def test_the_type_of_an_object_is_its_metatable() -> None:
    source = "local a = Foo.new(1)\nlocal b = setmetatable({}, { __index = Bar })\nlocal c = setmetatable({}, Baz)\n"
    assert bound(source, "lua") == {"a": "Foo.new()", "b": "Bar", "c": "Baz"}


def test_a_file_exports_the_table_that_it_returns() -> None:
    facts = facts_of("local M = {}\nfunction M.f() end\nlocal function g() end\nreturn M\n", "lua")
    assert [(one.name, one.local) for one in facts.exports] == [("default", "M"), ("f", "M.f")]
    assert {one.name: one.exported for one in facts.definitions} == {"M": True, "f": True, "g": False}
