"""Stores a project's tuned weights: a small JSON file in its index folder."""

import json
from dataclasses import asdict
from pathlib import Path

from codecards.indexer.atomic_files import replace_file
from codecards.indexer.index_folder import explained_write_errors
from codecards.retrieval.rank.tuned_weights import GROUPS, MAX_FACTOR, MIN_FACTOR, TunedWeights, weights_digest

FILE_NAME = "tuned_weights.json"
FORMAT = 1


class TunedWeightsFile:
    """Caches the file and rereads it when it changes. An unusable file means default weights, with the reason.

    Args:
        folder: The index folder.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / FILE_NAME
        self._stamp: tuple[int, int] | None = None
        self._cached: tuple[TunedWeights | None, str] = (None, "")

    def read(self) -> tuple[TunedWeights | None, str]:
        """Return (the tuned weights, ""), or (None, why an existing file is not used)."""
        try:
            status = self.path.stat()
        except OSError:
            self._stamp, self._cached = None, (None, "")
            return self._cached
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp != self._stamp:
            self._stamp, self._cached = stamp, _read(self.path)
        return self._cached

    def write(self, tuned: TunedWeights) -> None:
        """Write the tuned weights, completely or not at all.

        Raises:
            IndexWriteError: The file can't be written.
        """
        value = {"format": FORMAT, "weights": weights_digest(), **asdict(tuned)}
        with explained_write_errors(self.path):
            replace_file(self.path, json.dumps(value, indent=1).encode())

    def remove(self) -> bool:
        """Remove the file; return whether it existed.

        Raises:
            IndexWriteError: The file can't be removed.
        """
        existed = self.path.exists()
        with explained_write_errors(self.path):
            self.path.unlink(missing_ok=True)
        return existed


def _read(path: Path) -> tuple[TunedWeights | None, str]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != FORMAT or value["weights"] != weights_digest():
            return None, f"{path} was fitted to the weights of another version; run `codecards tune --fit` again"
        factors = {name: min(MAX_FACTOR, max(MIN_FACTOR, float(value["factors"][name]))) for name in GROUPS}
        tuned = TunedWeights(
            factors=factors,
            version=str(value["version"]),
            commit=str(value["commit"]),
            created=str(value["created"]),
            n_tasks=int(value["n_tasks"]),
            before=float(value["before"]),
            after=float(value["after"]),
        )
        return tuned, ""
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"{path} can't be read ({type(error).__name__}: {error}); `codecards tune --reset` removes it"
