"""Writes WordLlama's token table as a model2vec folder, in semble's environment: `wordllama_table.py FOLDER`."""

import sys
from pathlib import Path

import numpy as np
import wordllama
from model2vec import StaticModel
from safetensors import safe_open
from tokenizers import Tokenizer


def main(folder: str) -> None:
    """Convert the 256-d table of the wordllama wheel."""
    package = Path(wordllama.__file__).parent
    tokenizer = Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    with safe_open(str(package / "weights" / "l2_supercat_256.safetensors"), "np") as tensors:
        table = tensors.get_tensor("embedding.weight").astype(np.float32)
    StaticModel(table, tokenizer, normalize=True).save_pretrained(folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
