"""`python -m training`: from the registries to both models and the weights of cards; see README.md beside this file."""

import argparse
import logging
import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")


def main(arguments: list[str] | None = None) -> int:
    """Run the training and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m training", description=__doc__)
    parser.add_argument(
        "--work", type=Path, default=Path("training-work"), help="folder for downloads and results (2 GB)"
    )
    parser.add_argument(
        "--only", choices=("mine", "static", "minilm", "cards"), help="stop after mining, or learn one thing"
    )
    parser.add_argument("--epochs", type=int, default=8, help="passes of the static table")
    parser.add_argument("--minutes", type=float, nargs=2, default=(47, 76), help="time of the transformer's two passes")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--history", type=Path, action="append", default=[], metavar="GITDIR",
        help="learn the weights of cards from the commits of this git folder too; can be given several times",
    )  # fmt: skip
    parser.add_argument("--install", action="store_true", help="put what was learned where the package ships it")
    parser.add_argument("--smoke", action="store_true", help="a toy run of seconds without network")
    options = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("codecards").setLevel(logging.WARNING)  # the product's own lines, one a question
    if options.smoke and options.only == "cards":
        from training.ranking import smoke as ranking_smoke  # noqa: PLC0415 - the other one imports torch

        with tempfile.TemporaryDirectory() as folder:
            sys.stdout.write(f"{ranking_smoke.run(Path(folder))}\n")
        return 0
    if options.smoke:
        from training import smoke  # noqa: PLC0415 - imports torch

        with tempfile.TemporaryDirectory() as folder:
            for name, losses in smoke.run(Path(folder)).items():
                sys.stdout.write(f"{name}: loss {losses[0]:.2f} at first, {losses[-1]:.2f} at last\n")
        return 0
    options.work.mkdir(parents=True, exist_ok=True)
    if options.only != "cards":
        _train(options)
    if options.only in {None, "cards"}:
        _learn_cards(options)
    return 0


def _learn_cards(options: argparse.Namespace) -> None:
    from training.ranking.tables import learn_tables, write_tables  # noqa: PLC0415 - the other steps import torch

    tables = learn_tables(options.work, options.history)
    write_tables(tables, options.work / "card_weights.json")
    if options.install:
        write_tables(tables)


def _train(options: argparse.Namespace) -> None:
    from codecards.retrieval.embed.onnx import OnnxEmbedder  # noqa: PLC0415
    from codecards.retrieval.embed.static import StaticEmbedder  # noqa: PLC0415
    from training import steps  # noqa: PLC0415
    from training.corpus.examples import read_pairs, split_roles  # noqa: PLC0415
    from training.embedders.export_onnx import export_int8  # noqa: PLC0415

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
        tuned = steps.deep_model(options.work, pairs, table, minutes=tuple(options.minutes), n_threads=options.threads)
        folder = options.work / "minilm-code"
        export_int8(tuned, folder)
        sys.stdout.write("\n".join(["minilm", *steps.measure(OnnxEmbedder(folder), pairs_file)]) + "\n")
        if options.install:
            steps.install(folder, "minilm-code")


if __name__ == "__main__":
    sys.exit(main())
