"""Tuned file: the tuned weights of one project, a small JSON file in its index folder."""

import json
from dataclasses import asdict
from pathlib import Path

from codecards.indexer.index_folder import explained_write_errors, write_whole
from codecards.retrieval.rank.tuned_weights import GROUPS, MAX_FACTOR, MIN_FACTOR, TunedWeights, weights_digest

FILE_NAME = "tuned_weights.json"
FORMAT = 1


class TunedWeightsFile:
    """Reads the file anew whenever it changes. A file that can't be used changes nothing, and says why."""

    def __init__(self, folder: Path) -> None:
        """Take the index folder."""
        self.path = folder / FILE_NAME
        self._stamp: tuple[int, int] | None = None
        self._known: tuple[TunedWeights | None, str] = (None, "")

    def read(self) -> tuple[TunedWeights | None, str]:
        """Return (the tuned weights, ""), or (None, why a file that is there is not used)."""
        try:
            status = self.path.stat()
        except OSError:
            self._stamp, self._known = None, (None, "")
            return self._known
        stamp = (status.st_size, status.st_mtime_ns)
        if stamp != self._stamp:
            self._stamp, self._known = stamp, _read(self.path)
        return self._known

    def write(self, tuned: TunedWeights) -> None:
        """Put the tuned weights in place, whole or not at all.

        Raises:
            IndexWriteError: It can't be written.
        """
        value = {"format": FORMAT, "weights": weights_digest(), **asdict(tuned)}
        with explained_write_errors(self.path):
            write_whole(self.path, json.dumps(value, indent=1).encode())

    def remove(self) -> bool:
        """Remove the file; return whether there was one.

        Raises:
            IndexWriteError: It can't be removed.
        """
        was_there = self.path.exists()
        with explained_write_errors(self.path):
            self.path.unlink(missing_ok=True)
        return was_there


def _read(path: Path) -> tuple[TunedWeights | None, str]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
        if value["format"] != FORMAT or value["weights"] != weights_digest():
            return None, f"{path} was fitted to the weights of another version; run `codecards tune --fit` again"
        factors = {name: min(MAX_FACTOR, max(MIN_FACTOR, float(value["factors"][name]))) for name in GROUPS}
        return TunedWeights(
            factors, str(value["version"]), str(value["commit"]), str(value["created"]), int(value["n_tasks"]),
            float(value["before"]), float(value["after"]),
        ), ""  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError) as error:
        return None, f"{path} can't be read ({type(error).__name__}: {error}); `codecards tune --reset` removes it"
