"""Damaged texts: what lies around a damaged definition survives, and the report says where the damage is."""

import random
import re

import pytest

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.extraction import extract
from codecards.indexer.problems import Reason

SOURCES = {
    "python": '''
class Cart:
    """Goods of one order."""

    def add(self, item, count=1):
        """Add an item."""
        for one in range(count):
            if item not in self.items:
                self.items[item] = 0
            self.items[item] += one

    def total(self):
        return sum(self.price(item) for item in self.items)

    @property
    def is_empty(self):
        return not self.items


def load(path):
    with open(path) as file:
        return Cart()


def save(cart, path):
    data = {"items": cart.items}
    return write(path, data)


def purge():
    pass
''',
    "javascript": """
class Cart {
  add(item, count) {
    for (const one of range(count)) {
      this.items.push(one);
    }
  }

  total() {
    return this.items.map((one) => one.price).reduce(sum, 0);
  }
}

function load(path) {
  if (path) {
    return new Cart(path);
  }
  return null;
}

const save = (cart) => {
  write(cart);
};

function purge() {
  return 1;
}
""",
    "kotlin": """
class Cart(val id: Int) {
    fun add(item: Item, count: Int) {
        for (one in 1..count) {
            items.add(item)
        }
    }

    fun total(): Int {
        return items.sumOf { it.price }
    }
}

fun load(path: String): Cart {
    if (path.isEmpty()) {
        return Cart(1)
    }
    return Cart(2)
}

fun save(cart: Cart) {
    write(cart)
}

fun purge(): Int = 1
""",
    "rust": """
pub struct Cart {
    items: Vec<Item>,
}

impl Cart {
    pub fn add(&mut self, item: Item) {
        if item.ok() {
            self.items.push(item);
        }
    }

    pub fn total(&self) -> u32 {
        self.items.iter().map(|one| one.price).sum()
    }
}

pub fn load(path: &str) -> Cart {
    let items = read(path);
    Cart { items }
}

pub fn save(cart: &Cart) {
    write(cart);
}

fn purge() -> u32 {
    1
}
""",
    "java": """
package shop;

public class Cart {
    private int n;

    public void add(Item item, int count) {
        for (int i = 0; i < count; i++) {
            items.add(item);
        }
    }

    public int total() {
        if (n > 1) {
            return sum(items);
        }
        return 0;
    }

    static Cart load(String path) {
        return new Cart(path);
    }

    static void save(Cart cart) {
        write(cart);
    }
}
""",
    "ruby": """
class Cart
  def add(item, count)
    count.times do
      items << item
    end
  end

  def total
    items.sum { |one| one.price }
  end

  def empty?
    if items
      items.empty?
    end
  end
end

module Store
  def self.load(path)
    Cart.new(path)
  end

  def self.save(cart)
    write(cart)
  end
end
""",
    "go": """
package shop

type Cart struct {
	items []Item
}

func (c *Cart) Add(item Item) {
	for _, one := range c.items {
		c.keep(one)
	}
}

func (c *Cart) Total() int {
	return sum(c.items)
}

func Load(path string) *Cart {
	if path == "" {
		return nil
	}
	return &Cart{}
}

func Save(cart *Cart) {
	write(cart)
}
""",
    "zig": """
const std = @import("std");

pub const Cart = struct {
    items: []u32,

    pub fn add(self: *Cart, item: u32) void {
        if (item > 1) {
            self.push(item);
        }
    }

    pub fn total(self: Cart) u32 {
        return sum(self.items);
    }
};

pub fn load(path: []const u8) Cart {
    return read(path);
}

pub fn save(cart: Cart) void {
    write(cart);
}
""",
}
CONFLICTED = {
    "javascript": ("function {0}() {{ return 1; }}", "function"),
    "typescript": ("export function {0}(): number {{ return 1; }}", "function"),
    "kotlin": ("fun {0}() = 1", "function"),
    "rust": ("fn {0}() -> u32 {{ 1 }}", "function"),
    "python": ("def {0}():\n    return 1\n", "function"),
    "haskell": ("{0} :: Int\n{0} = 1\n", "function"),
    "java": ("class {0} {{ int n; }}", "class"),
    "csharp": ("class {0} {{ int N() {{ return 1; }} }}", "class"),
    "go": ("func {0}() int {{ return 1 }}", "function"),
    "ruby": ("def {0}\n  1\nend", "function"),
    "swift": ("func {0}() -> Int {{ return 1 }}", "function"),
    "cpp": ("int {0}() {{ return 1; }}", "function"),
    "zig": ("fn {0}() u32 {{ return 1; }}", "function"),
}


