"""Line ranges of definitions, and the comments and attributes above them."""

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
def test_attributes_belong_to_the_next_definition_also_on_its_line(
    language: str, source: str, expected: list[str]
) -> None:
    assert spans(source, language) == expected


def test_a_decorator_on_the_line_of_its_method_is_used_by_the_method() -> None:
    source = "class C {\n  @On('x') on() {}\n  @On('y') off() {}\n}\n"
    assert uses(source, "typescript") == ["on -> On", "off -> On"]


@pytest.mark.parametrize(
    ("language", "source", "names"),
    [
        (
            "go",
            "package p\nconst A, B = 1, 2\nconst (\n  C, D = iota, iota\n  E, F\n)\nvar g, h int",
            "A B C D E F g h",
        ),
        ("python", "a = b = 1\n(c, d) = x\n[e, f] = x\ng, *h = x\ni.j, k[l] = x", "a b c d e f g h"),
        ("python", "class C:\n    a = b = 1\n    (c, d) = 1, 2", "C C.a C.b C.c C.d"),
        ("javascript", "const a = 1, b = 2;\nexport const {c, d: e, f = 1} = x;\nconst [g, h] = x;", "a b c e f g h"),
        ("typescript", "export const a: number = 1, b = 2;\nexport const {c, d} = x;", "a b c d"),
        ("java", "class C {\n  int a, b;\n  static final int D = 1, E = 2;\n}", "C C.a C.b C.D C.E"),
        ("csharp", "class C {\n  int a, b;\n  const int D = 1, E = 2;\n}", "C C.a C.b C.D C.E"),
        ("c", "int a, *b, c[3];\nint d, e(void);\ntypedef int f, *g;", "a b c d e f g"),
        ("cpp", "class C {\n  int a, b;\n};\nnamespace n {\n  int c, d;\n}", "C C.a C.b n n.c n.d"),
        ("swift", "let a = 1, b = 2\nclass C {\n  var c = 1, d = 2\n}", "a b C C.c C.d"),
        ("php", "<?php\nconst A = 1, B = 2;\nclass C {\n  public $d, $e = 1;\n}", "A B C C.d C.e"),
        ("scala", "object O {\n  val a, b = 1\n  var (c, d) = (1, 2)\n}", "O O.a O.b O.c O.d"),
        ("lua", "local a, b = 1, 2\nc, d = 3, 4", "a b c d"),
        ("ruby", "A, B = 1, 2\nclass K\n  C, D = 1, 2\nend", "A B K K.C K.D"),
        ("bash", "export A=1 B=2\nC=1 D=2", "A B C D"),
    ],
)
def test_one_statement_defines_each_of_its_names(language: str, source: str, names: str) -> None:
    assert [one.qualified_name for one in facts_of(source, language).definitions] == names.split()


def test_names_of_one_exported_statement_are_all_exported() -> None:
    definitions = facts_of("// Of the slice.\nexport const { add, remove } = slice.actions;", "javascript").definitions
    assert [(one.name, one.exported, one.doc) for one in definitions] == [
        ("add", True, "Of the slice."),
        ("remove", True, "Of the slice."),
    ]
