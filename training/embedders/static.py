"""Trains the static table: one vector per token; the vector of a text is the mean of its tokens.

The rows start as the transformer's vectors of single tokens, reduced by PCA, and are then trained on the pairs by in-batch
softmax.
"""

import json
import logging
import random
import time
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save_file
from sentence_transformers import SentenceTransformer
from sentence_transformers.models import StaticEmbedding
from tokenizers import Tokenizer
from torch import Tensor

from training.corpus.examples import batches, example
from training.corpus.pairs import TextPair
from training.corpus.query_styles import terms
from training.embedders.transformer import contrastive_loss

_log = logging.getLogger(__name__)
TOKEN_DROPOUT = 0.25
Bags = tuple[Tensor, Tensor]
"""Token ids of all texts, concatenated, and the start of each text."""


def initial_rows(tokenizer: Tokenizer, teacher: SentenceTransformer, dimensions: int) -> NDArray[np.float32]:
    """Return (n_tokens, dimensions): the teacher's vector of each token, reduced by PCA."""
    tokens = [(tokenizer.id_to_token(index) or "").removeprefix("##") for index in range(tokenizer.get_vocab_size())]
    vectors = np.asarray(teacher.encode(tokens, batch_size=512, show_progress_bar=False), np.float32)
    vectors -= vectors.mean(axis=0)
    directions = np.linalg.svd(vectors.T @ vectors)[0][:, :dimensions]
    rows = vectors @ directions
    return np.asarray(rows / rows.std() * 0.1, np.float32)


def train(
    tokenizer: Tokenizer,
    rows: NDArray[np.float32],
    pairs: Sequence[TextPair],
    bilingual: Sequence[tuple[str, str]],
    target: Path,
    *,
    n_epochs: int = 8,
    batch_size: int = 2048,
    rate: float = 4e-3,
    seed: int = 0,
    n_threads: int = 2,
) -> list[float]:
    """Train the table, write it to `target` as a sentence-transformers folder, and return the loss of each step.

    Args:
        tokenizer: As returned by `train_tokenizer`.
        rows: (n_tokens, d): initial rows.
        pairs: Pairs to train on.
        bilingual: (Chinese, English) texts of the same meaning, also trained on.
        target: Folder to write.
        n_epochs: Passes over the pairs, each with newly drawn query styles.
        batch_size: Pairs in a batch.
        rate: Adam's learning rate, which falls to zero in a cosine.
        seed: Seed of all draws.
        n_threads: Threads of torch.
    """
    torch.set_num_threads(n_threads)
    torch.manual_seed(seed)
    rng = random.Random(seed)
    module = StaticEmbedding(tokenizer, embedding_weights=rows)
    optimiser = torch.optim.Adam(module.parameters(), lr=rate)
    losses: list[float] = []
    n_steps = n_epochs * (len(pairs) + len(bilingual)) // batch_size
    started = time.monotonic()
    for epoch in range(n_epochs):
        texts = [example(pair, rng) for pair in pairs]
        query_ids = _encode(tokenizer, [query for query, _ in texts])
        document_ids = _encode(tokenizer, [document for _, document in texts])
        mixed = [*bilingual, *(term for term in terms() for _ in range(3))]
        left_ids, right_ids = (_encode(tokenizer, [pair[side] for pair in mixed]) for side in (0, 1))
        deals: list[tuple[list[list[int]], list[list[int]]]] = [
            ([query_ids[i] for i in deal], [document_ids[i] for i in deal]) for deal in batches(pairs, batch_size, rng)
        ]
        order = rng.sample(range(len(mixed)), len(mixed))
        for start in range(0, len(order) - batch_size // 2, batch_size):
            deal = order[start : start + batch_size]
            deals.append(([left_ids[i] for i in deal], [right_ids[i] for i in deal]))
        rng.shuffle(deals)
        for left, right in deals:
            for group in optimiser.param_groups:
                group["lr"] = rate * (0.01 + 0.99 * (1 + np.cos(np.pi * min(1.0, len(losses) / n_steps))) / 2)
            loss = contrastive_loss(_embed(module, _bags(left, rng, 0.0)), _embed(module, _bags(right, rng)))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        recent = losses[-len(deals) :]
        mean = sum(recent) / len(recent)
        _log.info("epoch %d %.0f s loss %.3f", epoch + 1, time.monotonic() - started, mean)
    SentenceTransformer(modules=[module], device="cpu").save_pretrained(str(target))
    write_int8(module.embedding.weight.detach().numpy(), target / "model.safetensors")
    modules = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.StaticEmbedding"}]
    (target / "modules.json").write_text(json.dumps(modules, indent=2) + "\n", encoding="utf-8")
    return losses


def write_int8(rows: NDArray[np.float32], path: Path) -> None:
    """Write rows as int8 with one factor each, in model2vec's layout, which sentence-transformers 6.2 can read."""
    factors = np.maximum(np.abs(rows).max(axis=1), 1e-9) / 127
    quantised = np.rint(rows / factors[:, None]).astype(np.int8)
    save_file({"embeddings": quantised, "weights": factors.astype(np.float32)}, path)


def _encode(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    encoded = []
    for start in range(0, len(texts), 4096):
        encoded += [item.ids for item in tokenizer.encode_batch(texts[start : start + 4096], add_special_tokens=False)]
    return encoded


def _bags(texts: Sequence[list[int]], rng: random.Random, dropout: float = TOKEN_DROPOUT) -> Bags:
    sizes = np.array([max(1, len(text)) for text in texts])
    ids = np.fromiter(chain.from_iterable(text or [0] for text in texts), np.int64, int(sizes.sum()))
    if dropout:
        generator = np.random.default_rng(rng.getrandbits(32))
        kept = generator.random(len(ids)) >= dropout
        starts = np.cumsum(sizes) - sizes
        kept[starts] = True  # a text keeps at least one token
        sizes = np.add.reduceat(kept.astype(np.int64), starts)
        ids = ids[kept]
    return torch.from_numpy(ids), torch.from_numpy(np.cumsum(sizes) - sizes)


def _embed(module: StaticEmbedding, bags: Bags) -> Tensor:
    return torch.nn.functional.normalize(module.embedding(*bags), dim=-1)
