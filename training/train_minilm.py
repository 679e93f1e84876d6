"""Fine-tunes all-MiniLM-L6-v2 for code search on mined pairs, for as long as it is given.

One pass with in-batch softmax in both directions. The word embeddings stay as they are: they hold half of the
weights, cost a third of a step, and 30,000 pairs can't improve words that they never show.
"""

import logging
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from training.examples import batches, example
from training.mining import Pair

_log = logging.getLogger(__name__)
DOCUMENT_TOKENS = 96
QUERY_TOKENS = 48
SCALE = 20.0
WARMUP = 0.06
MAX_PAIRS_OF_PACKAGE = 320
"""Not one package's language, but that of many."""


def choose_pairs(pairs: Sequence[Pair], rng: random.Random) -> list[Pair]:
    """Return English training pairs, at most `MAX_PAIRS_OF_PACKAGE` of each package."""
    taken: dict[str, int] = {}
    chosen = []
    for pair in rng.sample(list(pairs), len(pairs)):
        n_taken = taken.get(pair.package, 0)
        # The model's vocabulary has no Chinese words, only some single characters.
        if pair.role == "train" and pair.sentence.isascii() and n_taken < MAX_PAIRS_OF_PACKAGE:
            taken[pair.package] = n_taken + 1
            chosen.append(pair)
    return chosen


def train(
    stock: Path, pairs: Sequence[Pair], target: Path, *, minutes: float, batch_size: int = 64, rate: float = 5e-5,
    seed: int = 0, n_threads: int = 1,
) -> list[float]:  # fmt: skip
    """Write the fine-tuned model to `target` as a sentence-transformers folder and return the loss of each step.

    The rate falls to zero over `minutes`, or over one pass if that is shorter. The model is also written every ten
    minutes, so that a run that is stopped leaves one.
    """
    torch.set_num_threads(n_threads)
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = SentenceTransformer(str(stock), device="cpu")
    transformer = model[0].auto_model
    transformer.embeddings.word_embeddings.weight.requires_grad_(False)
    transformer.train()
    weights = [weight for weight in transformer.parameters() if weight.requires_grad]
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01)
    plan = list(batches(pairs, batch_size, rng))
    losses: list[float] = []
    started, saved = time.monotonic(), time.monotonic()
    for step, indices in enumerate(plan):
        share = max((time.monotonic() - started) / (minutes * 60), step / len(plan))
        if share >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = rate * min(share / WARMUP if share < WARMUP else 1.0, (1 - share) / (1 - WARMUP)) + 1e-7
        queries, documents = zip(*(example(pairs[index], rng) for index in indices), strict=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            query_rows = _embed(model, list(queries), QUERY_TOKENS)
            document_rows = _embed(model, list(documents), DOCUMENT_TOKENS)
        loss = contrastive_loss(query_rows.float(), document_rows.float())
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(weights, 1.0)
        optimiser.step()
        losses.append(loss.item())
        if step % 10 == 9:
            mean = sum(losses[-10:]) / 10
            _log.info("step %d/%d %.0f s loss %.3f", step + 1, len(plan), time.monotonic() - started, mean)
        if time.monotonic() - saved > 600:
            model.save_pretrained(str(target))
            saved = time.monotonic()
    transformer.eval()
    model.save_pretrained(str(target))
    return losses


def contrastive_loss(query_rows: Tensor, document_rows: Tensor) -> Tensor:
    """Return the mean of both directions' cross entropy, each row's own partner being the right answer.

    Args:
        query_rows: (n, d) of length 1.
        document_rows: (n, d) of length 1, in the same order.
    """
    scores = query_rows @ document_rows.T * SCALE
    own = torch.arange(len(scores))
    return (torch.nn.functional.cross_entropy(scores, own) + torch.nn.functional.cross_entropy(scores.T, own)) / 2


def _embed(model: SentenceTransformer, texts: list[str], max_tokens: int) -> Tensor:
    inputs = model.tokenizer(texts, truncation=True, max_length=max_tokens, padding=True, return_tensors="pt")
    states = model[0].auto_model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
    pooled = (states * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(pooled, dim=-1)
