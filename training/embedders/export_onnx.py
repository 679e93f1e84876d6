"""Writes a fine-tuned transformer as int8 ONNX, in a folder that sentence-transformers can load.

Weights are int8 with one factor per column; activations are scaled at run time. `reduce_range` keeps sums within the range of
processors without VNNI, so that the model gives nearly the same vectors on all processors.
"""

import json
import shutil
import tempfile
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer
from torch import Tensor

from codecards.retrieval.embed.onnx import MAX_TOKENS, MODEL_FILE

_MODULES = ("Transformer", "Pooling", "Normalize")
_PATHS = ("", "1_Pooling", "2_Normalize")
_POOLING = {
    "word_embedding_dimension": 0,  # filled in
    "pooling_mode_cls_token": False,
    "pooling_mode_mean_tokens": True,
    "pooling_mode_max_tokens": False,
    "pooling_mode_mean_sqrt_len_tokens": False,
}
_INPUTS = ("input_ids", "attention_mask", "token_type_ids")


class _TokenStates(torch.nn.Module):
    """The encoder with positional inputs and one output, as the exporter requires."""

    def __init__(self, encoder: torch.nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        states: Tensor = self.encoder(
            input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids
        ).last_hidden_state
        return states


def export_int8(trained: Path, target: Path) -> None:
    """Write the model of a sentence-transformers folder to `target`, which is replaced."""
    model = SentenceTransformer(str(trained), device="cpu", model_kwargs={"attn_implementation": "eager"})
    encoder = _TokenStates(model[0].auto_model).eval().float()
    shutil.rmtree(target, ignore_errors=True)
    (target / MODEL_FILE).parent.mkdir(parents=True)
    # Two texts, so that the exporter treats both axes as variable.
    ids = torch.randint(5, 100, (2, 16))
    example = (ids, torch.ones_like(ids), torch.zeros_like(ids))
    axes = {0: "batch", 1: "tokens"}
    with tempfile.TemporaryDirectory() as scratch:
        full = Path(scratch) / "model.onnx"
        torch.onnx.export(
            encoder,
            example,
            str(full),
            input_names=list(_INPUTS),
            output_names=["last_hidden_state"],
            dynamic_axes=dict.fromkeys((*_INPUTS, "last_hidden_state"), axes),
            opset_version=17,
            dynamo=False,
        )
        onnx.checker.check_model(str(full))
        quantize_dynamic(
            full,
            target / MODEL_FILE,
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
            extra_options={"MatMulConstBOnly": True},
        )
    _write_settings(trained, target, model.get_sentence_embedding_dimension() or 0)


def _write_settings(trained: Path, target: Path, dimensions: int) -> None:
    """Write the settings in the form that sentence-transformers reads since version 2."""
    tokenizer = Tokenizer.from_file(str(trained / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(target / "tokenizer.json"), pretty=False)
    for name in ("config.json", "tokenizer_config.json"):
        shutil.copyfile(trained / name, target / name)
    modules = [
        {"idx": index, "name": str(index), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for index, (kind, path) in enumerate(zip(_MODULES, _PATHS, strict=True))
    ]
    _write_json(target / "modules.json", modules)
    _write_json(target / "sentence_bert_config.json", {"max_seq_length": MAX_TOKENS, "do_lower_case": False})
    _write_json(target / "1_Pooling" / "config.json", {**_POOLING, "word_embedding_dimension": dimensions})


def _write_json(path: Path, value: object) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
