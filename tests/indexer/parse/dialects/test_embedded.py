"""Scripts in pages and cells of notebooks keep the line numbers of the file."""

import json

import pytest

from codecards.indexer.problems import Reason
from tests.support.extraction_outline import facts_of, outline, uses


def notebook(*cells: dict[str, object], **rest: object) -> str:
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4} | rest, indent=1)


def code(*lines: str) -> dict[str, object]:
    return {
        "cell_type": "code",
        "metadata": {},
        "outputs": [{"data": {"image/png": "A" * 5000}}],
        "source": [line + "\n" for line in lines],
    }


def test_cells_keep_the_lines_of_the_file_and_magics_are_ignored() -> None:
    text = notebook(
        code("%matplotlib inline", "!pip install x", "def f(x):", "    return g(x)"),
        code("%%time", "def g(x):", "    return x"),
    )
    lines = text.split("\n")
    first, second = (next(n for n, line in enumerate(lines, 1) if name in line) for name in ("def f", "def g"))
    assert [one for one in outline(text, "jupyter") if "cell" not in one] == [
        f"function f {first}-{first + 1}",
        f"function g {second}-{second + 1}",
    ]
    assert uses(text, "jupyter") == ["f -> g"]


def test_a_notebook_of_the_third_format_is_read() -> None:
    cells = [{"cell_type": "code", "input": ["def old():\n", "    pass\n"]}]
    text = json.dumps({"worksheets": [{"cells": cells}], "nbformat": 3}, indent=1)
    assert [one.split()[:2] for one in outline(text, "jupyter")] == [["cell", "<cell"], ["function", "old"]]


def test_cells_of_a_language_without_a_grammar_are_not_parsed_as_python() -> None:
    told = {"language_info": {"name": "R"}, "kernelspec": {"language": "R"}}
    assert uses(notebook(code("f <- function(x) {", "}"), metadata=told), "jupyter") == []
    assert facts_of(notebook(code("f <- function(x) {", "}"), metadata=told), "jupyter").definitions[0].kind == "cell"


@pytest.mark.parametrize("text", ["{}", "[]", "", "{", '{"cells": null}', '{"cells": 1}', "<<<<<<< HEAD\n{}"])
def test_a_text_that_is_not_a_notebook_is_reported(text: str) -> None:
    assert [reason for reason, _ in facts_of(text, "jupyter").problems] == [Reason.BAD_NOTEBOOK]


def test_a_notebook_without_cells_has_no_problem() -> None:
    assert facts_of(notebook(), "jupyter").problems == ()


def test_scripts_of_a_page_are_code_and_data_blocks_are_not() -> None:
    page = """
    <script type="application/json">{"function": 1}</script>
    <script type="text/template"><div>function no() {}</div></script>
    <!-- <script>function commented() {}</script> -->
    <SCRIPT LANGUAGE="JavaScript">
    function old() { go(); }
    </SCRIPT>
    <script type="module">export class Box { open() {} }</script>
    """
    assert outline(page, "html") == ["function old 5-5", "class Box 7-7", "method Box.open 7-7"]
    assert uses(page, "html") == ["old -> go"]


def test_both_scripts_of_a_component_keep_the_lines_of_the_file() -> None:
    component = """
    <template><p @click="add">{{ label }}</p></template>
    <script lang="ts">
    export function label(n: number): string { return shown(n) }
    </script>
    <script setup lang="ts">
    const add = () => emit('add')
    </script>
    """
    assert outline(component, "vue") == ["function label 3-3", "function add 6-6"]
    module = component.replace("<script lang", '<script context="module" lang').replace(" setup", "")
    assert outline(module, "svelte") == ["function label 3-3", "function add 6-6"]
