"""Ignore rules in folders where git can't be asked, and the rules of `.codecardsignore`.

Inside a git working tree git itself lists the files (`git.listed_files`). The rules here judge the rest: folders without
git, and `.codecardsignore`, which git does not know. Source: gitignore(5). The walk visits folders from the top, so a
rule file judges one path at a time, without the folders above it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

GIT_RULES = ".gitignore"
OWN_RULES = ".codecardsignore"
MAX_RULES_BYTES = 256 << 10
"""Larger rule files are not read."""
MAX_RULES = 2_000
"""Further rules of a file are skipped: each costs 0.25 µs per path."""
MAX_FURTHER_STARS = 2
MAX_DOUBLE_STARS = 2
MAX_CHOICES = 3
"""Rules with more `*` beside another one in the same part of the path, with more `**`, or with more of both are skipped.
Regular expressions backtrack: within these limits a path of 4,096 characters costs at most 0.15 s; `**/a/**/a/**/b` takes
54 s, and `*a*a*a*a*b` 16 s for one name."""
_RUN_OF_STARS = re.compile(r"(?<!\\)\*+")
_NESTED_SET = re.compile(r"\[[^\]]*(\[|--|&&|\|\||~~)")
"""Brackets that Python's regular expressions read differently from git: "[[:digit:]]"."""
_REPEATED = re.compile(r"(?:(?<=/)|^)(?:\*\*/){2,}")
_WILDCARD = re.compile(r"[*?\[\\]")

_FOLDERS_WITHOUT_GIT = frozenset(
    """
    node_modules bower_components jspm_packages __pycache__ .tox .nox .venv .eggs .mypy_cache .pytest_cache .ruff_cache
    .hypothesis .gradle .terraform .next .nuxt .svelte-kit .parcel-cache .turbo .dart_tool .hg .svn .bzr .jj CVS
    """.split()
)
"""Folders that no repository tracks; skipped, unless a rule says otherwise, if git can't say what is tracked."""
_SUFFIXES_WITHOUT_GIT = (".pyc", ".pyo")


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a rule file."""

    spec: GitIgnoreSpec
    """Matches what the line names, without its "!"."""
    ignores: bool
    """False for a line with "!"."""
    folders_only: bool
    by_name: bool
    """Whether the line has no slash, so that it applies to the last part of a path alone."""
    n_folders: int
    """Number of slashes in the paths that the line names; with `**` the lowest number."""
    any_depth: bool
    """Whether the line has a `**`, so that it names paths with more folders too."""
    literal_prefix: str
    """The text that the paths named by a line with a slash start with."""

    def names(self, path: str, *, is_folder: bool) -> bool:
        """Return whether the line names this very path, rather than a folder above it.

        Args:
            path: Relative to the folder of the rule file.
            is_folder: Whether it is a folder.
        """
        if self.folders_only and not is_folder:
            return False
        if self.by_name:
            path = path.rpartition("/")[2]
        else:
            n_folders = path.count("/")
            if n_folders < self.n_folders or (n_folders > self.n_folders and not self.any_depth):
                return False
        return self.spec.match_file(path + "/" if is_folder else path)


@dataclass(frozen=True, slots=True)
class ParsedRules:
    """The rules of one file's content."""

    rules: tuple[Rule, ...]
    """The last line first: a later line outranks those before it."""
    for_folders: GitIgnoreSpec
    """All rules together: a folder that they do not match is named by none of them."""
    for_files: GitIgnoreSpec
    """The same for files: the rules that do not name folders only."""
    skipped: str
    """Which lines are skipped and why, "" if none is."""


