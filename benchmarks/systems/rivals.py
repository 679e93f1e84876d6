"""Rivals: other products, and codecards itself, behind one small protocol.

Each runs in an environment of its own that is made once below a cache folder, and each answers through a driver
(`benchmarks/drivers/`): a script in that environment that reads a request on stdin and writes one JSON line a query.
What could not be run here, and why, stands in `benchmarks/README.md`.
"""

import json
import os
import shutil
import subprocess
import sys
import venv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from benchmarks.processes import Usage, folder_bytes, measure
from benchmarks.sets.queries import LabelledQuery, Span
from benchmarks.systems.answers import RecordedAnswer, answer_of_row

DRIVERS = Path(__file__).parent / "drivers"
INSTALL_TIMEOUT_S = 900
SEMBLE = "semble==0.7.0"
WORDLLAMA = "wordllama==0.4.0.post1"
JCODEMUNCH = "jcodemunch-mcp==1.108.399"
CODEGRAPH = "@colbymchenry/codegraph@1.6.1"


class RivalUnavailableError(Exception):
    """A rival can't be run here; the message says why."""


class Rival(Protocol):
    """A system that indexes a tree and answers queries about it."""

    @property
    def name(self) -> str:
        """What tables call it: "semble + WordLlama"."""
        ...

    def prepare(self, cache: Path) -> None:
        """Make all that is needed; a second call does nothing.

        Raises:
            RivalUnavailableError: It can't be had here.
        """
        ...

    def index(self, tree: Path, state: Path) -> Usage:
        """Bring the index of a tree up to date with a new process.

        Args:
            tree: The folder to index.
            state: A folder for all that the rival keeps; empty for a cold index.
        """
        ...

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Answer one query with a new process on an index that is there."""
        ...

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return what the index takes on disk."""
        ...

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer queries about several trees inside one process, each `repeat` times.

        Args:
            trees: Folder -> queries about it.
            state: As in `index`.
            depth: How many results are asked for.
            repeat: How often each query is asked, for its time.
        """
        ...


@dataclass(slots=True)
class Driven:
    """What rivals with a driver have in common."""

    name: str
    driver: str
    """File name in `benchmarks/drivers`."""
    requirements: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    """Further fields of the driver's request."""
    home: Path | None = None
    """The rival's environment, known once it is prepared."""

    def prepare(self, cache: Path) -> None:
        """Make the environment below `cache` and install the requirements."""
        home = cache / "-".join(requirement.replace("==", "-") for requirement in self.requirements)
        if not (home / "ready").exists():
            venv.create(home, with_pip=True, clear=True)
            command = [str(program(home, "python")), "-m", "pip", "install", "--quiet", *self.requirements]
            run = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
            if run.returncode:
                raise RivalUnavailableError(f"pip can't install {self.requirements}: {run.stderr.strip()[-300:]}")
            (home / "ready").touch()
        self.home = home

    @property
    def python(self) -> Path:
        """The interpreter that runs the driver."""
        return program(self.home, "python") if self.home else Path(sys.executable)

    def environment(self, state: Path) -> dict[str, str]:
        """Return the variables that keep all that the rival writes below `state`."""
        return {"HOME": str(state), "XDG_CACHE_HOME": str(state)}

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return the size of all that lies below `state`."""
        return folder_bytes(state)

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer queries through the driver."""
        asked = {str(tree): [[query.id, query.text] for query in queries] for tree, queries in trees.items()}
        request = {
            **self.settings, "state": str(state), "depth": depth, "repeat": repeat, "trees": asked,
            "indexes": index_names(trees),
        }  # fmt: skip
        usage = measure(
            [str(self.python), str(DRIVERS / self.driver)], self.environment(state), given=json.dumps(request)
        )
        if usage.return_code:
            raise RivalUnavailableError(f"{self.name}: {usage.errors.strip()[-1000:]}")
        for line in usage.output.splitlines():
            yield answer_of_row(json.loads(line))


