"""Embedders give unit rows that depend on the text alone, load cheaply, and explain why they can't load."""

import json
import struct
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from codecards.errors import EmbedderError, UsageError
from codecards.indexer.cards.embedded_text import embedded_text
from codecards.retrieval.embed.drift import probe_vectors, same_model
from codecards.retrieval.embed.embedder import MODELS, Embedder, load_embedder
from codecards.retrieval.embed.onnx import MODEL_FILE, OnnxEmbedder
from codecards.retrieval.embed.static import StaticEmbedder

WORDS = ("[UNK]", "purge", "expired", "tokens", "grid", "draw")
ROWS = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3], [-1, 1, 0], [5, 5, 5]], np.float32)
HAS_TRANSFORMER = (MODELS / "minilm-code" / MODEL_FILE).is_file()


def write_model(folder: Path, tensors: dict[str, NDArray[np.generic]], words: Sequence[str] = WORDS) -> Path:
    """Write a static model with one word a row, as sentence-transformers would."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer(models.WordLevel({word: index for index, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    header, data = {}, b""
    names = {"int8": "I8", "float16": "F16", "float32": "F32"}
    for name, tensor in tensors.items():
        raw = tensor.tobytes()
        offsets = [len(data), len(data) + len(raw)]
        header[name] = {"dtype": names[str(tensor.dtype)], "shape": list(tensor.shape), "data_offsets": offsets}
        data += raw
    head = json.dumps(header).encode()
    head += b" " * (-len(head) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(head)) + head + data)
    kind = "sentence_transformers.models.StaticEmbedding"
    (folder / "modules.json").write_text(json.dumps([{"idx": 0, "name": "0", "path": "", "type": kind}]))
    return folder


@pytest.fixture
def tiny(tmp_path: Path) -> StaticEmbedder:
    return StaticEmbedder(write_model(tmp_path / "tiny", {"embedding.weight": ROWS}), "tiny")


@pytest.fixture(scope="module")
def static() -> Embedder:
    return load_embedder("static")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("purge", [1, 0, 0]),
        ("purge expired", [1, 2, 0]),
        ("Purge PURGE tokens", [2, 0, 3]),
        ("", [0, 0, 0]),
        ("nothing known", [0, 0, 0]),
    ],
)
def test_a_text_is_the_mean_of_its_tokens_scaled_to_length_one(
    tiny: StaticEmbedder, text: str, expected: list[float]
) -> None:
    length = np.linalg.norm(expected) or 1.0
    np.testing.assert_allclose(tiny.embed_documents([text]), [np.array(expected) / length], atol=1e-6)


def test_identifiers_in_a_query_are_split_into_words(tiny: StaticEmbedder) -> None:
    rows = tiny.embed_queries(["purgeExpired", "purge_expired", "purge expired"])
    np.testing.assert_array_equal(rows[0], rows[2])
    np.testing.assert_array_equal(rows[1], rows[2])


def test_a_vector_does_not_depend_on_the_other_texts(tiny: StaticEmbedder) -> None:
    texts = [" ".join(WORDS[index % 6] for index in range(size)) for size in range(1, 400)]
    together = tiny.embed_documents(texts)
    alone = np.concatenate([tiny.embed_documents([text]) for text in texts])
    np.testing.assert_allclose(together, alone, atol=1e-6)


def test_no_texts_give_no_rows(tiny: StaticEmbedder) -> None:
    assert tiny.embed_documents([]).shape == tiny.embed_queries([]).shape == (0, 3)


def test_int8_rows_are_multiplied_by_their_factors(tmp_path: Path, tiny: StaticEmbedder) -> None:
    factors = np.abs(ROWS).max(axis=1) / 127 + 1e-9
    tensors = {"embeddings": np.rint(ROWS / factors[:, None]).astype(np.int8), "weights": factors.astype(np.float32)}
    quantised = StaticEmbedder(write_model(tmp_path / "int8", tensors))
    texts = ["purge expired tokens", "draw grid", "tokens"] * 40
    np.testing.assert_allclose(quantised.embed_documents(texts), tiny.embed_documents(texts), atol=0.01)


@pytest.mark.parametrize("changed", ["weight", "tokenizer"])
def test_identity_changes_with_the_model(tmp_path: Path, changed: str, tiny: StaticEmbedder) -> None:
    rows = ROWS + np.eye(6, 3, dtype=np.float32) * 1e-3 if changed == "weight" else ROWS
    words = (*WORDS[:5], "paint") if changed == "tokenizer" else WORDS
    other = StaticEmbedder(write_model(tmp_path / "other", {"embedding.weight": rows}, words), "tiny")
    same = StaticEmbedder(write_model(tmp_path / "same", {"embedding.weight": ROWS}), "tiny")
    assert same.identity == tiny.identity != other.identity


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("model.safetensors", b""),
        ("model.safetensors", b"\xff" * 40),
        ("model.safetensors", struct.pack("<Q", 2) + b"{}"),
        ("model.safetensors", None),
        ("tokenizer.json", b"{}"),
        ("tokenizer.json", None),
    ],
)
def test_a_damaged_model_is_named_in_the_error(tmp_path: Path, file: str, content: bytes | None) -> None:
    folder = write_model(tmp_path / "model", {"embedding.weight": ROWS})
    if content is None:
        (folder / file).unlink()
    else:
        (folder / file).write_bytes(content)
    with pytest.raises(EmbedderError, match=r"model"):
        StaticEmbedder(folder)


def test_a_table_smaller_than_its_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match="fewer rows"):
        StaticEmbedder(write_model(tmp_path / "model", {"embedding.weight": ROWS[:4]}))


def test_an_unknown_specification_lists_the_known_ones() -> None:
    for spec in ("", "bert", "sentence-transformers:", "Static"):
        with pytest.raises(UsageError, match="static, minilm, none"):
            load_embedder(spec)


def test_a_model_that_is_not_on_this_machine_is_an_error_and_not_downloaded(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"install codecards\[transformers\]|Nothing is downloaded"):
        load_embedder("sentence-transformers:nobody/nowhere")
    with pytest.raises(UsageError, match="sentence-transformers:FOLDER"):
        load_embedder(f"sentence-transformers:{tmp_path / 'nowhere'}")
    with pytest.raises(EmbedderError, match="not installed"):
        OnnxEmbedder(tmp_path)


def test_none_gives_rows_without_columns() -> None:
    embedder = load_embedder("none")
    assert embedder.embed_queries(["a", "b"]).shape == (2, embedder.dimensions) == (2, 0)


def test_probe_vectors_distinguish_models_and_tolerate_rounding(tiny: StaticEmbedder, static: Embedder) -> None:
    stored = probe_vectors(static)
    assert same_model(stored, stored + np.float32(1e-5))
    assert not same_model(stored, np.roll(stored, 1, axis=1))
    assert not same_model(stored, probe_vectors(tiny))
    assert not same_model(stored, -stored)


def test_the_shipped_table_finds_the_function_that_is_asked_for(static: Embedder) -> None:
    cards = {
        "purge": embedded_text(
            "auth/store.py", "Store.purge", "def purge(self)", "", "self.tokens = [t for t in tokens]"
        ),
        "draw": embedded_text(
            "ui/canvas.ts", "drawLine", "function drawLine(a, b)", "", "ctx.moveTo(a); ctx.lineTo(b)"
        ),
        "retry": embedded_text("http/retry.go", "Retry", "func Retry(req *Request)", "", "for i := 0; i < max; i++ {}"),
        "parse": embedded_text("csv.rs", "parse_row", "fn parse_row(line: &str)", "", "line.split(',').collect()"),
    }
    rows = static.embed_documents(list(cards.values()))
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    asked = {
        "where are old tokens removed": "purge",
        "how is a line painted on the canvas": "draw",
        "send the request again after a failure": "retry",
        "split a comma separated line into columns": "parse",
        "在哪里重试请求": "retry",
    }
    best = (static.embed_queries(list(asked)) @ rows.T).argmax(axis=1)
    assert [list(cards)[index] for index in best] == list(asked.values())


def test_threads_get_the_same_vectors(static: Embedder) -> None:
    texts = [f"def function_{number}(value): return value + {number}" for number in range(300)]
    expected = static.embed_documents(texts)
    with ThreadPoolExecutor(4) as pool:
        for rows in pool.map(lambda _: static.embed_documents(texts), range(8)):
            np.testing.assert_array_equal(rows, expected)


def test_the_static_embedder_imports_no_heavy_library() -> None:
    code = (
        "import sys\n"
        "from codecards.retrieval.embed.embedder import load_embedder\n"
        "load_embedder('static').embed_queries(['where is the cache'])\n"
        "print(sorted({'torch', 'sentence_transformers', 'onnxruntime', 'faiss', 'transformers'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.skipif(not HAS_TRANSFORMER, reason="the transformer is not in this checkout; see docs/models.md")
def test_the_transformer_gives_a_text_the_same_vector_in_any_batch() -> None:
    transformer = load_embedder("minilm")
    texts = ["def purge(self): tokens.clear()", "draw a line", "x " * 900]
    together = transformer.embed_documents(texts)
    assert together.shape == (3, transformer.dimensions) == (3, 384)
    np.testing.assert_array_equal(together[1:2], transformer.embed_documents(texts[1:2]))
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    near, far, _ = (transformer.embed_queries(["where are tokens removed"]) @ together.T)[0]
    assert near > far


@pytest.mark.skipif(
    find_spec("sentence_transformers") is None, reason="needs sentence-transformers: install codecards[transformers]"
)
@pytest.mark.parametrize("model", ["tiny", "shipped"])
@pytest.mark.filterwarnings("ignore")  # of the library, at import
def test_sentence_transformers_gives_the_same_vectors_from_the_same_folder(tmp_path: Path, model: str) -> None:
    folder = write_model(tmp_path / "tiny", {"embedding.weight": ROWS}) if model == "tiny" else MODELS / "static-code"
    theirs = load_embedder(f"sentence-transformers:{folder}")
    texts = ["purge expired tokens", "draw grid purge", "def parseHeader(line): return line.split(':')"]
    np.testing.assert_allclose(
        theirs.embed_documents(texts[:2]), StaticEmbedder(folder).embed_documents(texts[:2]), atol=1e-5
    )
    np.testing.assert_allclose(theirs.embed_queries(texts), StaticEmbedder(folder).embed_queries(texts), atol=1e-5)