def identities(facts: FileFacts) -> set[tuple[str, int]]:
    return {(one.name, one.name_line) for one in facts.definitions}


def damaged(text: str, rng: random.Random) -> tuple[str, int]:
    """Return the text without one token, or with one more, and the line of it."""
    tokens = list(re.finditer(r"\w+|[^\w\s]", text))
    one = rng.choice(tokens)
    line = text.count("\n", 0, one.start()) + 1
    if rng.random() < 0.5:
        return text[: one.start()] + text[one.end() :], line
    return f"{text[: one.start()]}{rng.choice(tokens)[0]} {text[one.start() :]}", line


@pytest.mark.parametrize("language", SOURCES)
def test_other_definitions_survive_a_token_more_or_less(language: str) -> None:
    text = SOURCES[language]
    base = extract(text, language)
    assert base.problems == ()
    rng = random.Random(15)
    n_others = n_kept = 0
    for _ in range(120):
        changed, line = damaged(text, rng)
        inner = max(
            (number for number, one in enumerate(base.definitions) if one.lead_line <= line <= one.last_line),
            default=-1,
        )
        others = {
            (one.name, one.name_line)
            for number, one in enumerate(base.definitions)
            if number != inner and one.name_line != line
        }
        n_others += len(others)
        n_kept += len(others & identities(extract(changed, language)))
    assert n_kept >= 0.95 * n_others


@pytest.mark.parametrize("language", CONFLICTED)
def test_both_sides_of_a_conflict_are_indexed(language: str) -> None:
    form = CONFLICTED[language][0]
    names = ("before", "ours", "theirs", "after")
    before, ours, theirs, after = (form.format(name) for name in names)
    text = f"{before}\n<<<<<<< HEAD\n{ours}\n=======\n{theirs}\n>>>>>>> topic\n{after}\n"
    facts = extract(text, language)
    assert [one.name for one in facts.definitions if one.name in names] == list(names)
    assert [reason for reason, _ in facts.problems] == [Reason.CONFLICT_MARKERS]
    assert "both sides are indexed" in facts.problems[0][1]


def test_the_common_ancestor_of_a_conflict_is_left_out() -> None:
    text = "<<<<<<< a\nfunction x() {}\n||||||| base\nfunction y() {}\n=======\nfunction z() {}\n>>>>>>> b\n"
    assert [one.name for one in extract(text, "javascript").definitions] == ["x", "z"]


def test_sides_that_are_parts_of_one_construct_leave_the_first() -> None:
    text = "function a() {\n<<<<<<< a\n  if (x) {\n=======\n  if (y) {\n>>>>>>> b\n    go();\n  }\n}\nfunction b() {}\n"
    facts = extract(text, "javascript")
    assert [one.name for one in facts.definitions] == ["a", "b"]
    assert facts.problems == (
        (Reason.CONFLICT_MARKERS, "has conflict markers at lines 2-6; only the first side of each is indexed"),
    )


def test_a_row_of_equals_signs_is_no_conflict() -> None:
    assert extract("x = 1\n# <<<<<<< not one\n", "python").problems == ()


def test_the_report_names_lines_and_the_number_of_doubtful_definitions() -> None:
    text = "class A {\n  a() { return 1; }\n  b( { return 2; }\n  c() { return 3; }\n}\nfunction d() {}\n"
    facts = extract(text, "javascript")
    assert {"A", "a", "c", "d"} <= {one.name for one in facts.definitions}
    reason, detail = facts.problems[0]
    assert reason is Reason.PARSED_IN_PART
    assert detail.startswith("could not be parsed at line 3; 1 definition there in doubt")


def test_no_name_is_longer_than_200_characters() -> None:
    long = "x" * 5_000
    for language, text in (
        ("python", f"def {long}(): pass\n"),
        ("javascript", f"const o = {{ '{long}': function() {{}} }};\nfunction {long}() {{}}\n"),
        ("sql", f'CREATE TABLE "{long}" (a int);\nCREATE TABLE {long} (a int);\n'),
        ("markdown", f"# {long}\n"),
        ("rst", f"{long}\n{'=' * 5_000}\n"),
        ("elixir", f'defmodule A do\n  test "{long}" do\n    1\n  end\nend\n'),
    ):
        assert all(len(one.name) <= 200 for one in extract(text, language).definitions)
