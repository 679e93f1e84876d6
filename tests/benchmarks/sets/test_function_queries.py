"""Questions mined from Python source."""

from benchmarks.sets.function_queries import first_sentence, mine

SOURCE = '''"""Module text stays."""


class Store:
    """Class text stays."""

    @cached
    def purge_old(self, now):
        """Remove all sessions that have expired.

        More about it.
        """
        if now < 0:
            raise ValueError(f"the time {now} is before the start")
        return self.drop(now)

    def short(self):
        """Tell how many sessions there are."""
        return 1


def nothing():
    """Only documentation is in here."""
'''


def mined(source: str, path: str = "pkg/store.py") -> tuple[dict[str, str], list[str]]:
    """Return category -> "text @ lines", and the stripped lines."""
    found, stripped = mine(source.encode(), path)
    assert stripped is not None
    asked = {item.category: f"{item.text} @ {item.first_line}-{item.last_line}" for item in found}
    return asked, stripped.decode().split("\n")


def test_a_function_asks_by_its_text_its_name_and_its_error() -> None:
    asked, lines = mined(SOURCE)
    assert asked == {
        "docstring": "Remove all sessions that have expired @ 7-11",
        "symbol": "purge_old @ 7-11",
        "message": "the time is before the start @ 7-11",
    }
    assert (lines[6], lines[10]) == ("    @cached", "        return self.drop(now)")


def test_only_the_documentation_of_functions_is_removed() -> None:
    stripped = "\n".join(mined(SOURCE)[1])
    assert "Module text stays." in stripped
    assert "Class text stays." in stripped
    assert "Remove all sessions" not in stripped
    assert "Tell how many" not in stripped
    # Without it the function would be no Python any more.
    assert "Only documentation is in here." in stripped


def test_tests_are_stripped_but_do_not_ask() -> None:
    found, stripped = mine(SOURCE.encode(), "pkg/tests/test_store.py")
    assert found == []
    assert stripped is not None
    assert b"Remove all sessions" not in stripped


def test_a_file_that_python_can_not_parse_is_left_alone() -> None:
    assert mine(b"def (", "a.py") == ([], None)
    assert mine(b"x = '\xff'", "a.py") == ([], None)


def test_a_docstring_on_the_line_of_the_definition_stays() -> None:
    source = 'def f(): "Do one thing and no other."; return 1\n'
    assert mined(source)[1] == source.split("\n")


def test_the_first_sentence_ends_at_its_full_stop_and_has_no_markup() -> None:
    assert (
        first_sentence("Return the :class:`Store` in v1.2 form. Then more.\n\nRest.") == "Return the Store in v1.2 form"
    )
    assert first_sentence("One\n  line\n\nRest") == "One line"
