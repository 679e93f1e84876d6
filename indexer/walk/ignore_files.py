"""Ignore rules: which paths git, and a project's `.codecardsignore`, leave out.

Source: gitignore(5). This module knows which file outranks which; what one line says is told by ignore_patterns. A
rule is asked of one path alone, for the walk has judged the folders above it.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from codecards.indexer.walk.ignore_patterns import Rule, read_rule

GIT_RULES = ".gitignore"
OWN_RULES = ".codecardsignore"
WITHOUT_GIT = b"""
node_modules/
bower_components/
jspm_packages/
__pycache__/
*.py[co]
.tox/
.nox/
.venv/
.eggs/
.mypy_cache/
.pytest_cache/
.ruff_cache/
.hypothesis/
.gradle/
.terraform/
.next/
.nuxt/
.svelte-kit/
.parcel-cache/
.turbo/
.dart_tool/
.hg/
.svn/
.bzr/
.jj/
CVS/
"""
"""What no repository tracks: holds, below all other rules, where git can't say what is tracked."""
MAX_RULES_BYTES = 8 << 20
"""Longer rule files are not read."""


class RuleFile:
    """The rules of one file, and the folder they are relative to.

    Nearly every path is spoken of by no rule. Names, paths and endings that rules spell out are therefore looked up at
    once, and only the other rules are tried one by one: with 47 rules that is four times as fast.
    """

    def __init__(self, rules: Sequence[Rule], base: str = "", above: str = "", *, folds_case: bool = False) -> None:
        """Take the rules.

        Args:
            rules: The last line first: a later line outranks those before it.
            base: Their folder from the root, with a slash at the end; "" for the root.
            above: For a file above the root: the way from its folder down to the root, with a slash at the end.
            folds_case: Whether upper and lower case are the same.
        """
        self.base = base
        self._rules = tuple(rules)
        self._above = above
        self._folds_case = folds_case
        literals = [rule for rule in rules if rule.literal]
        self._names = frozenset(self._folded(rule.literal) for rule in literals if rule.by_name)
        self._paths = frozenset(self._folded(rule.literal) for rule in literals if not rule.by_name)
        self._suffixes = tuple({self._folded(rule.suffix) for rule in rules if rule.suffix})
        self._others = tuple(rule for rule in rules if not rule.literal and not rule.suffix)

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return True if ignored, False if re-included, None if no rule speaks of this very path."""
        inside = _by_bytes(self._above + path[len(self.base) :])
        name = inside.rpartition("/")[2]
        if not self._may_speak(inside, name, is_folder=is_folder):
            return None
        for rule in self._rules:
            if rule.holds(inside, name, is_folder=is_folder):
                return rule.ignores
        return None

    def takes_in_below(self, folder: str) -> bool:
        """Return whether a rule with "!" names something in a folder, so that it must be looked at though ignored."""
        inside = _by_bytes(self._above + folder[len(self.base) :]) + "/"
        return any(not rule.ignores and rule.prefix.startswith(inside) for rule in self._rules)

    def _may_speak(self, path: str, name: str, *, is_folder: bool) -> bool:
        folded = self._folded(name)
        return (
            folded in self._names
            or folded.endswith(self._suffixes)
            or (bool(self._paths) and self._folded(path) in self._paths)
            or any(rule.holds(path, name, is_folder=is_folder) for rule in self._others)
        )

    def _folded(self, text: str) -> str:
        return text.lower() if self._folds_case else text


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder; files nearer to a path outrank those further up."""

    own: tuple[RuleFile, ...] = ()
    """`.codecardsignore` files, the nearest first; they outrank git's."""
    git: tuple[RuleFile, ...] = ()
    """`.gitignore` files, the nearest first, then info/exclude and the user's global file."""
    folds_case: bool = False
    """Whether upper and lower case are the same (git's core.ignoreCase)."""

    def below(self, folder: str, names: Sequence[str], root: Path) -> "IgnoreRules":
        """Return the rules that hold in a folder, given the names in it.

        Args:
            folder: From the root, with a slash at the end; "" for the root.
            names: Of the files in it.
            root: Where rule files are read.
        """
        own = self._read(root, folder, OWN_RULES) if OWN_RULES in names else None
        git = self._read(root, folder, GIT_RULES) if GIT_RULES in names else None
        if own is None and git is None:
            return self
        return replace(self, own=(own, *self.own) if own else self.own, git=(git, *self.git) if git else self.git)

    def own_verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return what `.codecardsignore` says: True left out, False wanted, None nothing."""
        return _first_verdict(self.own, path, is_folder=is_folder)

    def own_takes_in_below(self, folder: str) -> bool:
        """Return whether `.codecardsignore` takes in something below an ignored folder: `!build/generated/api.py`."""
        return any(rules.takes_in_below(folder) for rules in self.own)

    def git_ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether git's rules leave the path out (its folders are taken to be visited)."""
        return _first_verdict(self.git, path, is_folder=is_folder) is True

    def _read(self, root: Path, folder: str, name: str) -> RuleFile | None:
        return read_rules(root / folder / name, folder, folds_case=self.folds_case)


def read_rules(
    path: Path, base: str = "", above: str = "", *, folds_case: bool = False, follows_links: bool = False
) -> RuleFile | None:
    """Return the rules of a file, None if it can't be read, is no regular file, or holds none.

    Args:
        path: The file.
        base: The folder its rules are relative to, from the root, with a slash at the end; "" for the root.
        above: The way from that folder down to the root, if it lies above.
        folds_case: Whether upper and lower case are the same.
        follows_links: As git does for the user's own files, but not for those of the repository.
    """
    try:
        if (path.is_symlink() and not follows_links) or not path.is_file() or path.stat().st_size > MAX_RULES_BYTES:
            return None
        data = path.read_bytes()
    except (OSError, ValueError):
        return None
    rules = _parse(data, folds_case=folds_case)
    return RuleFile(rules, base, above, folds_case=folds_case) if rules else None


def rules_without_git() -> RuleFile:
    """Return the rules of `WITHOUT_GIT`."""
    return RuleFile(_parse(WITHOUT_GIT, folds_case=False))


def _first_verdict(files: Sequence[RuleFile], path: str, *, is_folder: bool) -> bool | None:
    for rules in files:
        verdict = rules.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return None


def _by_bytes(path: str) -> str:
    """Return the path with one character a byte."""
    return path if path.isascii() else os.fsencode(path).decode("ascii", "surrogateescape")


@lru_cache(maxsize=512)
def _parse(data: bytes, *, folds_case: bool) -> tuple[Rule, ...]:
    """Return the rules of a file's bytes, the last first."""
    text = data.removeprefix(b"\xef\xbb\xbf").decode("ascii", "surrogateescape")
    rules = [read_rule(line.removesuffix("\r"), folds_case=folds_case) for line in text.split("\n")]
    return tuple(rule for rule in reversed(rules) if rule is not None)
