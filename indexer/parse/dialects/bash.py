"""Bash and other shells: `source` and `.` are imports; other commands are calls."""

from collections.abc import Iterable

import tree_sitter

from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import RawImport
from codecards.indexer.parse.dialects.nodes import node_text


class BashDialect(Dialect):
    """POSIX shell with the functions of Bash and Zsh."""

    builtin_names = frozenset(
        "source . echo printf cd test [ [[ local export declare readonly return exit set unset shift eval exec trap"
        " true false read if then else fi for while do done case esac in : break continue let alias unalias type"
        " command builtin wait kill jobs".split()
    )

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the file that `source FILE` reads; other commands import nothing."""
        name = node.child_by_field_name("name")
        argument = node.child_by_field_name("argument")
        if name is None or argument is None or node_text(name, source) not in ("source", "."):
            return
        written = node_text(argument, source).strip("\"'")
        path = (
            written.rpartition("}/")[2]
            if "}/" in written
            else written.rpartition(")/")[2]
            if ")/" in written
            else written
        )
        if "$" in path:
            path = path.rpartition("/")[2]
        if path and "$" not in path:
            yield RawImport(path, "*", "")


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return BashDialect()