class RuleFile:
    """The rules of one file, and the folder they are relative to."""

    def __init__(self, parsed: ParsedRules, base: str = "", above: str = "", *, folds_case: bool = False) -> None:
        """Place rules in the tree.

        Args:
            parsed: The rules.
            base: Their folder relative to the root, with a slash at the end; "" for the root.
            above: For a file above the root: the way from its folder down to the root, with a slash at the end.
            folds_case: Whether case is ignored; then the rules are in lower case.
        """
        self._parsed = parsed
        self._base = base
        self._above = above
        self._folds_case = folds_case

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return True if the path is ignored, False if it is re-included, None if no rule names it."""
        inside = self._inside(path)
        spec = self._parsed.for_folders if is_folder else self._parsed.for_files
        if not spec.match_file(inside + "/" if is_folder else inside):
            return None
        for rule in self._parsed.rules:
            if rule.names(inside, is_folder=is_folder):
                return rule.ignores
        return None

    def reincludes_below(self, folder: str) -> bool:
        """Return whether a rule with "!" names a path below an ignored folder, so that the folder must be visited."""
        inside = self._inside(folder) + "/"
        return any(not rule.ignores and rule.literal_prefix.startswith(inside) for rule in self._parsed.rules)

    def _inside(self, path: str) -> str:
        inside = self._above + path[len(self._base) :]
        return inside.lower() if self._folds_case else inside


def _ignore_report(path: str, detail: str) -> None:
    """Drop a report."""


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that apply in one folder; files nearer to a path outrank those further up."""

    own: tuple[RuleFile, ...] = ()
    """`.codecardsignore` files, the nearest first; they outrank git's rules."""
    git: tuple[RuleFile, ...] = ()
    """`.gitignore` files, the nearest first, then info/exclude and the user's global file."""
    has_defaults: bool = False
    """Whether folders that no repository tracks are ignored, unless a rule says otherwise."""
    folds_case: bool = False
    """Whether case is ignored (git's core.ignoreCase)."""
    report: Callable[[str, str], None] = field(default=_ignore_report, compare=False)
    """Called with (path of a rule file, detail) for a file with skipped rules."""

    def below(self, folder: str, names: Sequence[str], root: Path, *, with_git: bool = True) -> "IgnoreRules":
        """Return the rules that apply in a folder.

        Args:
            folder: Relative to the root, with a slash at the end; "" for the root.
            names: The names in the folder.
            root: The project.
            with_git: Whether to read `.gitignore`.
        """
        own = self._read(root, folder, OWN_RULES) if OWN_RULES in names else None
        git = self._read(root, folder, GIT_RULES) if with_git and GIT_RULES in names else None
        if own is None and git is None:
            return self
        return replace(self, own=(own, *self.own) if own else self.own, git=(git, *self.git) if git else self.git)

    def with_git_files(self, files: Sequence[RuleFile]) -> "IgnoreRules":
        """Return the same rules with these files as git's."""
        return replace(self, git=tuple(files))

    def own_verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return the verdict of `.codecardsignore`: True for ignored, False for wanted, None if no rule names it."""
        return _first_verdict(self.own, path, is_folder=is_folder) if self.own else None

    def own_reincludes_below(self, folder: str) -> bool:
        """Return whether `.codecardsignore` re-includes a path below an ignored folder: `!build/generated/api.py`."""
        return any(rules.reincludes_below(folder) for rules in self.own)

    def git_ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether git's rules or the defaults ignore the path; the folders above it are not considered."""
        verdict = _first_verdict(self.git, path, is_folder=is_folder)
        if verdict is None and self.has_defaults:
            name = path.rpartition("/")[2]
            return name.endswith(_SUFFIXES_WITHOUT_GIT) or (is_folder and name in _FOLDERS_WITHOUT_GIT)
        return verdict is True

    def _read(self, root: Path, folder: str, name: str) -> RuleFile | None:
        parsed = read_rules(root / folder / name, folds_case=self.folds_case)
        if parsed is None:
            return None
        if parsed.skipped:
            self.report(folder + name, parsed.skipped)
        return RuleFile(parsed, folder, folds_case=self.folds_case)


def read_rules(path: Path, *, folds_case: bool = False, follows_links: bool = False) -> ParsedRules | None:
    """Return the rules of a file, None if it is not a readable regular file or has no rules.

    Args:
        path: The file.
        folds_case: Whether case is ignored.
        follows_links: Whether a link is followed. Git does so for the user's own files, not for the repository's.
    """
    try:
        if (path.is_symlink() and not follows_links) or not path.is_file():
            return None
        with path.open("rb") as file:
            data = file.read(MAX_RULES_BYTES + 1)
    except (OSError, ValueError):
        return None
    parsed = _parse(data, folds_case=folds_case)
    return parsed if parsed.rules or parsed.skipped else None


