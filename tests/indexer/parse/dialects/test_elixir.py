"""Elixir: definitions, references, imports and bindings."""

import pytest

from tests.support.extraction_outline import facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "defmodule A.B do\n  def go(x), do: x\n  defp help(x) when x > 1 do\n    x\n  end\nend",
            ["module A.B 1-6", "function A.B.go 2-2", "function A.B.help 3-5"],
        ),
        (
            "defmodule A do\n  defmodule B do\n    def f, do: 1\n  end\nend",
            ["module A 1-5", "module A.B 2-4", "function A.B.f 3-3"],
        ),
        (
            "defmodule A do\n  @limit 3\n  @doc false\n  @type t :: integer\nend",
            ["module A 1-5", "constant A.limit 2-2", "type A.t 4-4"],
        ),
        ("defprotocol Size do\n  def size(x)\nend", ["interface Size 1-3", "function Size.size 2-2"]),
        ("defimpl Size, for: Map do\n  def size(x), do: 1\nend", ["impl Size.Map 1-3", "function Size.Map.size 2-2"]),
        ("defmodule A do\n  defmacro m(x) do\n    x\n  end\nend", ["module A 1-5", "macro A.m 2-4"]),
        ("defmodule A do\n  @callback init(x) :: y\nend", ["module A 1-3", "declaration A.init 2-2"]),
        (
            'defmodule ATest do\n  test "does it", %{a: a} do\n    go(a)\n  end\nend',
            ["module ATest 1-5", "function ATest.does it 2-4"],
        ),
        ("defmodule A do\n  def a <> b, do: a\nend", ["module A 1-3", "function A.<> 2-2"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "elixir") == expected


def test_documentation_is_read_from_attributes() -> None:
    source = 'defmodule A do\n  @moduledoc """\n  About A.\n  """\n\n  @doc "Goes."\n  @spec go(integer) :: integer\n  def go(x), do: x\nend\n'
    module, function = facts_of(source, "elixir").definitions
    assert module.doc == "About A."
    assert function.doc.startswith("Goes.")
    assert (function.lead_line, function.first_line) == (6, 8)


def test_calls_have_their_modules_and_specs_are_not_calls() -> None:
    source = """
        defmodule A do
          @spec f(integer) :: t(integer)
          def f(a) do
            C.run(a) |> D.pipe(1) |> local()
            helper a, 1
            __MODULE__.g(1)
          end
        end
    """
    assert uses(source, "elixir") == ["f -> C.run", "f -> D.pipe", "f -> local", "f -> helper", "f -> self.g"]


def test_arguments_of_a_piped_call_are_not_counted() -> None:
    facts = facts_of("def f(a), do: a |> go(1) |> A.run(2)\n", "elixir")
    assert {one.name: one.n_arguments for one in facts.references} == {"go": -1, "run": -1}


def test_aliases_and_imports() -> None:
    source = "alias A.B.C\nalias A.{D, E}\nalias A.F, as: G\nimport H.I, only: [x: 1]\nuse J\nrequire Logger\n"
    assert imported(source, "elixir") == [
        ("A.B", "C", "C"),
        ("A", "D", "D"),
        ("A", "E", "E"),
        ("A", "F", "G"),
        ("H.I", "*", ""),
        ("J", "*", ""),
    ]


def test_a_function_of_defp_is_not_exported() -> None:
    facts = facts_of("def f(x), do: x\ndefp g(x), do: x\n", "elixir")
    assert {one.name: one.exported for one in facts.definitions} == {"f": True, "g": False}


@pytest.mark.parametrize(
    ("attribute", "doc"),
    [
        ("@doc false", ""),
        ('@doc since: "1.0"', ""),
        ('@doc deprecated: "use d"', ""),
        ("@impl true", ""),
        ('@doc "Plain one."', "Plain one."),
        ('@doc "Says \\"hi\\"."', 'Says "hi".'),
        ('@doc("In parentheses.")', "In parentheses."),
        ("@doc ~s(Sigil in parentheses)", "Sigil in parentheses"),
        ("@doc ~S|Bars|", "Bars"),
        ('@doc """\n  Heredoc here.\n  """', "Heredoc here."),
        ('@doc ~S"""\n  Sigil heredoc.\n  """', "Sigil heredoc."),
        ('@doc "Kept."\n  @doc since: "1.0"\n  @spec f(integer) :: integer', "Kept."),
    ],
)
def test_only_text_in_doc_is_documentation(attribute: str, doc: str) -> None:
    source = f"defmodule A do\n  {attribute}\n  def f(x), do: x\nend\n"
    assert facts_of(source, "elixir").definitions[-1].doc == doc
