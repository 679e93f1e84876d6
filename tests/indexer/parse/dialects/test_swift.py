"""Swift: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import bound, facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "final class A: B {\n  init() {}\n  deinit { stop() }\n}",
            ["class A 1-4", "constructor A.init 2-2", "method A.deinit 3-3"],
        ),
        ("struct S {\n  var x: Int\n  var y: Int { go() }\n}", ["struct S 1-4", "field S.x 2-2", "property S.y 3-3"]),
        ("extension A.B: P {\n  func go() {}\n}", ["impl A.B 1-3", "method A.B.go 2-2"]),
        (
            "protocol P {\n  var n: Int { get }\n  func req()\n}",
            ["interface P 1-4", "property P.n 2-2", "method P.req 3-3"],
        ),
        ("enum E {\n  case a\n  func m() {}\n}", ["enum E 1-4", "method E.m 3-3"]),
        ("actor A {\n  func f() {}\n}", ["class A 1-3", "method A.f 2-2"]),
        ("func top() {\n  func inner() {}\n  let local = 1\n}", ["function top 1-4", "function top.inner 2-2"]),
        ("let shared = 1", ["variable shared 1-1"]),
        ("typealias H = Int", ["type H 1-1"]),
        ("func == (a: A, b: A) -> Bool { true }", ["function == 1-1"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "swift") == expected


def test_calls_have_their_receivers() -> None:
    source = "func f() { self.a?.go(1); try await x.y!.run(); Foo.shared.do(); every { $0.z() } }"
    assert uses(source, "swift") == ["f -> self.a.go", "f -> x.y.run", "f -> Foo.shared.do", "f -> every", "f -> $0.z"]


def test_local_types_are_bound() -> None:
    source = "func f(_ s: Store?) {\n  let a = Foo(1)\n  let b: Bar\n  if let c = x as? Baz { c.go() }\n}"
    assert bound(source, "swift") == {"s": "Store", "a": "Foo()", "b": "Bar", "c": "Baz"}


def test_imports_give_a_module_or_one_name() -> None:
    source = "import Foundation\n@testable import Vapor\nimport struct Foo.Bar\n"
    assert imported(source, "swift") == [("Foundation", "*", ""), ("Vapor", "*", ""), ("Foo", "Bar", "Bar")]


def test_private_is_not_exported_but_a_private_setter_is() -> None:
    source = "class A {\n  private func f() {}\n  private(set) var x: Int\n  fileprivate func g() {}\n}"
    shown = {one.name: one.exported for one in facts_of(source, "swift").definitions}
    assert shown == {"A": True, "f": False, "x": True, "g": False}
