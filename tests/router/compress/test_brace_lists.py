"""Brace lists."""

from hypothesis import given as for_all
from hypothesis import strategies as st

from codecards.router.compress.brace_lists import brace_list, is_plain, names_of

NAMES = st.lists(st.text("abcd_/.:#é", min_size=1, max_size=24).filter(is_plain), max_size=30)


@for_all(NAMES, st.booleans())
def test_every_name_comes_back(names: list[str], is_dotted: bool) -> None:
    assert sorted(names_of(brace_list(names, is_dotted=is_dotted))) == sorted(set(names))


def test_shared_beginnings_are_written_once() -> None:
    names = ["src/auth/token.py:118", "src/auth/user.py", "setup.py", "src/auth/token.py"]
    assert brace_list(names) == "src/auth/{token.py:118,user.py,token.py} setup.py"
    assert brace_list(["app.users.find", "app.users.add"], is_dotted=True) == "app.users.{find,add}"
