"""References resolve to the definitions that a reader of the code would name, and to nothing else."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from codecards.indexer.facts import FileFacts
from codecards.indexer.graph.edges import Edge
from codecards.indexer.graph.interface import interface_digest
from codecards.indexer.graph.resolver import Resolver
from codecards.indexer.graph.symbols import SymbolTable
from codecards.indexer.parse.extraction import extract
from codecards.indexer.parse.languages import detect_language
from tests.support.repo_text import split_files


def facts_of(repo: str) -> dict[str, FileFacts]:
    return {path: extract(text, detect_language(path, text.encode())) for path, text in split_files(repo).items()}


def described(facts: Mapping[str, FileFacts], edge: Edge) -> str:
    """Return "path name -> target confidence", the target as path::name."""
    if edge.target is None:
        target = "?" if edge.confidence == "possible" else "-"
    else:
        path, position = edge.target
        target = path + (f"::{facts[path].definitions[position].qualified_name}" if position >= 0 else "")
    return f"{edge.caller_path} {edge.name} -> {target} {edge.confidence}"


def check(repo: str, *expected: str, absent: tuple[str, ...] = ()) -> None:
    """Check that the expected edges exist, and none for the absent names; `*.name` matches any receiver."""
    facts = facts_of(repo)
    resolver = Resolver(SymbolTable(facts))
    edges = [edge for path in facts for edge in resolver.resolve(path) if edge.kind != "import"]
    found = {described(facts, edge) for edge in edges}
    found |= {described(facts, replace(edge, name="*." + edge.name.rpartition(".")[2])) for edge in edges}
    missing = [one for one in expected if one not in found]
    assert not missing, "\n".join(["missing:", *missing, "found:", *sorted(found)])
    assert not {edge.name for edge in edges} & set(absent), sorted(found)


PYTHON_PACKAGE = """\
#- pkg/__init__.py
from .impl import work as do_work
from .shapes import *
from . import tools
#- pkg/impl.py
def work(): ...
#- pkg/shapes.py
def area(): ...
def _hidden(): ...
#- pkg/tools.py
def clamp(): ...
#- pkg/sub/__init__.py
#- pkg/sub/deep.py
from .. import tools as t
from ..impl import work
"""


@pytest.mark.parametrize(
    ("body", "name", "target"),
    [
        ("from pkg import do_work\ndo_work()", "do_work", "pkg/impl.py::work exact"),
        ("import pkg\npkg.do_work()", "pkg.do_work", "pkg/impl.py::work exact"),
        ("from pkg import area as size\nsize()", "size", "pkg/shapes.py::area exact"),
        ("import pkg.tools\npkg.tools.clamp()", "pkg.tools.clamp", "pkg/tools.py::clamp exact"),
        ("import pkg.tools as pt\npt.clamp()", "pt.clamp", "pkg/tools.py::clamp exact"),
        ("from pkg.sub.deep import t\nt.clamp()", "t.clamp", "pkg/tools.py::clamp exact"),
        ("from pkg.sub import deep\ndeep.work()", "deep.work", "pkg/impl.py::work exact"),
        ("def f():\n    from pkg.impl import work\n    work()", "work", "pkg/impl.py::work exact"),
        ("import requests\nrequests.get()", "requests.get", "- external"),
    ],
)
def test_python_imports_are_followed_to_the_definition(body: str, name: str, target: str) -> None:
    check(f"{PYTHON_PACKAGE}#- app.py\n{body}\n", f"app.py {name} -> {target}")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("from pkg import _hidden\n_hidden()", "_hidden"),
        ("def f(area):\n    area()", "area"),
        ("from ........ import ghost\nghost()", "ghost"),
        ("import json\njson.area()\nlen([])", "len"),
        ("def f(options):\n    options.get('area')", "options.get"),
        ("'a'.join([])", "?.join"),
    ],
)
def test_private_shadowed_and_builtin_names_get_no_edge(body: str, name: str) -> None:
    decoys = "#- decoys.py\ndef len(): ...\nclass D:\n    def get(self, a): ...\n    def join(self, a): ...\n"
    check(f"{PYTHON_PACKAGE}{decoys}#- app.py\n{body}\n", absent=(name,))


def test_import_cycles_and_self_imports_terminate() -> None:
    repo = """\
