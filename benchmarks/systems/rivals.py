"""Runs other products, and codecards itself, behind one small protocol.

Each rival has its own environment, which is created once below a cache folder. It answers through a driver
(`benchmarks/systems/drivers/`): a script in that environment that reads a request on stdin and writes one JSON line per query.
`benchmarks/README.md` lists the products that are left out, with the reasons.
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
        """Name in tables: "semble + WordLlama"."""
        ...

    def prepare(self, cache: Path) -> None:
        """Install the rival; a second call does nothing.

        Raises:
            RivalUnavailableError: The rival can't be installed here.
        """
        ...

    def index(self, tree: Path, state: Path) -> Usage:
        """Bring the index of a tree up to date in a new process.

        Args:
            tree: The folder to index.
            state: Folder for all files of the rival; empty for a cold index.
        """
        ...

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Answer one query in a new process, on an existing index."""
        ...

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return the size of the index on disk."""
        ...

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer queries about several trees in one process.

        Args:
            trees: Folder -> queries about it.
            state: As in `index`.
            depth: Number of results per query.
            repeat: How often each query is asked, to measure its time.
        """
        ...


@dataclass(slots=True)
class Driven:
    """A rival that answers through a driver."""

    name: str
    driver: str
    """File name in `benchmarks/systems/drivers`."""
    requirements: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    """Additional fields of the driver's request."""
    home: Path | None = None
    """The rival's environment, set by `prepare`."""

    def prepare(self, cache: Path) -> None:
        """Create the environment below `cache` and install the requirements."""
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
        """Return the variables that make the rival write below `state` only."""
        return {"HOME": str(state), "XDG_CACHE_HOME": str(state)}

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return the size of all files below `state`."""
        return folder_bytes(state)

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer queries through the driver."""
        asked = {str(tree): [[query.id, query.text] for query in queries] for tree, queries in trees.items()}
        request = {
            **self.settings,
            "state": str(state),
            "depth": depth,
            "repeat": repeat,
            "trees": asked,
            "indexes": index_names(trees),
        }
        usage = measure(
            [str(self.python), str(DRIVERS / self.driver)], self.environment(state), given=json.dumps(request)
        )
        if usage.return_code:
            raise RivalUnavailableError(f"{self.name}: {usage.errors.strip()[-1000:]}")
        for line in usage.output.splitlines():
            yield answer_of_row(json.loads(line))


@dataclass(slots=True)
class Codecards(Driven):
    """codecards, through its command and its library."""

    name: str = "codecards"
    driver: str = "codecards_driver.py"
    embedder: str | None = None
    """Value of `--embedder`; None for the default, "none" for no vectors."""
    transformer: bool = False
    """Whether the transformer vectors are computed before the first question."""

    def prepare(self, cache: Path) -> None:
        """Set the driver's settings; codecards is installed where the benchmark runs."""
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
        """Return no variables, because each call names the index folder."""
        return {}

    def _command(self) -> list[str]:
        # Not the installed script, which on Windows starts a second process.
        return [sys.executable, "-m", "codecards"]


