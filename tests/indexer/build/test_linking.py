"""After any edit, the edges are those of a fresh index, although few files are resolved again."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codecards.indexer.build.worker_pool import Workers
from codecards.indexer.graph.resolver import Resolver
from codecards.indexer.store.stored_symbols import StoredSymbols
from tests.support.indexed import build, exported, write_repository

PYTHON = """\
#- shop/__init__.py
from .pricing import price, Money as Cash
from .models import *
#- shop/pricing.py
from .base import Value


class Money(Value):
    def add(self, other: "Money") -> "Money":
        return self.check(other)


def price(item, rate=1) -> Money:
    return Money().add(item)
#- shop/base.py
class Value:
    def check(self, other):
        return self


class Store:
    def __init__(self, money: Value):
        self.money = money

    def load(self):
        return self.money.check(1)
#- shop/models.py
from shop.base import Store


class Basket(Store):
    def total(self):
        store = Store(1)
        store.load()
        return self.load()
#- app.py
import shop
from shop import Cash, price, Basket


def main():
    cash = price(1)
    cash.add(Cash())
    basket = Basket()
    basket.total()
    basket.load().check(2)
    shop.price(3)
    unknown.reconcile(1)
#- tests/test_app.py
from app import main
from shop.models import *


def test_main():
    main()
    Basket().money.check(1)
"""
SCRIPT = """\
#- src/index.ts
export { Money as Cash } from "./money";
export * from "./store";
#- src/money.ts
import { Value } from "./value";
export class Money extends Value { add(other: Money): Money { return this.check(other); } }
export function price(item: number): Money { return new Money().add(item); }
#- src/value.ts
export class Value { check(other: Value): Value { return this; } }
#- src/store.ts
import { Value } from "./value";
export class Store { constructor(private value: Value) {} load() { return this.value.check(1); } }
export default function open() { return new Store(1); }
#- src/app.ts
import { Cash, Store } from "./index";
import open from "./store";
import { price } from "@/money";
export function main() { const cash = price(1); cash.add(new Cash()); open().load(); const s = new Store(2); s.load(); reconcile(2); }
"""
GO = """\
#- go.mod
module example.com/shop
#- money/money.go
package money

type Money struct { rate Rate }
func (m *Money) Add(o *Money) *Money { m.rate.Check(); return m }
func Price(item int) *Money { return New().Add(nil) }
#- money/rate.go
package money

type Rate struct { n int }
func (r Rate) Check() int { return r.n }
func New() *Money { return &Money{} }
#- store/store.go
package store

import "example.com/shop/money"

type Store struct { m *money.Money }
func (s *Store) Load() *money.Money { return s.m.Add(money.Price(1)) }
#- main.go
package main

import "example.com/shop/store"
import "example.com/shop/money"

func main() { s := store.Store{}; s.Load().Add(money.New()); reconcile(1) }
"""
JAVA = """\
#- src/shop/Money.java
package shop;
public class Money extends Value { public Money add(Money other) { check(other); return this; } static Money price(int item) { return new Money(); } }
#- src/shop/Value.java
package shop;
public class Value { protected Value check(Value other) { return this; } }
#- src/store/Store.java
package store;
import shop.Money;
public class Store { private Money money; public Money load() { return money.add(Money.price(1)); } }
#- src/app/Main.java
package app;
import store.*;
import shop.Money;
class Main { void main() { Store store = new Store(); store.load().add(Money.price(2)).check(null); reconcile(1); } }
"""
RUST = """\
#- Cargo.toml
[package]
name = "shop"
#- src/lib.rs
pub mod money;
pub mod store;
pub use money::Money;
#- src/money.rs
pub struct Money { n: i32 }
impl Money { pub fn add(&self, other: &Money) -> Money { self.check(); price(1) } pub fn check(&self) {} }
pub fn price(item: i32) -> Money { Money { n: item } }
#- src/store.rs
use crate::money::{price, Money};
pub struct Store { money: Money }
impl Store { pub fn load(&self) -> Money { self.money.add(&price(1)) } }
impl Money { pub fn refund(&self) { self.check(); } }
#- src/main.rs
use shop::store::Store;
use shop::Money;
fn main() { let s = Store { money: shop::money::price(1) }; s.load().refund(); let m: Money = s.load(); m.check(); reconcile(1); }
"""
CPP = """\
#- money.h
#include "value.h"
namespace shop { class Money : public Value { public: Money add(const Money& other); int rate; }; Money price(int item); }
#- value.h
class Value { public: int check(int n); };
#- money.cpp
#include "money.h"
namespace shop { Money Money::add(const Money& other) { check(1); return price(2); } Money price(int item) { return Money(); } }
int Value::check(int n) { return n; }
#- main.cpp
#include "money.h"
int main() { shop::Money m = shop::price(1); m.add(m); m.check(2); reconcile(1); return 0; }
"""
KOTLIN = """\
#- a/Money.kt
package shop
class Money : Value() { fun add(other: Money): Money { check(1); return this } }
fun price(item: Int): Money = Money().add(Money())
#- a/Value.kt
package shop
open class Value { fun check(n: Int): Int = n }
#- b/Extra.kt
package extra
import shop.Money
fun Money.refund(): Int = check(2)
#- b/Main.kt
package app
import shop.*
import extra.refund
fun main() { val m = price(1); m.add(m).refund(); m.check(3); reconcile(1) }
"""
RUBY = """\
#- lib/money.rb
require_relative "value"
class Money < Value
  def add(other)
    check(other)
  end

  def self.price(item)
    Money.new.add(item)
  end