#- p/__init__.py
#- p/left.py
from .right import *
from .right import nowhere
def lhs(): return rhs()
#- p/right.py
from .left import *
from .left import nowhere
def rhs(): return lhs()
def lost(): return nowhere()
#- p/own.py
from . import own
from .own import loop
def loop(): return own.loop()
"""
    check(
        repo,
        "p/left.py rhs -> p/right.py::rhs exact",
        "p/right.py lhs -> p/left.py::lhs exact",
        "p/own.py own.loop -> p/own.py::loop exact",
        absent=("nowhere",),
    )


def test_classes_that_inherit_from_each_other_terminate() -> None:
    repo = "#- a.py\nclass A(B):\n    def go(self): self.lost()\nclass B(C): ...\nclass C(B): ...\n"
    check(repo, absent=("self.lost",))


CLASSES = """\
#- store.py
class Base:
    def put(self, key): ...
    def close(self): ...
class Store(Base):
    def put(self, key): self.close()
    def again(self) -> "Store": ...
def open_store() -> Store: ...
"""


@pytest.mark.parametrize(
    ("body", "name", "target"),
    [
        ("s = Store()\ns.put(1)", "s.put", "Store.put exact"),
        ("s = Store()\ns.close()", "s.close", "Base.close exact"),
        ("def f(s: Store): s.close()", "s.close", "Base.close exact"),
        ("def f(s: Store | None): s.put(1)", "s.put", "Store.put exact"),
        ("s = open_store()\ns.put(1)", "s.put", "Store.put likely"),
        ("Store().again().put(1)", "Store().again().put", "Store.put likely"),
        (
            "class K:\n    def __init__(self):\n        self.s = Store()\n    def f(self): self.s.put(1)",
            "self.s.put",
            "Store.put exact",
        ),
        (
            "class K:\n    def __init__(self, s: Store):\n        self.s = s\n    def f(self): self.s.put(1)",
            "self.s.put",
            "Store.put exact",
        ),
        ("class K(Store):\n    def put(self, key): super().put(key)", "super.put", "Store.put exact"),
        ("make = open_store\nmake()", "make", "open_store exact"),
    ],
)
def test_the_type_of_a_receiver_follows_from_its_binding(body: str, name: str, target: str) -> None:
    check(f"{CLASSES}#- app.py\nfrom store import *\n{body}\n", f"app.py {name} -> store.py::{target}")


def test_a_default_in_an_or_expression_is_only_likely() -> None:
    body = "class K:\n    def __init__(self, s=None):\n        self.s = s or Store()\n    def f(self): self.s.put(1)"
    check(f"{CLASSES}#- app.py\nfrom store import *\n{body}\n", "app.py self.s.put -> store.py::Store.put likely")


def test_a_class_body_is_not_a_scope_for_its_methods() -> None:
    repo = "#- a.py\ndef run(): ...\nclass A:\n    def run(self): run()\n"
    check(repo, "a.py run -> a.py::run exact")


def test_the_nearest_scope_wins_and_later_definitions_count() -> None:
    repo = """\
#- a.py
def help(): ...
def outer():
    def help(): ...
    def inner():
        return help()
    return later()
def later(): ...
"""
    check(repo, "a.py help -> a.py::outer.help exact", "a.py later -> a.py::later exact")


BY_NAME = """\
#- one.py
class TokenStore:
    def purge_expired(self, now): ...
    def refresh(self): ...
    def load_all(self): ...
#- two.py
class Cache:
    def refresh(self): ...
    def load_all(self): ...
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("x.purge_expired(1)", "x.purge_expired -> one.py::TokenStore.purge_expired likely"),
        ("x.purge_expired(1, 2, 3)", "x.purge_expired -> ? possible"),
        ("x.refresh()", "x.refresh -> ? possible"),
        ("token_store.load_all()", "token_store.load_all -> one.py::TokenStore.load_all likely"),
    ],
)
def test_a_name_alone_is_likely_only_if_it_is_uncommon_and_the_arguments_fit(call: str, expected: str) -> None:
    check(f"{BY_NAME}#- app.py\ndef f(x, token_store): {call}\n", f"app.py {expected}")


def test_possible_edges_list_some_candidates_and_count_all() -> None:
    classes = "".join(f"#- m{n}.py\nclass C{n}:\n    def refresh_all(self): ...\n" for n in range(11))
    facts = facts_of(f"{classes}#- app.py\ndef f(x): x.refresh_all()\n")
    edge = Resolver(SymbolTable(facts)).resolve("app.py")[0]
    assert (edge.confidence, edge.target, len(edge.candidates), edge.n_candidates) == ("possible", None, 8, 11)


def test_a_method_missing_from_a_type_with_an_external_base_is_external() -> None:
    repo = "#- a.py\nfrom django import View\nclass V(View):\n    def f(self): self.render_now()\n"
    decoy = "#- b.py\nclass W:\n    def render_now(self): ...\n"
    check(repo + decoy, "a.py self.render_now -> - external")


