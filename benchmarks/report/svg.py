"""Draws charts of points and lines as SVG that is readable on light and dark pages."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 760, 430
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 44, 56
"""Margins around the plot, in pixels."""
CHARACTER = 6.2
"""Mean width of a character in a label, in pixels."""
LINE = 14
"""Height of a label, in pixels."""
COLOURS = (
    "#2f7ed8",
    "#d9622b",
    "#2a9d62",
    "#a259c4",
    "#b8860b",
    "#d1495b",
    "#3a9aa8",
    "#7a7f87",
    "#8c6d46",
    "#5c7cfa",
    "#c2569b",
    "#6a8f2f",
)
"""Colours of medium brightness, visible on white and on black."""
STYLE = (
    "<style>.page{fill:#fff}.ink{fill:#24292f}.line{stroke:#6e7781;fill:none}.grid{stroke:#d0d7de;stroke-width:.5}"
    "@media(prefers-color-scheme:dark){.page{fill:#0d1117}.ink{fill:#e6edf3}.line{stroke:#8b949e}.grid{stroke:#30363d}}"
    "</style>"
)
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
N_TICKS = 6


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together, drawn as a line, or as one labelled dot."""

    label: str
    points: tuple[tuple[float, float], ...]
    """(x, y), in the order of the line."""
    colour: int
    """Position in `COLOURS`, which repeat after the last."""


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis with its range."""

    title: str
    low: float
    high: float
    is_log: bool = False
    """Whether the scale is logarithmic; then `low` must be above 0."""

    def share(self, value: float) -> float:
        """Return the position of a value, 0 for `low` and 1 for `high`."""
        if self.is_log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        """Return round values within the range."""
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            values = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
            return [value for value in values if self.low <= value <= self.high]
        rough = (self.high - self.low) / N_TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in STEPS if factor * power >= rough * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        return [number * step for number in range(first, math.floor(self.high / step + 1e-9) + 1)]


def fitting_axis(title: str, values: Iterable[float], *, is_log: bool = False, from_zero: bool = False) -> Axis:
    """Return an axis with some space around the values.

    Args:
        title: Name of the quantity with its unit.
        values: At least one value.
        is_log: As in `Axis`.
        from_zero: Whether the range starts at 0.
    """
    known = list(values)
    low, high = min(known), max(known)
    if is_log:
        return Axis(title, low / 1.5, high * 2.0, is_log=True)
    room = 0.12 * (high - low or abs(high) or 1.0)
    return Axis(title, 0.0 if from_zero else low - room, high + room)


def chart(title: str, series: Sequence[Series], across: Axis, up: Axis) -> str:
    """Return an SVG document; labels of later series avoid earlier ones."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}"'
        f' font-family="sans-serif" font-size="11" role="img"><title>{escape(title)}</title>{STYLE}',
        f'<rect class="page" width="{WIDTH}" height="{HEIGHT}"/>',
        f'<text class="ink" x="{LEFT}" y="22" font-size="14" font-weight="bold">{escape(title)}</text>',
        *_frame(across, up),
    ]
    taken: list[tuple[float, float, float]] = []
    for one in series:
        parts.append(_drawn(one, COLOURS[one.colour % len(COLOURS)], across, up, taken))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _frame(across: Axis, up: Axis) -> Iterable[str]:
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
    for value in across.ticks():
        x = _x(across, value)
        yield f'<path class="grid" d="M{x:.1f} {TOP}V{bottom}"/>'
        yield f'<text class="ink" x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{value:,.6g}</text>'
    for value in up.ticks():
        y = _y(up, value)
        yield f'<path class="grid" d="M{LEFT} {y:.1f}H{right}"/>'
        yield f'<text class="ink" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:.4g}</text>'
    yield f'<path class="line" d="M{LEFT} {TOP}V{bottom}H{right}"/>'
    middle = (LEFT + right) / 2
    yield f'<text class="ink" x="{middle:.0f}" y="{HEIGHT - 14}" text-anchor="middle">{escape(across.title)}</text>'
    yield f'<text class="ink" x="{LEFT}" y="{TOP - 8}">{escape(up.title)}</text>'


def _drawn(one: Series, colour: str, across: Axis, up: Axis, taken: list[tuple[float, float, float]]) -> str:
    places = [(_x(across, x), _y(up, y)) for x, y in one.points]
    dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in places)
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>' if len(places) > 1 else ""
    x, y = places[-1]
    width = CHARACTER * len(one.label)
    is_left = x + 8 + width > WIDTH - RIGHT
    first = x - 8 - width if is_left else x + 8
    y = _free(first, y + 4, width, taken)
    anchor, at = ("end", x - 8) if is_left else ("start", x + 8)
    return (
        f'{line}{dots}<text x="{at:.1f}" y="{y:.1f}" fill="{colour}" text-anchor="{anchor}">{escape(one.label)}</text>'
    )


def _free(first: float, y: float, width: float, taken: list[tuple[float, float, float]]) -> float:
    """Return the height nearest to `y` at which a label overlaps no earlier one, and reserve it."""
    for step in range(40):
        for moved in (y + step * LINE / 2, y - step * LINE / 2):
            is_inside = TOP <= moved <= HEIGHT - BOTTOM
            if is_inside and not any(
                abs(moved - other) < LINE and first < left + long and left < first + width
                for left, other, long in taken
            ):
                taken.append((first, moved, width))
                return moved
    return y


def _x(axis: Axis, value: float) -> float:
    return LEFT + axis.share(value) * (WIDTH - RIGHT - LEFT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.share(value) * (HEIGHT - BOTTOM - TOP)
