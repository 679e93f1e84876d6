"""Ignore rules: which paths git, and a project's `.codecardsignore`, leave out.

Source: gitignore(5). The rules of one file are matched by pathspec; this module knows which file outranks which.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from pathspec import GitIgnoreSpec

GIT_RULES = ".gitignore"
OWN_RULES = ".codecardsignore"


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The rules of one file, and the folder they are relative to."""

    base: str
    """From the root, with a slash at the end; "" for the root."""
    spec: GitIgnoreSpec
    above: str = ""
    """For a file above the root: the way from its folder down to the root, with a slash at the end."""

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return True if ignored, False if re-included, None if no rule speaks of it."""
        inside = self.above + path[len(self.base) :]
        return self.spec.check_file(inside + "/" if is_folder else inside).include


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules that hold in one folder; files nearer to a path outrank those further up."""

    own: tuple[RuleFile, ...] = ()
    """`.codecardsignore` files, the nearest first; they outrank git's."""
    git: tuple[RuleFile, ...] = ()
    """`.gitignore` files, the nearest first, then info/exclude and the user's global file."""

    def below(self, folder: str, names: Sequence[str], root: Path) -> "IgnoreRules":
        """Return the rules that hold in a folder, given the names in it.

        Args:
            folder: From the root, with a slash at the end; "" for the root.
            names: Of the files in it.
            root: Where rule files are read.
        """
        own = read_rules(root / folder / OWN_RULES, folder) if OWN_RULES in names else None
        git = read_rules(root / folder / GIT_RULES, folder) if GIT_RULES in names else None
        if own is None and git is None:
            return self
        return IgnoreRules((own, *self.own) if own else self.own, (git, *self.git) if git else self.git)

    def own_verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Return what `.codecardsignore` says: True left out, False wanted, None nothing."""
        return _first_verdict(self.own, path, is_folder=is_folder)

    def git_ignores(self, path: str, *, is_folder: bool) -> bool:
        """Return whether git's rules leave the path out (its folders are taken to be visited)."""
        return _first_verdict(self.git, path, is_folder=is_folder) is True


def _first_verdict(files: Sequence[RuleFile], path: str, *, is_folder: bool) -> bool | None:
    for rules in files:
        verdict = rules.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return None


def read_rules(path: Path, base: str = "", above: str = "") -> RuleFile | None:
    """Return the rules of a file, None if it can't be read, is a link, or holds none."""
    try:
        if path.is_symlink():
            return None
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
    except OSError:
        return None
    spec = _parse(text)
    return RuleFile(base, spec, above) if len(spec.patterns) else None


@lru_cache(maxsize=512)
def _parse(text: str) -> GitIgnoreSpec:
    """Return the rules of a text; a line that is no pattern is passed over, as git does."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        good = []
        for line in lines:
            try:
                GitIgnoreSpec.from_lines([line])
            except ValueError:
                continue
            good.append(line)
        return GitIgnoreSpec.from_lines(good)
