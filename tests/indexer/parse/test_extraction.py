"""Extraction rules of all languages, and texts that break parsers."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codecards.indexer.parse.dialects.chains import chain, type_name
from codecards.indexer.parse.extraction import extract
from codecards.indexer.parse.languages import LANGUAGES
from codecards.indexer.problems import Reason
from tests.support.extraction_outline import facts_of

FUZZED_LANGUAGES = ("python", "javascript", "typescript", "tsx", "go", "rust", "java", "csharp", "php", "ruby")


@pytest.mark.parametrize("language", [one.name for one in LANGUAGES])
def test_an_empty_text_and_plain_prose_give_facts_in_every_language(language: str) -> None:
    assert extract("", language).n_lines == 0
    assert extract("Some words, and more.\nA second line\n", language).n_lines == 2


def test_text_without_a_grammar_has_only_lines() -> None:
    facts = extract("a\nb", "")
    assert (facts.language, facts.n_lines, facts.definitions) == ("", 2, ())


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(FUZZED_LANGUAGES),
    st.lists(
        st.sampled_from(
            [
                "def f(a):\n",
                "class A {",
                "}",
                "(",
                ")",
                "impl X ",
                "fn g() ",
                "func (s *T) M() ",
                " = ",
                "\n",
                "  ",
                "'",
                '"',
                "`",
                "/*",
                "*/",
                "#",
                "//",
                "@a\n",
                "x.y()",
                "=> ",
                "export ",
                "import a\n",
                "::",
                "<",
                ">",
                "\0",
                "\ud800",
                "é",
                "\r",
                "<?php ",
                "end\n",
            ]
        ),
        max_size=40,
    ),
)
def test_any_text_gives_facts_with_valid_positions(language: str, pieces: list[str]) -> None:
    facts = extract("".join(pieces), language)
    for position, one in enumerate(facts.definitions):
        assert -1 <= one.parent < position
        assert 1 <= one.lead_line <= one.first_line <= one.name_line <= one.last_line <= facts.n_lines
    for reference in facts.references:
        assert reference.owner < len(facts.definitions)
        assert 1 <= reference.line <= facts.n_lines


def test_broken_syntax_is_reported_and_the_code_around_it_is_kept() -> None:
    facts = extract("def a(): pass\n\ndef b(:\n\ndef c(): pass\n", "python")
    assert {"a", "c"} <= {one.name for one in facts.definitions}
    ((reason, detail),) = facts.problems
    assert (reason, "line 3" in detail) == (Reason.PARSED_IN_PART, True)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("x = " + "[" * 5_000 + "]" * 5_000, "python"),
        ("f(" * 5_000 + ")" * 5_000, "javascript"),
        ("(" * 20_000, "java"),
    ],
)
def test_deep_nesting_is_cut_and_reported(text: str, language: str) -> None:
    assert Reason.TOO_DEEP in {reason for reason, _ in extract(text, language).problems}


def test_definitions_nested_too_deeply_are_left_out() -> None:
    text = "".join(" " * depth + f"def f{depth}():\n" for depth in range(90)) + " " * 90 + "pass\n"
    facts = extract(text, "python")
    assert len(facts.definitions) == 60
    assert Reason.TOO_DEEP in {reason for reason, _ in facts.problems}


def test_carriage_returns_alone_end_lines_only_in_a_text_without_line_feeds() -> None:
    assert [one.first_line for one in extract("x = 1\rdef f(): pass\r", "python").definitions] == [1, 2]
    assert [one.last_line for one in extract("def f():\r\n    pass\r\n", "python").definitions] == [2]


def test_a_comment_after_code_on_its_line_documents_nothing() -> None:
    (_, second) = facts_of("a = 1  # of a\ndef f(): pass", "python").definitions
    assert (second.lead_line, second.doc) == (2, "")


def test_a_blank_line_ends_the_comment_above_a_definition() -> None:
    facts = facts_of("# licence\n\n# does it\n# well\ndef f(): pass", "python")
    assert (facts.definitions[0].lead_line, facts.definitions[0].doc) == (3, "does it\nwell")
    assert facts.leading_comment == "licence"


def test_a_long_comment_is_cut_at_sixty_lines() -> None:
    facts = facts_of("".join(f"# {number}\n" for number in range(100)) + "def f(): pass", "python")
    assert facts.definitions[0].lead_line == 41


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("self.store", "self.store"),
        ("this", "self"),
        ("this.a?.b", "self.a.b"),
        ("Foo(1, (2)).bar", "Foo().bar"),
        ("a::b->c", "a.b.c"),
        ("new Foo(x)", "Foo()"),
        ("(await f(x))", "f()"),
        ("Grid::<u8>::new()", "Grid.new()"),
        ("List<A>.of", "List.of"),
        ("f(')')", "f()"),
        ("a[0]", "?"),
        ("a + b", "?"),
        ("'text'", "?"),
        ("a." * 60 + "b", "?"),
        ("", "?"),
    ],
)
def test_receivers_are_chains_of_names_and_calls(written: str, expected: str) -> None:
    assert chain(written, {"this": "self"}, has_type_arguments=True) == expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("Foo", "Foo"),
        (": ns.Foo | null", "ns.Foo"),
        ("*pkg.Grid[T]", "pkg.Grid"),
        ("&'a mut Foo<'a>", "Foo"),
        ("const std::vector<int> &", "std.vector"),
        ("Optional[Foo]", "Foo"),
        ("Optional[dict[str, Foo]]", "dict"),
        ("\\A\\B", "A.B"),
        ("[]Foo", ""),
        ("A | B", ""),
        ("(a: A) => B", ""),
        ("", ""),
    ],
)
def test_types_are_reduced_to_the_name_on_which_calls_resolve(written: str, expected: str) -> None:
    assert type_name(written, frozenset({"Optional"})) == expected


def test_a_long_line_of_hash_signs_is_parsed_quickly() -> None:
    text = "#" * 5_000 + "\n" + "# words\n" * 500 + "x = 1\n"
    assert extract(text, "python").n_lines == 502


@pytest.mark.parametrize(
    ("text", "generated"),
    [
        ("/* lib v1 */\n(function webpackUniversalModuleDefinition(root, factory) {\n  factory();\n})();\n", True),
        ("(function (root, factory) {\n  root.lib = factory();\n})(this, function () { return 1; });\n", False),
        ("function a() {}\n" * 400 + "__webpack_require__(1);\n", False),
    ],
)
def test_a_bundle_is_recognised_by_the_head_that_its_bundler_writes(text: str, generated: bool) -> None:
    assert extract(text, "javascript").generated is generated
