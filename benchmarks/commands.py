"""The commands of `python -m benchmarks`."""

import importlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.quality.run import QualityFigures, by_tree, figures_of, score_all
from benchmarks.report.tables import REPORTS, check_report, print_quality, print_speed, rewrite_report
from benchmarks.result_files import DEFAULT_CACHE, new_result, write_result
from benchmarks.sets.default_set import DEFAULT_SET, build_default_set
from benchmarks.sets.queries import LabelledQuery, read_queries
from benchmarks.sets.trees import TreeError, lay_out
from benchmarks.speed.run import RunFailedError, measure_speed, medians
from benchmarks.systems.answers import RecordedAnswer, write_run
from benchmarks.systems.bm25 import WordBaseline
from benchmarks.systems.registry import SYSTEMS
from benchmarks.systems.rivals import Rival, RivalUnavailableError

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Measures codecards, and other products beside it.")
MODULES = {
    "ablations": (
        "quality.ablations",
        "Quality without each score term, each retriever and each source of candidates.",
    ),
    "asked": ("quality.asked", "Questions in the words of somebody who does not know the names: first, within three."),
    "call-graph": ("quality.call_graph", "Precision and recall of call edges per language, on labelled fixtures."),
    "governance": ("sessions.run", "Agent sessions replayed through context policies side by side."),
    "sessions": (
        "sessions.price_run",
        "The price of a turn with prompt caching: the gateway beside the simplest baselines.",
    ),
    "mcp": ("speed.mcp", "Latency over MCP, warm and cold, and the token cost of the tools, beside semble's server."),
    "soak": ("speed.soak", "Several MCP servers on a project that is being edited: errors, stale lines, memory."),
    "nonsense": ("nonsense.run", "How often a query without an answer is called found, and real questions are not."),
    "plots": ("report.charts", "The newest results as SVG charts."),
    "cases": ("checks.cases", "The open cases of a case bank."),
    "damage": ("checks.damage", "Definitions that survive a token more or less in real files, by language."),
    "fuzz": ("checks.fuzz", "Coverage-guided fuzzing of the extractor, language by language."),
    "stress": ("speed.stress", "A very large tree: time, memory, and runs killed at random moments."),
}
"""Command -> the module of this package whose `main(argv)` runs it, and its help."""
QUALITY_SYSTEMS = ("codecards", "codecards-words", "semble", "semble-words", "bm25")
SPEED_SYSTEMS = ("codecards", "semble")
SETS = ("default", "chinese")

Queries = Annotated[list[Path] | None, typer.Option("--queries", help="Query files (default: the set from PyPI).")]
Trees = Annotated[Path | None, typer.Option("--trees", help="Folder with the trees of the query files.")]
Mirrors = Annotated[Path | None, typer.Option("--mirrors", help="Git mirrors from which missing trees are laid out.")]
Cache = Annotated[Path, typer.Option("--cache", help="Environments, trees and indexes, kept between runs.")]
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
    subset: Annotated[str | None, typer.Option(help="Only rows of this subset, such as verified.")] = None,
    depth: Annotated[int, typer.Option(help="Results per query; 50 for issue sets, which count files.")] = 10,
    keep: Annotated[bool, typer.Option("--keep", help="Reuse the indexes of an earlier run.")] = False,
    save: Annotated[bool, typer.Option(help="Write result files.")] = True,
    cache: Cache = DEFAULT_CACHE,
) -> None:
    """Ask the queries of each file, and print NDCG@10, recall@10, MRR and hit@1 by category and language."""
    if queries is None:
        queries = _build_set(chosen_set, cache)
        own_trees = {path: path.parent if chosen_set == "chinese" else cache / DEFAULT_SET for path in queries}
    else:
        own_trees = {}
    for path in queries:
        folder = own_trees.get(path) or trees or cache / "trees"
        rows = [query for query in read_queries(path) if subset is None or subset in query.subsets]
        for complaint in lay_out(rows, folder, mirrors):
            typer.echo(f"left out: {complaint}", err=True)
        grouped = by_tree([query for query in rows if (folder / query.tree).is_dir()], folder)
        asked = QuerySet(path.stem + (f"_{subset}" if subset else ""), grouped, depth, cache)
        if not keep:
            shutil.rmtree(asked.state, ignore_errors=True)
        figures = _figures_of_systems(asked, system or list(QUALITY_SYSTEMS))
        settings = {"queries": path.name, "subset": subset, "n_queries": len(asked.queries), "depth": depth}
        if save and figures:
            typer.echo(write_result(new_result(f"quality-{asked.name}", settings, figures)))