MIXIN = """\
#- base.py
class Step:
    def run(self): self.prepare_all()
class Other:
    def load_rows(self): ...
    def prepare_all(self): ...
#- mine.py
from base import Step
class Mine(Step):
    def prepare_all(self): ...
"""


def test_a_method_that_one_subclass_alone_defines_is_likely() -> None:
    check(MIXIN, "base.py self.prepare_all -> mine.py::Mine.prepare_all likely")


def test_a_method_of_an_unknown_type_is_only_possible() -> None:
    repo = "#- a.py\nclass A:\n    def load_rows(self): ...\n#- b.py\ndef f(x: Elsewhere): x.load_rows()\n"
    check(repo, "b.py x.load_rows -> ? possible")


def test_brackets_after_a_field_or_class_are_not_parameters() -> None:
    repo = "#- A.java\nclass B {}\nclass A { private Object x = new Object(new B()); }\n"
    check(repo, "A.java B -> A.java::B exact")


def test_javascript_reexports_are_followed() -> None:
    repo = """\
#- lib/money.js
export function pad() {}
export default class Money { plus() {} }
#- lib/old.js
function keep() {}
exports.parse = function () { return keep(); };
module.exports.strip = () => {};
#- lib/index.js
export * from "./money";
export { pad as fill, default as Cash } from "./money";
export * as money from "./money";
#- app.js
import Amount, { pad } from "./lib/money.js";
import { fill, Cash, money } from "./lib";
const { parse } = require("./lib/old");
const old = require("./lib/old");
pad(); fill(); money.pad(); parse(); old.strip();
new Amount().plus();
const cash = new Cash();
cash.plus();
"""
    check(
        repo,
        "app.js pad -> lib/money.js::pad exact",
        "app.js fill -> lib/money.js::pad exact",
        "app.js money.pad -> lib/money.js::pad exact",
        "app.js parse -> lib/old.js::parse exact",
        "app.js old.strip -> lib/old.js::strip exact",
        "app.js cash.plus -> lib/money.js::Money.plus exact",
        "lib/old.js keep -> lib/old.js::keep exact",
    )


def test_go_packages_span_files_and_embed() -> None:
    repo = """\
#- a/one.go
package a
type Base struct{}
func (b *Base) Lock() {}
type Store struct { Base; next *Store }
func New() *Store { return helper() }
#- a/two.go
package a
func helper() *Store { return &Store{} }
func (s *Store) Put() { s.Lock(); s.next.Put() }
#- b/helper.go
package b
import other "example.com/m/a"
func helper() { s := other.New(); s.Put() }
func run() { helper(); json.Marshal(1) }
"""
    check(
        repo,
        "a/one.go helper -> a/two.go::helper exact",
        "a/two.go *.Lock -> a/one.go::Base.Lock exact",
        "a/two.go *.Put -> a/two.go::Store.Put exact",
        "b/helper.go other.New -> a/one.go::New exact",
        "b/helper.go s.Put -> a/two.go::Store.Put likely",
        "b/helper.go helper -> b/helper.go::helper exact",
    )


def test_rust_paths_lead_through_modules_impls_and_traits() -> None:
    repo = """\
#- src/lib.rs
pub mod store;
pub use store::Store as Shelf;
pub trait Area { fn area(&self) -> f64; fn twice(&self) -> f64 { self.area() } }
mod inner { pub fn help() { super::top(); } }
fn top() { inner::help(); crate::store::fill(); Shelf::open(); }
#- src/store.rs
use crate::Area;
pub struct Store;
impl Store { pub fn open() -> Self { Self::make() } fn make() -> Self { Store } }
impl Area for Store { fn area(&self) -> f64 { self.twice() } }
pub fn fill() { let s = Store::open(); s.twice(); }
"""
    check(
        repo,
        "src/lib.rs self.area -> src/lib.rs::Area.area exact",
        "src/lib.rs super.top -> src/lib.rs::top exact",
        "src/lib.rs inner.help -> src/lib.rs::inner.help exact",
        "src/lib.rs crate.store.fill -> src/store.rs::fill exact",
        "src/lib.rs Shelf.open -> src/store.rs::Store.open exact",
        "src/store.rs self.twice -> src/lib.rs::Area.twice exact",
        "src/store.rs s.twice -> src/lib.rs::Area.twice likely",
    )


