"""Trains both models and the weights of cards from packages of the registries; see README.md beside this file."""

import argparse
import logging
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

REQUIREMENTS = Path(__file__).parent / "requirements.txt"


def main(arguments: list[str] | None = None) -> int:
    """Run the training; return the exit code, 3 if a package is missing."""
    options = _read_arguments(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("codecards").setLevel(logging.WARNING)  # the product logs one line per question
    try:
        if options.smoke:
            return _smoke(options)
        options.work.mkdir(parents=True, exist_ok=True)
        if options.only != "cards":
            _train(options)
        if options.only in {None, "cards"}:
            _learn_cards(options)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in {"codecards", "training", "benchmarks"}:
            raise
        sys.stderr.write(f"{error}; the training needs it: pip install -e . -r {REQUIREMENTS}\n")
        return 3
    return 0


def _read_arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    work_help = "folder for downloads and results (2 GB)"
    parser.add_argument("--work", type=Path, default=Path("training-work"), help=work_help)
    only_help = "stop after mining, or train one part"
    parser.add_argument("--only", choices=("mine", "static", "minilm", "cards"), help=only_help)
    parser.add_argument("--epochs", type=int, default=8, help="passes of the static table")
    minutes_help = "time limits of the transformer's two passes"
    parser.add_argument("--minutes", type=float, nargs=2, default=(47, 76), help=minutes_help)
    parser.add_argument("--threads", type=int, default=1)
    history_help = "also learn the weights of cards from the commits of this git repository; may be given again"
    parser.add_argument("--history", type=Path, action="append", default=[], metavar="GITDIR", help=history_help)
    parser.add_argument("--install", action="store_true", help="copy the results to where the package ships them")
    parser.add_argument("--smoke", action="store_true", help="a toy run of seconds, without network")
    return parser.parse_args(arguments)


def _smoke(options: argparse.Namespace) -> int:
    # The modules are imported by name: the one needs torch, the other does not.
    with tempfile.TemporaryDirectory() as folder:
        if options.only == "cards":
            sys.stdout.write(f"{import_module('training.ranking.smoke').run(Path(folder))}\n")
        else:
            for name, losses in import_module("training.embedders.smoke").run(Path(folder)).items():
                sys.stdout.write(f"{name}: loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last\n")
    return 0


def _learn_cards(options: argparse.Namespace) -> None:
    from training.ranking.tables import learn_tables, write_tables

    tables = learn_tables(options.work, options.history)
    write_tables(tables, options.work / "card_weights.json")
    if options.install:
        write_tables(tables)


def _train(options: argparse.Namespace) -> None:
    from codecards.retrieval.embed.onnx import OnnxEmbedder
    from codecards.retrieval.embed.static import StaticEmbedder
    from training import steps
    from training.corpus.examples import read_pairs, split_roles
    from training.embedders.export_onnx import export_int8

    pairs_file = steps.mine(options.work)
    if options.only == "mine":
        return
    pairs = split_roles(read_pairs(pairs_file))["train"]
    if options.only != "minilm":
        table = steps.static_model(options.work, pairs, n_epochs=options.epochs, n_threads=options.threads)
        sys.stdout.write("\n".join(["static", *steps.measure(StaticEmbedder(table), pairs_file)]) + "\n")
        if options.install:
            steps.install(table, "static-code")
    if options.only != "static":
        table = options.work / "static-code" if options.only is None else steps.shipped("static-code")
        tuned = steps.transformer_model(
            options.work, pairs, table, minutes=tuple(options.minutes), n_threads=options.threads
        )
        folder = options.work / "minilm-code"
        export_int8(tuned, folder)
        sys.stdout.write("\n".join(["minilm", *steps.measure(OnnxEmbedder(folder), pairs_file)]) + "\n")
        if options.install:
            steps.install(folder, "minilm-code")


if __name__ == "__main__":
    sys.exit(main())