def read_rule(line: str) -> Rule | None:
    """Return the rule of a line; None for a blank line, a comment and an invalid pattern.

    Raises:
        ValueError: The rule is valid, but has too many wildcards or a bracket that `re` reads differently.
    """
    text = _without_trailing_spaces(line.removesuffix("\r"))
    ignores = not text.startswith("!")
    pattern = text if ignores else text[1:]
    if not pattern.strip("/") or text.startswith("#"):
        return None
    if not ignores and pattern.startswith(("#", "!")):
        pattern = "\\" + pattern
    pattern = _REPEATED.sub("**/", pattern)
    by_name = "/" not in pattern.rstrip("/")
    if _is_costly(pattern, by_name=by_name) or _NESTED_SET.search(pattern):
        raise ValueError(f"{line!r} can't be matched in reasonable time, or not as git does")
    try:
        spec = GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error):  # an unfinished bracket or backslash: git never matches such a line either
        return None
    parts = pattern.strip("/").split("/")
    return Rule(
        spec,
        ignores=ignores,
        folders_only=pattern.endswith("/"),
        by_name=by_name,
        n_folders=len([part for part in parts if part != "**"]) - (parts[-1] != "**"),
        any_depth="**" in parts,
        literal_prefix="" if by_name else _WILDCARD.split(pattern.lstrip("/"), maxsplit=1)[0],
    )


def _is_costly(pattern: str, *, by_name: bool) -> bool:
    """Return whether matching the pattern could take long; a pattern without a slash has an implied `**/`."""
    parts = pattern.strip("/").split("/")
    if parts[-1] == "**":
        parts.pop()  # it matches whatever follows
    n_double_stars = parts.count("**") + by_name
    # One `*` in a part of the path can match in one way only, as the next slash or the end limits it.
    n_stars = [sum(min(len(run), 2) for run in _RUN_OF_STARS.findall(part)) for part in parts if part != "**"]
    n_further = sum(number - 1 for number in n_stars if number)
    return (
        n_further > MAX_FURTHER_STARS or n_double_stars > MAX_DOUBLE_STARS or n_further + n_double_stars > MAX_CHOICES
    )


def _first_verdict(files: Sequence[RuleFile], path: str, *, is_folder: bool) -> bool | None:
    for rules in files:
        verdict = rules.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return None


@lru_cache(maxsize=512)
def _parse(data: bytes, *, folds_case: bool) -> ParsedRules:
    if len(data) > MAX_RULES_BYTES:
        return ParsedRules(
            (), GitIgnoreSpec([]), GitIgnoreSpec([]), f"is not used: it has over {MAX_RULES_BYTES:,} bytes"
        )
    text = data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    rules: list[Rule] = []
    skipped: list[int] = []
    for number, line in enumerate(text.split("\n"), 1):
        try:
            rule = read_rule(line.lower() if folds_case else line)
        except ValueError:
            skipped.append(number)
            continue
        if rule is not None:
            rules.append(rule)
    detail = ""
    if skipped:
        some = ", ".join(map(str, skipped[:5])) + (", …" if len(skipped) > 5 else "")
        detail = f"{len(skipped)} rules with too many wildcards or nested brackets are skipped (line {some})"
    if len(rules) > MAX_RULES:
        detail = f"only the first {MAX_RULES:,} of {len(rules):,} rules are used"
        del rules[MAX_RULES:]
    for_folders = GitIgnoreSpec([pattern for rule in rules for pattern in rule.spec.patterns])
    for_files = GitIgnoreSpec([pattern for rule in rules if not rule.folders_only for pattern in rule.spec.patterns])
    return ParsedRules(tuple(reversed(rules)), for_folders, for_files, detail)


def _without_trailing_spaces(text: str) -> str:
    """Return the text without the spaces at its end; an escaped space stays."""
    stripped = text.rstrip(" ")
    is_escaped = len(stripped) < len(text) and (len(stripped) - len(stripped.rstrip("\\"))) % 2 == 1
    return stripped + " " if is_escaped else stripped
