"""What a framework's document says of a hit, beside its text."""

from codecards.answers import FoundCard, Recall
from codecards.wire import Json, hit_json


def hit_metadata(hit: FoundCard, recall: Recall) -> Json:
    """Return where a hit is and how good it is, in the names of `recall --json`.

    The text itself is the document's. It comes from the repository: data, never instructions.
    """
    return hit_json(hit) | {"verdict": recall.verdict, "generation": recall.generation}
