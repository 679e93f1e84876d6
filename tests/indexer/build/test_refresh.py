"""After any edits an index equals a fresh one; commits are atomic; there is one writer at a time."""

import json
import multiprocessing
import os
import shutil
import sqlite3
import sys
from multiprocessing.synchronize import Event
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from codecards.errors import SnapshotMissingError, WriterBusyError
from codecards.indexer.build.changes import RACY_MARGIN_NS, compare, nothing_changed, same_stamp
from codecards.indexer.build.worker_pool import Workers
from codecards.indexer.store.snapshot import Snapshot
from codecards.indexer.walk.discovery import discover
from tests.support.indexed import build, exported, index_of, snapshot_of, write_repository

SHOP = """\
#- shop/__init__.py
from shop.pricing import price
#- shop/pricing.py
def price(item):
    return rate(item) * 2


def rate(item):
    return item.rate
#- shop/basket.py
from shop.pricing import price


class Basket:
    def total(self):
        return sum(price(item) for item in self.items)
"""


def age(root: Path) -> None:
    """Make every file older than the margin in which equal time stamps prove nothing."""
    for path in root.rglob("*.py"):
        stamp = path.stat().st_mtime_ns - 2 * RACY_MARGIN_NS
        os.utime(path, ns=(stamp, stamp))


def callers_of(root: Path, name: str) -> set[str]:
    with snapshot_of(root) as snapshot:
        cards = [card.card_id for card in snapshot.cards_named(name)]
        callers = snapshot.cards(edge.caller_id for edge in snapshot.edges_to(cards) if edge.caller_id)
        return {card.qualified_name for card in callers.values()}