@dataclass(slots=True)
class Codecards(Driven):
    """This project, through its command and its library."""

    name: str = "codecards"
    driver: str = "codecards_driver.py"
    embedder: str | None = None
    """Given to `--embedder`; None for the default, "none" for no vectors."""
    transformer: bool = False
    """Whether the transformer vectors are computed before the first question."""

    def prepare(self, cache: Path) -> None:
        """Nothing: it is installed where the benchmark runs."""
        self.settings = {"embedder": self.embedder, "transformer": self.transformer}

    def index(self, tree: Path, state: Path) -> Usage:
        """Run `codecards index`."""
        chosen = ["--embedder", self.embedder] if self.embedder else []
        chosen += ["--transformer"] if self.transformer else []
        return measure([*self._command(), "-C", str(tree), "--index", str(state), "index", "--json", *chosen])

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run `codecards recall`."""
        return measure([*self._command(), "-C", str(tree), "--index", str(state), "recall", "--json", query])

    def environment(self, state: Path) -> dict[str, str]:
        """Nothing: the index folder is named in each call."""
        return {}

    def _command(self) -> list[str]:
        # Not the script beside it: on Windows that is a second process.
        return [sys.executable, "-m", "codecards"]


@dataclass(slots=True)
class Semble(Driven):
    """semble with a static model from a package, since its own is only to be had from a hub."""

    name: str = "semble 0.7.0 + WordLlama"
    driver: str = "semble_driver.py"
    requirements: tuple[str, ...] = (SEMBLE, WORDLLAMA)
    lexical: bool = False
    """Whether its vectors get weight 0: BM25 and its ranking rules alone."""
    model: Path = Path()

    def prepare(self, cache: Path) -> None:
        """Make the environment, and a model2vec folder from WordLlama's table."""
        # Not `super()`: a dataclass with slots is another class than the one that `super()` remembers.
        Driven.prepare(self, cache)
        self.model = cache / "wordllama-model2vec"
        if not (self.model / "model.safetensors").exists():
            convert = [str(self.python), str(DRIVERS / "wordllama_table.py"), str(self.model)]
            run = subprocess.run(convert, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
            if run.returncode:
                raise RivalUnavailableError(f"WordLlama's table can't be converted: {run.stderr.strip()[-300:]}")
        self.settings = {"model": str(self.model), "lexical": self.lexical}

    def environment(self, state: Path) -> dict[str, str]:
        """Name the model and the cache."""
        return {"SEMBLE_MODEL_NAME": str(self.model), "SEMBLE_CACHE_LOCATION": str(state), "HF_HUB_OFFLINE": "1"}

    def index(self, tree: Path, state: Path) -> Usage:
        """Run a search: semble has no command that only indexes, and it indexes on the way."""
        return self.recall(tree, state, "index")

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run `semble search`."""
        return measure([str(program(self.home, "semble")), "search", query, str(tree)], self.environment(state))


@dataclass(slots=True)
class JCodeMunch(Driven):
    """jcodemunch-mcp, symbol search without a model."""

    name: str = "jcodemunch-mcp 1.108"
    driver: str = "jcodemunch_driver.py"
    requirements: tuple[str, ...] = (JCODEMUNCH,)

    def environment(self, state: Path) -> dict[str, str]:
        """Name the index folder, and send nobody anything."""
        return {"CODE_INDEX_PATH": str(state), "HOME": str(state), "JCODEMUNCH_SHARE_SAVINGS": "0"}

    def index(self, tree: Path, state: Path) -> Usage:
        """Run `jcodemunch-mcp index`."""
        command = [str(program(self.home, "jcodemunch-mcp")), "index", "--no-ai-summaries", str(tree)]
        return measure(command, self.environment(state))

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run its driver for one query, since it has no command that searches."""
        request = {"depth": 10, "repeat": 1, "trees": {str(tree): [["q", query]]}}
        command = [str(self.python), str(DRIVERS / self.driver)]
        return measure(command, self.environment(state), given=json.dumps(request))


@dataclass(slots=True)
class CodeGraph:
    """codegraph from npm: symbols and their graph, words only; it keeps its index inside the tree."""

    name: str = "codegraph 1.6.1"
    command: tuple[str, ...] = ()

    def prepare(self, cache: Path) -> None:
        """Install it below `cache` with npm."""
        home, npm, node = cache / "codegraph-1.6.1", shutil.which("npm"), shutil.which("node")
        if npm is None or node is None:
            raise RivalUnavailableError("codegraph needs node and npm")
        shim = home / "node_modules" / "@colbymchenry" / "codegraph" / "npm-shim.js"
        if not shim.exists():
            home.mkdir(parents=True, exist_ok=True)
            install = [npm, "install", "--no-audit", "--no-fund", "--prefix", str(home), CODEGRAPH]
            run = subprocess.run(install, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
            if run.returncode:
                raise RivalUnavailableError(f"npm can't install {CODEGRAPH}: {run.stderr.strip()[-300:]}")
        self.command = (node, str(shim))

    def index(self, tree: Path, state: Path) -> Usage:
        """Run `codegraph init`, or `sync` where there is an index."""
        if (state / "indexed").exists():
            return self._run(state, "sync", str(tree))
        shutil.rmtree(tree / ".codegraph", ignore_errors=True)
        (state / "indexed").touch()
        return self._run(state, "init", "--yes", str(tree))

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run `codegraph query`."""
        return self._run(state, "query", "--json", "--path", str(tree), query)

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return the size of its folder in the tree."""
        return folder_bytes(tree / ".codegraph")

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer each query with a process of its own, on copies of the trees; the time of a query is not known."""
        for tree, queries in trees.items():
            copy, own_state = state / "trees" / tree.name, state / "states" / tree.name
            own_state.mkdir(parents=True, exist_ok=True)
            if not copy.exists():
                shutil.copytree(tree, copy)
            self.index(copy, own_state)
            for query in queries:
                # A query that starts with a dash would be read as an option.
                asked = ["query", "--json", "--limit", str(depth), "--path", str(copy), query.text.lstrip("-")]
                output = self._run(own_state, *asked).output
                nodes = [row["node"] for row in json.loads(output[output.find("[") :] or "[]")]
                results = tuple(Span(node["filePath"], node["startLine"], node["endLine"]) for node in nodes)
                yield RecordedAnswer(query.id, results)

    def _run(self, state: Path, *arguments: str) -> Usage:
        environment = {"CODEGRAPH_TELEMETRY": "0", "HOME": str(state), "CODEGRAPH_NO_DAEMON": "1"}
        return measure([*self.command, *arguments], environment)


def index_names(trees: Mapping[Path, Sequence[LabelledQuery]]) -> dict[str, str]:
    """Return tree → name of its index folder: one for all trees of one repository, which have most files in common."""
    project_of = {tree: queries[0].project for tree, queries in trees.items()}
    n_trees = Counter(project_of.values())
    return {
        str(tree): project.replace("/", "+") if n_trees[project] > 1 else tree.name
        for tree, project in project_of.items()
    }


def program(home: Path | None, name: str) -> Path:
    """Return the path of a program in a virtual environment."""
    if home is None:
        raise RivalUnavailableError(f"{name} is asked for before its environment was prepared")
    return home / ("Scripts" if os.name == "nt" else "bin") / (f"{name}.exe" if os.name == "nt" else name)
