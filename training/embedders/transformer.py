"""Fine-tunes all-MiniLM-L6-v2 for code search on mined pairs within a time limit.

The loss is the in-batch softmax in both directions, so the model learns to distinguish what is in one batch. Training has two
passes: first batches of one package and mixed batches, then batches of neighbours (`training.corpus.examples`).
"""

import logging
import random
import time
from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from torch import Tensor

from training.corpus.examples import example, same_answers
from training.corpus.pairs import TextPair

_log = logging.getLogger(__name__)
DOCUMENT_TOKENS = 96
QUERY_TOKENS = 40
SCALE = 20.0
WARMUP = 0.06
STYLES = {"sentence": 42, "question": 20, "keywords": 13, "name": 6, "issue": 9, "rest": 10}
"""Style → its weight in the draw, without Chinese: the model's vocabulary has only some single Chinese characters."""


def choose_pairs(pairs: Sequence[TextPair], most: int, rng: random.Random) -> list[TextPair]:
    """Return English training pairs, at most `most` of each package, so that no package dominates."""
    taken: dict[str, int] = {}
    chosen = []
    for pair in rng.sample(list(pairs), len(pairs)):
        n_taken = taken.get(pair.package, 0)
        if pair.role == "train" and pair.sentence.isascii() and n_taken < most:
            taken[pair.package] = n_taken + 1
            chosen.append(pair)
    return chosen


def train(
    start: Path,
    pairs: Sequence[TextPair],
    plan: Sequence[Sequence[int]],
    target: Path,
    *,
    minutes: float,
    rate: float = 5e-5,
    seed: int = 0,
    n_threads: int = 1,
) -> list[float]:
    """Fine-tune the model, write it to `target` as a sentence-transformers folder, and return the loss of each step.

    The learning rate falls to zero over `minutes`, or over the plan if that is shorter. The model is also saved every ten
    minutes, so that an interrupted run leaves one.

    Args:
        start: Folder of the model to start from.
        pairs: Pairs to train on.
        plan: Positions in `pairs`, batch by batch.
        target: Folder for the model.
        minutes: No step starts later.
        rate: Highest learning rate.
        seed: Seed of the drawn query styles.
        n_threads: Threads of torch.
    """
    torch.set_num_threads(n_threads)
    torch.manual_seed(seed)
    rng = random.Random(seed)
    model = SentenceTransformer(str(start), device="cpu")
    transformer = model[0].auto_model
    transformer.train()
    weights = list(transformer.parameters())
    optimiser = torch.optim.AdamW(weights, lr=rate, weight_decay=0.01, fused=True)
    losses: list[float] = []
    started, saved = time.monotonic(), time.monotonic()
    for step, indices in enumerate(plan):
        share = max((time.monotonic() - started) / (minutes * 60), step / len(plan))
        if share >= 1:
            break
        for group in optimiser.param_groups:
            group["lr"] = rate * min(share / WARMUP if share < WARMUP else 1.0, (1 - share) / (1 - WARMUP)) + 1e-7
        queries, documents = zip(*(example(pairs[index], rng, STYLES) for index in indices), strict=True)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            query_rows = _embed(model, list(queries), QUERY_TOKENS)
            document_rows = _embed(model, list(documents), DOCUMENT_TOKENS)
        same = same_answers([pairs[index] for index in indices])
        loss = contrastive_loss(query_rows.float(), document_rows.float(), torch.from_numpy(same))
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


def contrastive_loss(query_rows: Tensor, document_rows: Tensor, same: Tensor | None = None) -> Tensor:
    """Return the mean of both directions' cross entropy, each row's own partner being the right answer.

    Args:
        query_rows: (n, d) of length 1.
        document_rows: (n, d) of length 1, in the same order.
        same: (n, n) booleans, symmetric: pairs that are left out, since they are not wrong either.
    """
    scores = query_rows @ document_rows.T * SCALE
    if same is not None:
        scores = scores.masked_fill(same, -torch.inf)
    own = torch.arange(len(scores))
    return (torch.nn.functional.cross_entropy(scores, own) + torch.nn.functional.cross_entropy(scores.T, own)) / 2


def _embed(model: SentenceTransformer, texts: list[str], max_tokens: int) -> Tensor:
    inputs = model.tokenizer(texts, truncation=True, max_length=max_tokens, padding=True, return_tensors="pt")
    states = model[0].auto_model(**inputs).last_hidden_state
    mask = inputs["attention_mask"].unsqueeze(-1).to(states.dtype)
    pooled = (states * mask).sum(1) / mask.sum(1)
    return torch.nn.functional.normalize(pooled, dim=-1)