def test_a_second_run_reads_nothing(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    age(tmp_path)
    first = build(tmp_path, workers)
    second = build(tmp_path, workers)
    assert (first.n_read, first.n_cards, first.complete) == (3, 6, True)
    assert (second.n_read, second.n_unchanged, second.generation) == (0, 3, first.generation)


def test_editing_a_called_function_keeps_the_edges_of_unchanged_callers(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    build(tmp_path, workers)
    assert "Basket.total" in callers_of(tmp_path, "price")
    pricing = tmp_path / "shop" / "pricing.py"
    pricing.write_text("# moved down\n\n" + pricing.read_text() + "\n\ndef extra():\n    return 1\n")
    report = build(tmp_path, workers)
    assert report.n_read == 1
    assert "Basket.total" in callers_of(tmp_path, "price")


def test_a_rename_and_a_revert_are_not_read_again(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    build(tmp_path, workers)
    basket = tmp_path / "shop" / "basket.py"
    before = basket.read_text()
    basket.rename(tmp_path / "shop" / "cart.py")
    assert build(tmp_path, workers).n_read == 0
    (tmp_path / "shop" / "cart.py").write_text(before + "\n\nX = 1\n")
    assert build(tmp_path, workers).n_read == 1
    (tmp_path / "shop" / "cart.py").write_text(before)
    assert build(tmp_path, workers).n_read == 0


def test_a_change_within_the_same_time_stamp_is_seen(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, "#- a.py\ndef one():\n    return 1\n")
    build(tmp_path, workers)
    status = (tmp_path / "a.py").stat()
    (tmp_path / "a.py").write_text("def two():\n    return 1\n")
    os.utime(tmp_path / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    build(tmp_path, workers)
    with snapshot_of(tmp_path) as snapshot:
        assert [card.name for card in snapshot.symbols()] == ["two"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no change time")
def test_a_change_is_seen_even_if_size_and_time_stamp_are_restored(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, "#- a.py\ndef one():\n    return 1\n")
    age(tmp_path)
    build(tmp_path, workers)
    status = (tmp_path / "a.py").stat()
    with (tmp_path / "a.py").open("r+b") as file:  # in place: the inode stays
        file.write(b"def two")
    os.utime(tmp_path / "a.py", ns=(status.st_atime_ns, status.st_mtime_ns))
    build(tmp_path, workers)
    with snapshot_of(tmp_path) as snapshot:
        assert [card.name for card in snapshot.symbols()] == ["two"]


NAMES = st.sampled_from(["a.py", "b.py", "pkg/__init__.py", "pkg/c.py", "d.js", "notes.md"])
BODIES = st.sampled_from(
    [
        "def one():\n    return two()\n",
        "from a import one\n\n\ndef two():\n    return one()\n",
        "from pkg.c import Kind\n\n\ndef make():\n    return Kind().run()\n",
        "class Kind:\n    def run(self):\n        return self.help()\n\n    def help(self):\n        return 1\n",
        "from a import *\nfrom pkg import c\n\nx = one()\n",
        "export function one() { return two(); }\nfunction two() { return 1; }\n",
        "# Title\n\ntext\n",
        "",
        "def broken(:\n",
    ]
)
EDITS = st.lists(
    st.one_of(st.tuples(NAMES, BODIES), st.tuples(NAMES, st.none()), st.tuples(NAMES, NAMES)), min_size=1, max_size=6
)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(EDITS, min_size=1, max_size=4))
def test_after_any_edits_the_index_equals_a_fresh_one(
    tmp_path_factory: pytest.TempPathFactory, workers: Workers, steps: list[list[tuple[str, str | None]]]
) -> None:
    root = tmp_path_factory.mktemp("edited")
    for step in steps:
        for name, what in step:
            apply(root, name, what)
        build(root, workers)
    fresh = tmp_path_factory.mktemp("fresh")
    shutil.copytree(root, fresh, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".codecards"))
    build(fresh, workers)
    assert exported(root) == exported(fresh)


def apply(root: Path, name: str, what: str | None) -> None:
    """Write a file, delete it (None), or move it to another name."""
    path = root / name
    if what is None:
        path.unlink(missing_ok=True)
    elif what.endswith((".py", ".js", ".md")) and "\n" not in what:
        if path.exists():
            (root / what).parent.mkdir(parents=True, exist_ok=True)
            path.replace(root / what)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(what)


def test_a_reader_keeps_its_generation_while_a_writer_commits(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    build(tmp_path, workers)
    with snapshot_of(tmp_path) as before:
        (tmp_path / "shop" / "pricing.py").unlink()
        build(tmp_path, workers)
        assert {card.name for card in before.symbols()} >= {"price", "rate"}
        assert before.newest_generation() == before.generation + 1
    with snapshot_of(tmp_path) as after:
        assert "price" not in {card.name for card in after.symbols()}


def test_an_unchanged_tree_is_recognised_by_its_stamps(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    for path in tmp_path.rglob("*.py"):
        os.utime(path, (10**9, 10**9))
    build(tmp_path, workers)
    found = {file.path: file for file in discover(tmp_path).files}
    with snapshot_of(tmp_path) as snapshot:
        entries = snapshot.files()
        assert entries
        assert all(same_stamp(found[entry.path], entry) for entry in entries)
        changes = compare(snapshot.stamps(), found.values(), snapshot.files_at)
        assert nothing_changed(snapshot.stamps(), found.values()) == (not changes.changed)


def test_the_error_of_a_second_writer_names_the_first(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    context = multiprocessing.get_context("spawn")
    ready, done = context.Event(), context.Event()
    holder = context.Process(target=hold, args=(tmp_path, ready, done))
    holder.start()
    assert ready.wait(30)
    try:
        with pytest.raises(WriterBusyError) as caught:
            build(tmp_path, workers)
        assert caught.value.owner_pid == holder.pid
    finally:
        holder.kill()  # the lock of a dead process is free
        holder.join()
    assert build(tmp_path, workers).complete


def hold(root: Path, ready: Event, done: Event) -> None:
    """Hold the write lock until killed."""
    with index_of(root).writing():
        ready.set()
        done.wait(60)


def test_an_unfinished_first_run_is_not_an_index(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    build(tmp_path, workers)
    connection = sqlite3.connect(index_of(tmp_path).database)
    connection.execute("DELETE FROM meta")
    connection.commit()
    connection.close()
    with pytest.raises(SnapshotMissingError):
        Snapshot(index_of(tmp_path).database)


@pytest.mark.parametrize("damage", ["truncate", "zeros", "empty", "noise"])
def test_a_damaged_database_is_rebuilt_with_a_message(tmp_path: Path, workers: Workers, damage: str) -> None:
    write_repository(tmp_path, SHOP)
    build(tmp_path, workers)
    expected = exported(tmp_path)
    database = index_of(tmp_path).database
    data = database.read_bytes()
    half = len(data) // 2
    damaged = {
        "truncate": data[:half],
        "zeros": data[: half - 4096] + bytes(8192) + data[half + 4096 :],
        "empty": b"",
        "noise": b"noise" * 1000,
    }
    database.write_bytes(damaged[damage])
    report = build(tmp_path, workers)
    assert report.messages
    assert exported(tmp_path) == expected


def test_an_index_of_another_format_is_rebuilt_with_a_message(tmp_path: Path, workers: Workers) -> None:
    write_repository(tmp_path, SHOP)
    build(tmp_path, workers)
    manifest = index_of(tmp_path).manifest_path
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"format": 99}))
    report = build(tmp_path, workers)
    assert any("99" in message for message in report.messages)
    assert report.n_read == 3
