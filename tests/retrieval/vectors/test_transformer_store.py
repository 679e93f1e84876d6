"""The store of transformer vectors survives reopening, damage, crashes and other models."""

import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from codecards.errors import IndexWriteError, SnapshotDamagedError
from codecards.retrieval.vectors.transformer_store import TransformerStore, make_store, open_store

MODEL = "model-1"
CANARY = np.eye(4, dtype=np.float32)[:2]


def keys(*numbers: int) -> list[bytes]:
    return [number.to_bytes(16, "little") for number in numbers]


def vectors(*numbers: int) -> NDArray[np.float32]:
    return np.array([[number, 0, 0, 0] for number in numbers], np.float32)


def numbers_of(found: NDArray[np.uint64]) -> list[int]:
    return [int(low) for low, _ in found.tolist()]


def put(store: TransformerStore, numbers: Sequence[int]) -> None:
    store.put(keys(*numbers), vectors(*numbers))


def test_stored_vectors_are_there_after_reopening(tmp_path: Path) -> None:
    store = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    put(store, (1, 2))
    store.close()
    again = open_store(tmp_path / "transformer_vectors.db", MODEL)
    assert again is not None
    _, found, values = again.after(0)
    assert (numbers_of(found), values[:, 0].tolist()) == ([1, 2], [1, 2])
    assert again.probe_vectors.tolist() == CANARY.tolist()
    again.close()


def test_a_reader_sees_vectors_stored_by_another_connection(tmp_path: Path) -> None:
    writer = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    put(writer, (1,))
    reader = open_store(tmp_path / "transformer_vectors.db", MODEL)
    assert reader is not None
    last, found, _ = reader.after(0)
    assert numbers_of(found) == [1]
    put(writer, (2, 3))
    assert numbers_of(reader.after(last)[1]) == [2, 3]
    assert numbers_of(reader.after(reader.last_number())[1]) == []
    reader.close()
    writer.close()


def test_a_key_keeps_its_first_vector(tmp_path: Path) -> None:
    store = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    put(store, (1,))
    store.put(keys(1), vectors(9))
    assert store.after(0)[2][:, 0].tolist() == [1]
    store.close()


def test_the_store_of_another_model_is_not_used_but_replaced(tmp_path: Path) -> None:
    old = make_store(tmp_path / "transformer_vectors.db", "model-0", CANARY)
    put(old, (1,))
    old.close()
    assert open_store(tmp_path / "transformer_vectors.db", MODEL) is None
    store = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    assert store.last_number() == 0
    store.close()


@pytest.mark.parametrize("harm", ["garbage", "empty", "another format", "cut off"])
def test_a_damaged_store_is_not_used_but_replaced(tmp_path: Path, harm: str) -> None:
    path = tmp_path / "transformer_vectors.db"
    store = make_store(path, MODEL, CANARY)
    put(store, range(100))
    store.close()
    if harm == "another format":
        connection = sqlite3.connect(path)
        connection.execute("PRAGMA user_version = 99")
        connection.close()
    else:
        path.write_bytes({"garbage": b"x" * 9000, "empty": b"", "cut off": path.read_bytes()[:300]}[harm])
    assert open_store(path, MODEL) is None
    again = make_store(path, MODEL, CANARY)
    put(again, (7,))
    assert numbers_of(again.after(0)[1]) == [7]
    again.close()


def test_vectors_stored_before_a_crash_survive(tmp_path: Path) -> None:
    crash = (
        "import os, sys; from pathlib import Path\n"
        "from tests.retrieval.vectors.test_transformer_store import CANARY, MODEL, make_store, put, vectors, keys\n"
        "store = make_store(Path(sys.argv[1]), MODEL, CANARY)\n"
        "put(store, (1, 2))\n"
        "with store._writing():\n"
        "    store._connection.execute('INSERT INTO vectors (key, vector) VALUES (?, ?)', (keys(3)[0], b''))\n"
        "    os._exit(9)\n"
    )
    run = subprocess.run([sys.executable, "-c", crash, str(tmp_path / "transformer_vectors.db")], check=False)
    assert run.returncode == 9
    store = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    assert numbers_of(store.after(0)[1]) == [1, 2]
    store.close()


def test_the_oldest_unneeded_vectors_are_pruned(tmp_path: Path) -> None:
    store = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    put(store, range(1, 9))
    assert store.prune(keys(1, 8), most=4) == 4
    assert numbers_of(store.after(0)[1]) == [1, 6, 7, 8]
    assert store.prune(keys(1, 6, 7, 8), most=2) == 0
    put(store, (9,))
    assert store.last_number() == 9
    store.close()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    store = make_store(tmp_path / "other.db", MODEL, CANARY)
    put(store, (1,))
    store.close()
    try:
        (tmp_path / "transformer_vectors.db").symlink_to(tmp_path / "other.db")
    except OSError:
        pytest.skip("links can't be made here; on Windows they need the developer mode")
    assert open_store(tmp_path / "transformer_vectors.db", MODEL) is None
    make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY).close()
    assert not (tmp_path / "transformer_vectors.db").is_symlink()
    other = open_store(tmp_path / "other.db", MODEL)
    assert other is not None
    assert numbers_of(other.after(0)[1]) == [1]
    other.close()


def test_a_store_that_can_not_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "transformer_vectors.db").mkdir()
    with pytest.raises(IndexWriteError, match=r"transformer_vectors\.db"):
        make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)


def test_a_closed_store_raises_our_error(tmp_path: Path) -> None:
    store = make_store(tmp_path / "transformer_vectors.db", MODEL, CANARY)
    store.close()
    for read in (store.keys, store.last_number, lambda: store.after(0), lambda: store.prune((), 0)):
        with pytest.raises(SnapshotDamagedError, match="closed"):
            read()
    with pytest.raises(IndexWriteError, match="closed"):
        put(store, (1,))
