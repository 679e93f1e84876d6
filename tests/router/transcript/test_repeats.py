"""Repeated runs of lines in a transcript become pointers."""

from codecards.router.transcript.repeats import MIN_RUN, SeenLines, point_to_repeats

SOURCE = "\n".join(f"def price_{number}(item): return item.cost * {number}" for number in range(30))


def numbered(text: str, first: int = 1) -> str:
    return "\n".join(f"{number:6}\t{line}" for number, line in enumerate(text.split("\n"), first))


def seen(*texts: str) -> SeenLines:
    found = SeenLines()
    for place, text in enumerate(texts):
        found.add(f"text {place}", place, text)
    return found


def test_a_text_that_was_shown_is_one_line() -> None:
    shortened = point_to_repeats(SOURCE, seen(SOURCE))
    assert shortened.text == "[… 30 lines unchanged: shown above by text 0]"
    assert (shortened.n_repeated, shortened.places) == (30, frozenset({0}))


def test_what_changed_stays_between_the_pointers() -> None:
    now = SOURCE.replace("price_15", "cost_15")
    lines = point_to_repeats(numbered(now), seen(numbered(SOURCE))).text.split("\n")
    assert lines == [
        "[… 15 lines 1-15 unchanged: shown above by text 0]",
        "    16\tdef cost_15(item): return item.cost * 15",
        "[… 14 lines 17-30 unchanged: shown above by text 0]",
    ]


def test_line_numbers_of_tools_make_no_difference() -> None:
    assert point_to_repeats(numbered(SOURCE, 100), seen(SOURCE)).n_repeated == 30


def test_short_runs_and_blank_lines_stay() -> None:
    few = "\n".join(SOURCE.split("\n")[: MIN_RUN - 1])
    assert point_to_repeats(few, seen(SOURCE)).text == few
    blank = "\n" * 40
    assert point_to_repeats(blank, seen(blank)).text == blank


def test_nothing_is_pointed_to_that_was_not_shown() -> None:
    assert point_to_repeats(SOURCE, seen("other\n" * 50)).n_repeated == 0
