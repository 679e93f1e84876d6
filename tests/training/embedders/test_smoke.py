"""Both kinds of model train at toy sizes, and load."""

from importlib.util import find_spec
from pathlib import Path

import pytest

MISSING = [name for name in ("torch", "sentence_transformers", "onnx") if find_spec(name) is None]


@pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: pip install -r training/requirements.txt")
@pytest.mark.filterwarnings("ignore")  # from torch's exporter and from transformers
def test_both_models_learn_and_load(tmp_path: Path) -> None:
    from training.embedders import smoke

    losses = smoke.run(tmp_path)
    for steps in losses.values():
        assert sum(steps[-5:]) < sum(steps[:5])