@dataclass(slots=True)
class Semble(Driven):
    """semble with a static model from a package, because its own model is only on a hub."""

    name: str = "semble 0.7.0 + WordLlama"
    driver: str = "semble_driver.py"
    requirements: tuple[str, ...] = (SEMBLE, WORDLLAMA)
    lexical: bool = False
    """Whether its vectors have weight 0, so that only BM25 and its ranking rules count."""
    model: Path = Path()

    def prepare(self, cache: Path) -> None:
        """Create the environment, and a model2vec folder from WordLlama's table."""
        # Not `super()`: slots make the dataclass a new class, which the implicit `super()` does not know.
        Driven.prepare(self, cache)
        self.model = cache / "wordllama-model2vec"
        if not (self.model / "model.safetensors").exists():
            convert = [str(self.python), str(DRIVERS / "wordllama_table.py"), str(self.model)]
            run = subprocess.run(convert, capture_output=True, text=True, timeout=INSTALL_TIMEOUT_S, check=False)
            if run.returncode:
                raise RivalUnavailableError(f"WordLlama's table can't be converted: {run.stderr.strip()[-300:]}")
        self.settings = {"model": str(self.model), "lexical": self.lexical}

    def environment(self, state: Path) -> dict[str, str]:
        """Return the variables that set the model and the cache."""
        return {"SEMBLE_MODEL_NAME": str(self.model), "SEMBLE_CACHE_LOCATION": str(state), "HF_HUB_OFFLINE": "1"}

    def index(self, tree: Path, state: Path) -> Usage:
        """Run a search, which indexes too; semble has no command that only indexes."""
        return self.recall(tree, state, "index")

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run `semble search`."""
        return measure([str(program(self.home, "semble")), "search", query, str(tree)], self.environment(state))


@dataclass(slots=True)
class JCodeMunch(Driven):
    """jcodemunch-mcp: symbol search without a model."""

    name: str = "jcodemunch-mcp 1.108"
    driver: str = "jcodemunch_driver.py"
    requirements: tuple[str, ...] = (JCODEMUNCH,)

    def environment(self, state: Path) -> dict[str, str]:
        """Return the variables that set the index folder and switch telemetry off."""
        return {"CODE_INDEX_PATH": str(state), "HOME": str(state), "JCODEMUNCH_SHARE_SAVINGS": "0"}

    def index(self, tree: Path, state: Path) -> Usage:
        """Run `jcodemunch-mcp index`."""
        command = [str(program(self.home, "jcodemunch-mcp")), "index", "--no-ai-summaries", str(tree)]
        return measure(command, self.environment(state))

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run the driver for one query, because there is no command that searches."""
        request = {"depth": 10, "repeat": 1, "trees": {str(tree): [["q", query]]}}
        command = [str(self.python), str(DRIVERS / self.driver)]
        return measure(command, self.environment(state), given=json.dumps(request))


@dataclass(slots=True)
class CodeGraph:
    """codegraph from npm: symbols and their graph, words only; its index is inside the tree."""

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
        """Run `codegraph init`, or `sync` if there is an index."""
        if (state / "indexed").exists():
            return self._run(state, "sync", str(tree))
        shutil.rmtree(tree / ".codegraph", ignore_errors=True)
        (state / "indexed").touch()
        return self._run(state, "init", "--yes", str(tree))

    def recall(self, tree: Path, state: Path, query: str) -> Usage:
        """Run `codegraph query`."""
        return self._run(state, "query", "--json", "--path", str(tree), query)

    def disk_bytes(self, tree: Path, state: Path) -> int:
        """Return the size of codegraph's folder in the tree."""
        return folder_bytes(tree / ".codegraph")

    def answers(
        self, trees: Mapping[Path, Sequence[LabelledQuery]], state: Path, depth: int, repeat: int
    ) -> Iterator[RecordedAnswer]:
        """Answer each query in a separate process, on copies of the trees; the time of a query is unknown."""
        for tree, queries in trees.items():
            copy, own_state = state / "trees" / tree.name, state / "states" / tree.name
            own_state.mkdir(parents=True, exist_ok=True)
            if not copy.exists():
                shutil.copytree(tree, copy)
            self.index(copy, own_state)
            for query in queries:
                # A query that starts with a dash would be parsed as an option.
                asked = ["query", "--json", "--limit", str(depth), "--path", str(copy), query.text.lstrip("-")]
                output = self._run(own_state, *asked).output
                nodes = [row["node"] for row in json.loads(output[output.find("[") :] or "[]")]
                results = tuple(Span(node["filePath"], node["startLine"], node["endLine"]) for node in nodes)
                yield RecordedAnswer(query.id, results)

    def _run(self, state: Path, *arguments: str) -> Usage:
        environment = {"CODEGRAPH_TELEMETRY": "0", "HOME": str(state), "CODEGRAPH_NO_DAEMON": "1"}
        return measure([*self.command, *arguments], environment)


def index_names(trees: Mapping[Path, Sequence[LabelledQuery]]) -> dict[str, str]:
    """Return tree → name of its index folder, one for all trees of a repository, which share most files."""
    project_of = {tree: queries[0].project for tree, queries in trees.items()}
    n_trees = Counter(project_of.values())
    return {
        str(tree): project.replace("/", "+") if n_trees[project] > 1 else tree.name
        for tree, project in project_of.items()
    }


def program(home: Path | None, name: str) -> Path:
    """Return the path of a program in a virtual environment."""
    if home is None:
        raise RivalUnavailableError(f"{name} was requested before its environment was created")
    return home / ("Scripts" if os.name == "nt" else "bin") / (f"{name}.exe" if os.name == "nt" else name)