@app.command()
def speed(
    *,
    trees: Annotated[
        Path | None, typer.Option("--trees", help="Folder whose folders are indexed (default: the set from PyPI).")
    ] = None,
    tree: Annotated[list[str] | None, typer.Option("--tree", help="Only this folder; may be given again.")] = None,
    system: Systems = None,
    queries: Queries = None,
    repetitions: Annotated[int, typer.Option(min=1)] = 3,
    save: Annotated[bool, typer.Option(help="Write a result file.")] = True,
    cache: Cache = DEFAULT_CACHE,
) -> None:
    """Index trees and answer queries with codecards and rivals in turns, and print the ratios."""
    if trees is None:
        _build_set("default", cache)
        trees = cache / DEFAULT_SET
    rivals = list(_prepared_systems(system or list(SPEED_SYSTEMS), cache))
    if not rivals:
        raise typer.Exit(3)
    folders = [trees / name for name in tree] if tree else sorted(path for path in trees.iterdir() if path.is_dir())
    own = [query for path in queries or [] for query in read_queries(path)]
    with tempfile.TemporaryDirectory(prefix="codecards-speed-") as folder:
        try:
            samples = measure_speed(
                rivals,
                folders,
                Path(folder),
                repetitions=repetitions,
                queries=own,
                say=lambda line: typer.echo(line, err=True),
            )
        except RunFailedError as error:
            typer.echo(error, err=True)
            raise typer.Exit(1) from error
    figures = medians(samples)
    print_speed(figures)
    names = [name for name in system or SPEED_SYSTEMS if SYSTEMS[name]().name in {rival.name for rival in rivals}]
    settings = {"trees": [path.name for path in folders], "repetitions": repetitions, "systems": names}
    if save:
        typer.echo(write_result(new_result("speed", settings, figures)))


@app.command()
def trees(
    queries: list[Path],
    to: Annotated[Path, typer.Option("--trees", help="Gets one folder a tree.")],
    mirrors: Mirrors = None,
) -> None:
    """Lay out the trees that query files name."""
    rows = [query for path in queries for query in read_queries(path)]
    for complaint in lay_out(rows, to, mirrors):
        typer.echo(f"left out: {complaint}")


@app.command()
def report(
    check: Annotated[
        bool, typer.Option("--check", help="Only report whether the tables are current; exit 1 if not.")
    ] = False,
    file: Annotated[
        list[Path] | None, typer.Option("--file", help="Only this file (default: both READMEs, docs/benchmarks.md).")
    ] = None,
) -> None:
    """Write the newest results into the tables of the READMEs and of docs/benchmarks.md."""
    files = file or list(REPORTS)
    if check:
        outdated = [path for path in files if not check_report(path)]
        for path in outdated:
            typer.echo(f"{path} is not current; run: python -m benchmarks report", err=True)
        raise typer.Exit(1 if outdated else 0)
    for path in files:
        rewrite_report(path)


@dataclass(frozen=True, slots=True)
class QuerySet:
    """One query set as every system is asked it."""

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
        """Folder of the systems' indexes for this set."""
        return self.cache / "state" / self.name


def _build_set(name: str, cache: Path) -> list[Path]:
    """Return the query files of a set from the registries, built where they are missing; exit with 3 on failure."""
    if name not in SETS:
        raise typer.BadParameter(f"there is no set {name!r}; use {' or '.join(SETS)}", param_hint="--set")
    try:
        if name == "default":
            return [build_default_set(cache)]
        # The Chinese set is mined by a package that no other benchmark needs.
        chinese: list[Path] = importlib.import_module("benchmarks.sets.chinese_set").build_chinese_set(cache)
        return chinese
    except TreeError as error:
        typer.echo(f"The {name} set can't be built: {error}", err=True)
        raise typer.Exit(3) from error


def _figures_of_systems(asked: QuerySet, names: list[str]) -> dict[str, QualityFigures]:
    """Return system -> figures; report each system that can't run here, and leave it out."""
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


def _answers(name: str, asked: QuerySet) -> list[RecordedAnswer]:
    if name == "bm25":
        return list(WordBaseline().answers(asked.by_tree, asked.depth))
    state = asked.state / name
    state.mkdir(parents=True, exist_ok=True)
    return list(_prepared(name, asked.cache).answers(asked.by_tree, state, asked.depth, repeat=1))


def _prepared_systems(names: list[str], cache: Path) -> Iterator[Rival]:
    """Yield the systems that can run here; report the others."""
    for name in names:
        try:
            yield _prepared(name, cache)
        except RivalUnavailableError as error:
            typer.echo(f"left out: {name}: {error}", err=True)


def _prepared(name: str, cache: Path) -> Rival:
    if name not in SYSTEMS:
        raise typer.BadParameter(f"there is no system {name!r}; use {', '.join(SYSTEMS)}", param_hint="--system")
    rival = SYSTEMS[name]()
    rival.prepare(cache)
    return rival


def _add_command(name: str, module: str, summary: str) -> None:
    """Add a command whose module, imported only when the command runs, reads the arguments itself."""
    settings = {"allow_extra_args": True, "ignore_unknown_options": True}

    @app.command(name, help=summary, context_settings=settings, add_help_option=False)
    def command(context: typer.Context) -> None:
        raise typer.Exit(importlib.import_module(f"benchmarks.{module}").main(context.args))


for _name, (_module, _summary) in MODULES.items():
    _add_command(_name, _module, _summary)