end
#- lib/value.rb
class Value
  def check(other)
    self
  end
end
#- lib/store.rb
require "money"
class Store
  def load
    Money.price(1).check(2)
    reconcile(1)
  end
end
"""
REPOSITORIES = {
    "python": PYTHON,
    "typescript": SCRIPT,
    "go": GO,
    "java": JAVA,
    "rust": RUST,
    "cpp": CPP,
    "kotlin": KOTLIN,
    "ruby": RUBY,
}
NAMES = (
    "add",
    "check",
    "price",
    "load",
    "Money",
    "Value",
    "Store",
    "main",
    "reconcile",
    "refund",
    "total",
    "Basket",
    "money",
    "shop",
    "store",
    "extra",
)
"""Words of the repositories that an edit swaps."""


def edit(root: Path, chance: random.Random) -> str:
    """Make one random edit; return what was done."""
    files = sorted(path for path in root.rglob("*.*") if path.is_file() and ".codecards" not in path.parts)
    if not files:
        return "nothing is left"
    path = chance.choice(files)
    lines = path.read_text().split("\n")
    match chance.randrange(8):
        case 0:
            path.unlink()
            return f"remove {path.name}"
        case 1:
            target = path.with_name(chance.choice(["moved", "index", "__init__", "lib", "mod"]) + path.suffix)
            path.replace(target)
            return f"move {path.name} to {target.name}"
        case 2:
            other = chance.choice(files)
            path.write_text(path.read_text() + "\n" + other.read_text())
            return f"append {other.name} to {path.name}"
        case 3:
            line = chance.randrange(len(lines))
            path.write_text("\n".join([*lines[:line], "", *lines[line:]]))
            return f"blank line {line} in {path.name}"
        case 4:
            line = chance.randrange(len(lines))
            path.write_text("\n".join([*lines[:line], *lines[line + 1 :]]))
            return f"remove line {line} of {path.name}"
        case 5:
            line, other = chance.randrange(len(lines)), chance.choice(files)
            added = chance.choice(other.read_text().split("\n"))
            path.write_text("\n".join([*lines[:line], added, *lines[line:]]))
            return f"add {added!r} to {path.name}"
        case _:
            old, new = chance.sample(NAMES, 2)
            text = path.read_text()
            at = [n for n in range(len(text)) if text.startswith(old, n)]
            if at:
                place = chance.choice(at)
                path.write_text(text[:place] + new + text[place + len(old) :])
            return f"{old} -> {new} in {path.name}"


@pytest.mark.parametrize("language", sorted(REPOSITORIES))
@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32))
def test_after_random_edits_the_edges_are_those_of_a_fresh_index(
    tmp_path_factory: pytest.TempPathFactory, workers: Workers, language: str, seed: int
) -> None:
    root = write_repository(tmp_path_factory.mktemp("edited"), REPOSITORIES[language])
    build(root, workers)
    chance = random.Random(seed)
    done = []
    for _ in range(6):
        if not any(path.is_file() for path in root.rglob("*.*") if ".codecards" not in path.parts):
            break
        done += [edit(root, chance) for _ in range(chance.randint(1, 2)) if any(root.glob("**/*.*"))]
        build(root, workers)
        fresh = tmp_path_factory.mktemp("fresh")
        shutil.copytree(root, fresh, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".codecards"))
        build(fresh, workers)
        assert exported(root) == exported(fresh), done


def test_an_import_of_a_package_points_to_the_card_that_its_file_gets(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, GO)
    (tmp_path / "money" / "money.go").write_text("package money\nfunc Price() {}\n")
    build(tmp_path, workers)
    (tmp_path / "money" / "money.go").write_text("func Price() {}\n\nvar limit = 3\n\npackage money\n")
    build(tmp_path, workers)
    fresh = tmp_path.parent / (tmp_path.name + "-fresh")
    shutil.copytree(tmp_path, fresh, ignore=shutil.ignore_patterns(".codecards"))
    build(fresh, workers)
    assert exported(tmp_path) == exported(fresh)


@contextmanager
def resolved_paths(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Collect the paths of the files that are resolved."""
    paths: list[str] = []
    resolve = Resolver.resolve

    def noted(self: Resolver, path: str) -> object:
        paths.append(path)
        return resolve(self, path)

    monkeypatch.setattr(Resolver, "resolve", noted)
    yield paths


def test_only_files_that_asked_for_a_changed_name_are_resolved_again(
    tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(tmp_path, PYTHON)
    build(tmp_path, workers)
    base = tmp_path / "shop" / "base.py"
    with resolved_paths(monkeypatch) as paths:
        base.write_text(base.read_text() + "\n\ndef audit():\n    return 1\n")
        build(tmp_path, workers)
        assert paths == ["shop/base.py"]
        paths.clear()
        base.write_text(base.read_text() + "\n\ndef reconcile(item):\n    return item\n")
        build(tmp_path, workers)
        assert paths == ["app.py", "shop/base.py"]


def test_an_edit_loads_no_facts_of_files_that_it_does_not_need(
    tmp_path: Path, workers: Workers, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_repository(tmp_path, PYTHON)
    build(tmp_path, workers)
    loaded: list[str] = []
    facts = StoredSymbols._facts

    def noted(self: StoredSymbols, path: str) -> object:
        loaded.append(path)
        return facts(self, path)

    monkeypatch.setattr(StoredSymbols, "_facts", noted)
    value = tmp_path / "shop" / "base.py"
    value.write_text(value.read_text() + "\n\ndef audit():\n    return 1\n")
    build(tmp_path, workers)
    assert loaded == ["shop/base.py"]
