"""The command `python -m benchmarks`."""

import importlib
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.quality.run import QualityFigures, by_tree, figures_of, score_all
from benchmarks.report.readme_tables import check_report, print_quality, print_speed, rewrite_report
from benchmarks.result_files import new_result, write_result
from benchmarks.sets.chinese_set import build_chinese_set
from benchmarks.sets.default_set import DEFAULT_SET, build_default_set
from benchmarks.sets.queries import LabelledQuery, read_queries
from benchmarks.sets.trees import lay_out
from benchmarks.speed.run import measure_speed, medians
from benchmarks.systems.answers import RecordedAnswer, write_run
from benchmarks.systems.bm25 import WordBaseline
from benchmarks.systems.registry import SYSTEMS
from benchmarks.systems.rivals import Rival, RivalUnavailableError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Measures codecards, and rivals beside it.")
README = Path(__file__).parents[1] / "README.md"
DEFAULT_CACHE = Path(tempfile.gettempdir()) / "codecards-benchmarks"
MODULES = {
    "ablations": ("ablations", "What each term of the score, each lane, and each way to the candidates is worth."),
    "call-graph": ("call_graph", "Precision and recall of call edges per language, on labelled fixtures."),
    "governance": ("governance", "Recorded agent sessions, replayed through policies side by side."),
    "mcp": ("mcp_speed", "Answers over MCP, warm and cold, and the price of the tools, beside semble's server."),
    "soak": ("soak", "Several MCP servers on one project that is being edited: errors, stale lines, memory."),
    "nonsense": (
        "nonsense",
        "How often a query without an answer is called answered, and what real questions are called.",
    ),
    "plots": ("plots", "The newest results as charts: quality by index and query time, recall by tokens, governance."),
    "cases": ("cases", "The open cases of the case bank, where it can be had."),
    "damage": ("checks.damage", "Definitions that survive a token more or less in real files, by language."),
    "fuzz": ("fuzz", "Coverage-guided fuzzing of the extractor, language by language."),
    "stress": ("stress", "A very large tree: time, memory, and runs killed at random moments."),
}
"""Further commands -> the module of this folder whose `main(argv)` they are, and what they do."""

Queries = Annotated[list[Path] | None, typer.Option("--queries", help="Query files (default: the set from PyPI).")]
Trees = Annotated[Path | None, typer.Option("--trees", help="Folder with the trees of the query files.")]
Mirrors = Annotated[Path | None, typer.Option("--mirrors", help="Git mirrors, to lay missing trees out from.")]
Cache = Annotated[Path, typer.Option("--cache", help="For environments, trees and indexes; kept between runs.")]
Systems = Annotated[list[str] | None, typer.Option("--system", help=f"Any of {', '.join(SYSTEMS)}, bm25.")]


@app.command()
def quality(
    *,
    queries: Queries = None,
    chosen_set: Annotated[
        str, typer.Option("--set", help="Without --queries: default (functions) or chinese, both from registries.")
    ] = "default",
    trees: Trees = None,
    mirrors: Mirrors = None,
    system: Systems = None,
    subset: Annotated[str | None, typer.Option(help="Only rows of this part, such as verified.")] = None,
    depth: Annotated[int, typer.Option(help="Results asked for; 50 for issue sets, which count files.")] = 10,
    keep: Annotated[bool, typer.Option("--keep", help="Go on with the indexes of an earlier run.")] = False,
    save: Annotated[bool, typer.Option(help="Write result files.")] = True,
    cache: Cache = DEFAULT_CACHE,
) -> None:
    """Ask the queries of each file, and print NDCG@10, recall@10, MRR and hit@1 by category and language."""
    if queries is None:
        queries = build_chinese_set(cache) if chosen_set == "chinese" else [build_default_set(cache)]
        own_trees = {path: path.parent if chosen_set == "chinese" else cache / DEFAULT_SET for path in queries}
    else:
        own_trees = {}
    for path in queries:
        folder = own_trees.get(path) or trees or cache / "trees"
        rows = [query for query in read_queries(path) if subset is None or subset in query.subsets]
        for complaint in lay_out(rows, folder, mirrors):
            typer.echo(f"left out: {complaint}", err=True)
        grouped = by_tree([query for query in rows if (folder / query.tree).is_dir()], folder)
        asked = AskedOptions(path.stem + (f"_{subset}" if subset else ""), grouped, depth, cache)
        if not keep:
            shutil.rmtree(asked.state, ignore_errors=True)
        figures = _figures_of_systems(
            asked, system or ["codecards", "codecards-words", "semble", "semble-words", "bm25"]
        )
        settings = {"queries": path.name, "subset": subset, "n_queries": len(asked.queries), "depth": depth}
        if save and figures:
            typer.echo(write_result(new_result(f"quality-{asked.name}", settings, figures)))


