"""JavaScript and TypeScript: definitions, references, imports, exports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("function f() {}\nasync function* g() {}", ["function f 1-1", "function g 2-2"]),
        ("const f = async (a) => {\n  return a;\n};", ["function f 1-3"]),
        (
            "class A extends B {\n  constructor() {}\n  get x() { return 1 }\n  set x(v) {}\n  static make() {}\n  #hid() {}\n  k = 1;\n  on = () => {};\n}",
            [
                "class A 1-9",
                "constructor A.constructor 2-2",
                "property A.x 3-3",
                "property A.x 4-4",
                "method A.make 5-5",
                "method A.#hid 6-6",
                "field A.k 7-7",
                "method A.on 8-8",
            ],
        ),
        (
            "Animal.prototype.speak = function () {};\nAnimal.make = function () {};",
            ["method Animal.speak 1-1", "method Animal.make 2-2"],
        ),
        ("Animal.prototype = {\n  run() {},\n};", ["method Animal.run 2-2"]),
        ("exports.a = async (x) => {};\nmodule.exports.b = function () {};", ["function a 1-1", "function b 2-2"]),
        (
            "const api = {\n  twice(n) {},\n  thrice: function (n) {},\n  deep: { f: () => 1 },\n};",
            ["variable api 1-5", "method api.twice 2-2", "method api.thrice 3-3", "method api.deep.f 4-4"],
        ),
        (
            "(function (root) {\n  function inner() {}\n  var api = { go() {} };\n})(this);",
            ["function inner 2-2", "method api.go 3-3"],
        ),
        ("export default function () {\n  return 1;\n}", ["function default 1-3"]),
        ("export default () => {\n  go();\n};", ["function default 1-3"]),
        ("const LIMIT = 1;\nlet a = 1,\n  b = 2;", ["constant LIMIT 1-1", "variable a 2-2", "variable b 3-3"]),
        ("const fs = require('fs');\nfunction f() { const local = 1; }", ["function f 2-2"]),
        ("const K = class {\n  m() {}\n};", ["class K 1-3", "method K.m 2-2"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "javascript") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "export function f(a: string): void;\nexport function f(a: Date): void;\nexport function f(a: any) {\n}",
            ["function f 1-1", "function f 2-2", "function f 3-4"],
        ),
        (
            "export abstract class P<T> {\n  constructor(private readonly n: N) {}\n  protected abstract go(a: T): string;\n}",
            ["class P 1-4", "constructor P.constructor 2-2", "method P.go 3-3"],
        ),
        (
            "@Injectable({ a: () => 1 })\nexport class A {\n  @Input() x: Foo;\n  @On('y')\n  m() {}\n}",
            ["class A 1-6", "function A.a 1-1", "field A.x 3-3", "method A.m 4-5"],
        ),
        (
            "interface S extends T {\n  write(a: string): void;\n  size: number }\nenum L { A }\ntype U = A | B;",
            ["interface S 1-3", "method S.write 2-2", "enum L 4-4", "type U 5-5"],
        ),
        (
            "export namespace N.M {\n  export const z = 1;\n}\ndeclare function hook(n: string): void;\ndeclare module 'x' {}",
            ["namespace N.M 1-3", "variable N.M.z 2-2", "function hook 4-4", "namespace x 5-5"],
        ),
        ("export const f = <T,>(a: T): T => {\n  return a;\n};", ["function f 1-3"]),
    ],
)
def test_typescript_adds_its_own_constructs(source: str, expected: list[str]) -> None:
    assert outline(source, "typescript") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "function f() { g(1); a.b.c(); this.x?.y().z(); super.m(); }",
            ["f -> g", "f -> a.b.c", "f -> self.x.y", "f -> self.x.y().z", "f -> super.m"],
        ),
        ("const f = () => <div><Foo.Bar a={b}/><Baz>x</Baz></div>;", ["f -> Foo.Bar", "f -> Baz"]),
        ("tag`x`; f?.(1); rows[0].go();", ["-> tag", "-> f", "-> ?.go"]),
    ],
)
def test_calls_have_their_owner_and_receiver(source: str, expected: list[str]) -> None:
    assert sorted(uses(source, "javascript")) == sorted(expected)


def test_construction_and_inheritance_are_references() -> None:
    source = "class A extends N.B {}\nnew A(1); new N.C();"
    assert uses(source, "javascript", "construct", "inherit") == ["A -> N.B", "-> A", "-> N.C"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import d, { a as b, c } from './m'", [("./m", "default", "d"), ("./m", "a", "b"), ("./m", "c", "c")]),
        ("import * as ns from 'x'; import './side'", [("x", "", "ns"), ("./side", "", "")]),
        (
            "const { a, b: c } = require('./m'); const m = require('./n'); const k = require('./o').k;",
            [("./m", "a", "a"), ("./m", "b", "c"), ("./n", "", "m"), ("./o", "k", "k")],
        ),
        ("const m = await import('./lazy')", [("./lazy", "", "m")]),
        (
            "export { a as b } from './m'; export * from './n'; export * as q from './o'",
            [("./m", "a", "b"), ("./n", "*", ""), ("./o", "", "q")],
        ),
        ("module.exports = require('./m'); exports.a = require('./n')", [("./m", "*", ""), ("./n", "", "a")]),
    ],
)
def test_each_module_form_gives_its_names(source: str, expected: list[tuple[str, str, str]]) -> None:
    assert imported(source, "javascript") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("function a() {}\nexport { a as b }", [("b", "a")]),
        ("export default function Page() {}", [("default", "Page")]),
        ("export default () => 1", [("default", "default")]),
        ("function f() {}\nmodule.exports = f;", [("default", "f")]),
        ("function f() {}\nexports.g = f;", [("g", "f")]),
        ("module.exports = { a, b: c, d() {} };", [("a", "a"), ("b", "c"), ("d", "d")]),
        ("module.exports = class Foo extends Bar {};", [("default", "Foo")]),
        ("module.exports = function () {};", [("default", "default")]),
        ("exports.on = async (a) => {};\nexports.n = 1;", []),
    ],
)
def test_names_for_importers_are_exports(source: str, expected: list[tuple[str, str]]) -> None:
    assert [(one.name, one.local) for one in facts_of(source, "javascript").exports] == expected


def test_only_exports_of_a_module_are_exported() -> None:
    facts = facts_of("export function a() {}\nfunction b() {}\nfunction c() {}\nexport { c }", "javascript")
    assert {one.name: one.exported for one in facts.definitions} == {"a": True, "b": False, "c": True}
    assert facts_of("function a() {}", "javascript").definitions[0].exported


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("function f(a: Foo, b?: ns.Bar | null) {}", {"a": "Foo", "b": "ns.Bar"}),
        (
            "const x = new Foo<T>(1); const y = await make(); const z = q as Baz;",
            {"x": "Foo()", "y": "make()", "z": "Baz"},
        ),
        (
            "class A { store: Store; constructor(private repo: Repo) { this.k = new K(); } }",
            {"store": "Store", "self.repo": "Repo", "self.k": "K()"},
        ),
        ("const p: Promise<Foo> = go();", {"p": "Foo"}),
    ],
)
def test_local_names_are_bound_to_their_types(source: str, expected: dict[str, str]) -> None:
    found = bound(source, "typescript")
    assert {name: found.get(name) for name in expected} == expected


def test_jsdoc_and_heads_are_kept() -> None:
    source = "/**\n * Pads a text.\n * @param w width\n */\nexport const pad = (text: string, w: number): string => {\n  return text;\n};"
    (pad,) = facts_of(source, "typescript").definitions
    assert (pad.lead_line, pad.first_line, pad.doc) == (1, 5, "Pads a text.\n@param w width")
    assert (pad.signature, pad.returns) == ("pad = (text: string, w: number): string", "string")


def test_an_awaited_generic_call_is_a_call() -> None:
    source = "async function load() { await this.http.get<User>('/x'); return await make<User>(1) }\n"
    assert uses(source, "typescript") == ["load -> self.http.get", "load -> make"]
