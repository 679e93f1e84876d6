"""Renders the pages of the panel; all text is escaped, so that a project can't inject markup or scripts."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from codecards.untrusted_text import terminal_safe

FOLDER = Path(__file__).parent / "templates"


def page(template: str, values: Mapping[str, object]) -> str:
    """Return a page as HTML."""
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalized,
    )
    environment.filters["count"] = lambda number: f"{number:,.0f}".replace(",", "\u202f")
    environment.filters["percent"] = _percent
    environment.filters["when"] = lambda stamp: stamp.replace("T", " ").removesuffix("Z") + " UTC"
    environment.filters["weightiest"] = lambda terms: sorted(terms, key=lambda term: -abs(term.value))
    return environment


def _finalized(value: object) -> object:
    return terminal_safe(value, keeps_lines=True) if isinstance(value, str) and not isinstance(value, Markup) else value


def _percent(share: float) -> str:
    return "<1 %" if 0 < share < 0.005 else f"{share:.0%}".replace("%", " %")