@app.command()
def speed(
    *,
    trees: Annotated[Path, typer.Option("--trees", help="Folder whose folders are indexed.")],
    tree: Annotated[list[str] | None, typer.Option("--tree", help="Only this one.")] = None,
    system: Systems = None,
    queries: Queries = None,
    repetitions: Annotated[int, typer.Option(min=1)] = 3,
    save: Annotated[bool, typer.Option(help="Write a result file.")] = True,
    cache: Cache = DEFAULT_CACHE,
) -> None:
    """Index trees and answer queries with codecards and rivals in turns, and print the ratios."""
    names = system or ["codecards", "semble"]
    rivals = [_prepared(name, cache) for name in names]
    folders = [trees / name for name in tree] if tree else sorted(path for path in trees.iterdir() if path.is_dir())
    own = [query for path in queries or [] for query in read_queries(path)]
    with tempfile.TemporaryDirectory(prefix="codecards-speed-") as folder:
        samples = measure_speed(
            rivals,
            folders,
            Path(folder),
            repetitions=repetitions,
            queries=own,
            say=lambda line: typer.echo(line, err=True),
        )
    figures = medians(samples)
    print_speed(figures)
    settings = {"trees": [path.name for path in folders], "repetitions": repetitions, "systems": names}
    if save:
        typer.echo(write_result(new_result("speed", settings, figures)))


@app.command()
def trees(queries: list[Path], to: Annotated[Path, typer.Option("--trees")], mirrors: Mirrors = None) -> None:
    """Lay out the trees that query files name."""
    rows = [query for path in queries for query in read_queries(path)]
    for complaint in lay_out(rows, to, mirrors):
        typer.echo(f"left out: {complaint}")


@app.command()
def report(
    check: Annotated[
        bool, typer.Option("--check", help="Only tell whether the file is current; exit 1 if not.")
    ] = False,
    file: Annotated[Path, typer.Option("--file")] = README,
) -> None:
    """Write the newest results into the tables of the README."""
    if check:
        raise typer.Exit(0 if check_report(file) else 1)
    rewrite_report(file)


@dataclass(frozen=True, slots=True)
class AskedOptions:
    """One query set as it is put to every system."""

    name: str
    """"semble_dev", "swebench_dev_verified"."""
    by_tree: dict[Path, list[LabelledQuery]]
    depth: int
    cache: Path

    @property
    def queries(self) -> list[LabelledQuery]:
        """All queries, tree by tree."""
        return [query for queries in self.by_tree.values() for query in queries]

    @property
    def state(self) -> Path:
        """The folder of the systems' indexes of this set."""
        return self.cache / "state" / self.name


def _figures_of_systems(asked: AskedOptions, names: list[str]) -> dict[str, QualityFigures]:
    """Return system -> figures; one that can't be run is told of and left out."""
    found = {}
    for name in names:
        try:
            answers = _answers(name, asked)
        except RivalUnavailableError as error:
            typer.echo(f"left out: {name}: {error}", err=True)
            continue
        write_run(asked.cache / "runs" / f"{asked.name}.{name}.jsonl", answers, name)
        found[name] = figures_of(score_all(asked.queries, answers))
        print_quality(name, found[name])
    return found


def _answers(name: str, asked: AskedOptions) -> list[RecordedAnswer]:
    if name == "bm25":
        return list(WordBaseline().answers(asked.by_tree, asked.depth))
    state = asked.state / name
    state.mkdir(parents=True, exist_ok=True)
    return list(_prepared(name, asked.cache).answers(asked.by_tree, state, asked.depth, repeat=1))


def _prepared(name: str, cache: Path) -> Rival:
    if name not in SYSTEMS:
        raise typer.BadParameter(f"{name}: there is no such system; {', '.join(SYSTEMS)}")
    rival = SYSTEMS[name]()
    rival.prepare(cache)
    return rival


def _add_command(name: str, module: str, summary: str) -> None:
    """Add a command whose arguments are read by another module's `main(argv)`, imported only when it is called."""

    @app.command(name, help=summary, context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
                 add_help_option=False)  # fmt: skip
    def command(context: typer.Context) -> None:
        raise typer.Exit(importlib.import_module(f"benchmarks.{module}").main(context.args))


for _name, (_module, _summary) in MODULES.items():
    _add_command(_name, _module, _summary)

if __name__ == "__main__":
    app()
