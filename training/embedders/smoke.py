"""Trains both kinds of model in seconds, at toy sizes, on the code of `training/` itself."""

import random
from pathlib import Path

import numpy as np
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import Pooling, Transformer
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

from codecards.retrieval.embed.onnx import OnnxEmbedder
from codecards.retrieval.embed.static import StaticEmbedder
from training.corpus.examples import batches, neighbour_batches
from training.corpus.pairs import TextPair, mine_text
from training.corpus.registries import FOLDER, Source
from training.embedders import static as static_training
from training.embedders import transformer as transformer_training
from training.embedders.export_onnx import export_int8
from training.steps import neighbour_rows, vocabulary

_SPECIAL = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}


def run(work: Path) -> dict[str, list[float]]:
    """Train and load both toy models; return the losses of their steps.

    Args:
        work: An empty folder for the results.
    """
    pairs = own_pairs()
    tokenizer = vocabulary(pairs, [("函数", "function")], 1_500)
    rows = np.random.default_rng(0).normal(0, 0.1, (tokenizer.get_vocab_size(), 16)).astype(np.float32)
    losses = {
        "static": static_training.train(
            tokenizer, rows, pairs, [("函数", "function")] * 40, work / "static", n_epochs=8, batch_size=16, rate=0.02
        )
    }
    StaticEmbedder(work / "static").embed_queries(["which function reads the pairs"])

    tokenizer.add_special_tokens(list(_SPECIAL.values()))
    wrapped = PreTrainedTokenizerFast(tokenizer_object=tokenizer, **_SPECIAL)
    config = BertConfig(
        vocab_size=len(wrapped), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertModel(config).save_pretrained(work / "bert")
    wrapped.save_pretrained(work / "bert")
    transformer = Transformer(str(work / "bert"))
    SentenceTransformer(modules=[transformer, Pooling(32)], device="cpu").save_pretrained(str(work / "start"))
    alike = neighbour_rows(StaticEmbedder(work / "static"), pairs)
    plans = {
        "first": [deal for seed in range(4) for deal in batches(pairs, 8, random.Random(seed))],
        "tuned": [deal for seed in range(6) for deal in neighbour_batches(pairs, alike, 16, random.Random(seed))],
    }
    start = work / "start"
    for name, plan in plans.items():
        losses[name] = transformer_training.train(start, pairs, plan, work / name, minutes=1, rate=3e-3)
        start = work / name
    export_int8(work / "tuned", work / "int8")
    OnnxEmbedder(work / "int8").embed_queries(["which function reads the pairs"])
    return losses


def own_pairs() -> list[TextPair]:
    """Return the pairs mined from the modules of `training/`."""
    source = Source("", "training", "MIT", "train")
    return [
        pair
        for path in sorted(FOLDER.rglob("*.py"))
        for pair in mine_text(source, f"training/{path.name}", path.read_text(encoding="utf-8"))
    ]