def test_java_resolves_names_of_its_package_nested_types_and_static_imports() -> None:
    repo = """\
#- p/Base.java
package p;
class Base { void touch() {} void touch(int n) {} }
#- p/Shop.java
package p;
import static q.Tools.trim;
public class Shop extends Base {
  static class Line { void ring() { total(1); } }
  static int total(int n) { return n; }
  void run() { touch(2); trim("x"); new Line().ring(); q.Tools.trim("y"); }
}
#- q/Tools.java
package q;
public class Tools { public static String trim(String text) { return text; } }
"""
    check(
        repo,
        "p/Shop.java total -> p/Shop.java::Shop.total exact",
        "p/Shop.java touch -> p/Base.java::Base.touch exact",
        "p/Shop.java trim -> q/Tools.java::Tools.trim exact",
        "p/Shop.java q.Tools.trim -> q/Tools.java::Tools.trim exact",
    )


def test_c_is_exact_for_included_names_and_likely_for_others() -> None:
    repo = """\
#- io.h
int fill(int n);
#define TWICE(x) ((x) * 2)
#- io.c
#include "io.h"
int fill(int n) { return TWICE(n); }
static int hidden(int n) { return n; }
#- far.c
int far_away(int n) { return n; }
#- hooks.h
int read(int n);
#- main.c
#include "io.h"
int hidden(int n);
int run(void) { fill(1); far_away(2); read(3); return helper(4); }
"""
    check(
        repo,
        "io.c TWICE -> io.h::TWICE exact",
        "main.c fill -> io.c::fill exact",
        "main.c far_away -> far.c::far_away likely",
        absent=("read", "helper"),
    )


def test_the_overload_with_the_number_of_arguments_is_chosen() -> None:
    repo = "#- A.java\nclass A { void put(int a) {} void put(int a, int b) {} void run() { put(1, 2); } }\n"
    facts = facts_of(repo)
    edge = next(one for one in Resolver(SymbolTable(facts)).resolve("A.java") if one.name == "put")
    assert edge.target is not None
    assert facts["A.java"].definitions[edge.target[1]].signature == "void put(int a, int b)"
    assert edge.confidence == "exact"


def test_a_file_resolved_alone_has_the_same_edges_as_in_a_whole_run() -> None:
    repo = (
        PYTHON_PACKAGE
        + CLASSES
        + BY_NAME
        + "#- app.py\nfrom pkg import *\nfrom store import *\narea()\nopen_store().put(1)\n"
    )
    facts = facts_of(repo)
    whole = Resolver(SymbolTable(facts))
    in_order = {path: whole.resolve(path) for path in facts}
    backwards = Resolver(SymbolTable(facts))
    in_reverse = {path: backwards.resolve(path) for path in reversed(facts)}
    alone = {path: Resolver(SymbolTable(facts)).resolve(path) for path in facts}
    assert in_order == in_reverse == alone


def without_positions(edges: tuple[Edge, ...]) -> list[Edge]:
    return [replace(edge, line=0, target=None, candidates=()) for edge in edges]


@pytest.mark.parametrize(
    ("edit", "same"),
    [
        (("return 1", "return 2 + 3"), True),
        (("return 1", "x = 4\n    return x"), True),
        (("def helper", "def assistant"), False),
        (("helper(a)", "helper(a, b)"), False),
        (("self.next = Node()", "self.next = Other()"), False),
        (("from far import gone", "from near import gone"), False),
    ],
)
def test_the_interface_digest_changes_with_what_other_files_depend_on(edit: tuple[str, str], same: bool) -> None:
    node = "class Node:\n    def __init__(self):\n        self.next = Node()\n"
    before = f"from far import gone\n{node}def helper(a):\n    return 1\n"
    after = before.replace(*edit)
    assert after != before
    digests = {interface_digest("a.py", extract(text, "python")) for text in (before, after)}
    assert (len(digests) == 1) == same
    if same:
        user = "#- user.py\nfrom a import helper, Node\nhelper(1)\nNode().next.next\n"
        edges = [
            Resolver(SymbolTable(facts_of(f"{user}#- a.py\n{text}"))).resolve("user.py") for text in (before, after)
        ]
        assert without_positions(edges[0]) == without_positions(edges[1])


def test_the_digest_follows_a_member_to_the_parameter_that_gives_its_type() -> None:
    text = "class A:\n    def __init__(self, s: Store):\n        t = s\n        self.s = t\n"
    digests = {interface_digest("a.py", extract(one, "python")) for one in (text, text.replace("t = s", "t = q"))}
    assert len(digests) == 2


def test_an_edge_has_the_name_as_written_its_line_and_its_rule() -> None:
    facts = facts_of("#- a.py\nclass A:\n    def f(self):\n        self.g()\n    def g(self): ...\n")
    (edge,) = Resolver(SymbolTable(facts)).resolve("a.py")
    assert (edge.name, edge.line, edge.kind, edge.rule) == ("self.g", 3, "call", "self")
