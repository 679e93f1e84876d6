"""Where definitions start and end, and what above them is theirs."""

import pytest

from tests.support.extraction_outline import facts_of, uses


def spans(source: str, language: str) -> list[str]:
    """Return each definition as "name lead/first-last"."""
    return [
        f"{one.name} {one.lead_line}/{one.first_line}-{one.last_line}" for one in facts_of(source, language).definitions
    ]


@pytest.mark.parametrize(
    ("language", "source", "expected"),
    [
        (
            "typescript",
            """
            class C {
              @HostListener('x') on() {}
              @HostListener('y') off() {}
              // Why.
              @Input() @Other() // trailing
              size: number;
            }
            """,
            ["C 1/1-7", "on 2/2-2", "off 3/3-3", "size 4/5-6"],
        ),
        (
            "php",
            """
            <?php
            class C {
              #[Get] public function a() {}
              #[Get] #[Auth] public function b() {}
              #[Get]
              #[Auth] public function c() {}
            }
            """,
            ["C 2/2-7", "a 3/3-3", "b 4/4-4", "c 5/5-6"],
        ),
        (
            "rust",
            """
            #[test] fn a() {}
            #[test] #[ignore]
            fn b() {}
            /// Why.
            #[test] fn c() {}
            """,
            ["a 1/1-1", "b 2/2-3", "c 4/5-5"],
        ),
    ],
)
def test_attributes_belong_to_what_follows_them_also_on_one_line(
    language: str, source: str, expected: list[str]
) -> None:
    assert spans(source, language) == expected


def test_a_decorator_on_the_line_of_its_method_is_used_by_the_method() -> None:
    source = "class C {\n  @On('x') on() {}\n  @On('y') off() {}\n}\n"
    assert uses(source, "typescript") == ["on -> On", "off -> On"]
