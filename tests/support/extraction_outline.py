"""Extracted facts of a text in short forms that tests can list."""

from textwrap import dedent

from codecards.indexer.facts import FileFacts
from codecards.indexer.parse.extraction import extract


def facts_of(source: str, language: str) -> FileFacts:
    """Return the facts of a text, dedented first."""
    return extract(dedent(source).lstrip("\n"), language)


def outline(source: str, language: str) -> list[str]:
    """Return each definition as "kind qualified.name first-last"."""
    return [
        f"{one.kind} {one.qualified_name} {one.first_line}-{one.last_line}"
        for one in facts_of(source, language).definitions
    ]


def uses(source: str, language: str, *kinds: str) -> list[str]:
    """Return each use of the kinds (by default calls) as "owner -> receiver.name"."""
    facts = facts_of(source, language)
    found = []
    for one in facts.references:
        if one.kind in (kinds or ("call",)):
            owner = facts.definitions[one.owner].name if one.owner >= 0 else ""
            found.append(f"{owner} -> {one.receiver + '.' if one.receiver else ''}{one.name}".strip())
    return found


def bound(source: str, language: str) -> dict[str, str]:
    """Return name -> value of all bindings."""
    return {one.name: one.value for one in facts_of(source, language).bindings}


def imported(source: str, language: str) -> list[tuple[str, str, str]]:
    """Return (module, name, alias) of all imports."""
    return [(one.module, one.name, one.alias) for one in facts_of(source, language).imports]
