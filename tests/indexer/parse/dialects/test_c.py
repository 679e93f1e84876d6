"""C: definitions and references, with macros in between."""

import pytest

from codecards.indexer.parse.dialects.c_macros import without_macros
from tests.support.extraction_outline import facts_of, imported, outline, uses


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("int add(int a) { return a; }", ["function add 1-1"]),
        ("char *name_of(int a) { return 0; }", ["function name_of 1-1"]),
        ("void (*pick(int a, void (*f)(int)))(int) { return f; }", ["function pick 1-1"]),
        ("int add(int a);", ["declaration add 1-1"]),
        ("static int rows[4] = { 1 }, columns;", ["variable rows 1-1", "variable columns 1-1"]),
        ("void (*hook)(int) = 0;", ["variable hook 1-1"]),
        ("struct node {\n  int x;\n};", ["struct node 1-3"]),
        ("struct node;", []),
        ("typedef struct {\n  int x;\n} box_t;", ["struct box_t 1-3"]),
        ("typedef struct box { int x; } box;", ["struct box 1-1"]),
        ("typedef int (*cb_t)(int a);", ["type cb_t 1-1"]),
        ("enum color { RED };", ["enum color 1-1"]),
        ("#define MAX(a, b) ((a) > (b))\n#define SIZE 3\n#define GUARD_H\n", ["macro MAX 1-1", "constant SIZE 2-2"]),
        ("int f(void) {\n  int local = 1;\n  return local;\n}", ["function f 1-4"]),
    ],
)
def test_each_construct_gives_its_definition(source: str, expected: list[str]) -> None:
    assert outline(source, "c") == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("HANDLER(on_open) {\n  return 1;\n}", ["function on_open 1-3"]),
        ("EXPORT int plain(int n)\n{\n  return n;\n}", ["function plain 1-4"]),
        ("STATIC INLINE BOOL ready(int n)\n{\n  return n;\n}", ["function ready 1-4"]),
        ("static __chk(1, 2) int emit(char *b)\n{\n  return 0;\n}", ["function emit 1-4"]),
        ("int * __attribute__((noinline)) slot(void)\n{\n  return 0;\n}", ["function slot 1-4"]),
        ("int\nold(a, b)\n  int a;\n  char *b;\n{\n  return a;\n}", ["function old 1-7"]),
        ("char *\nold(a, b)\n  char **a;\n  int b;\n{\n  return a[b];\n}", ["function old 1-7"]),
        ("BEGIN_DECLS\nint f(void) { return 1; }\nEND_DECLS", ["function f 2-2"]),
        ("BOOL\nready(int n)\n{\n  return n;\n}", ["function ready 1-5"]),
        (
            "#ifdef A\nint f(int a, int b)\n#else\nint f(int a)\n#endif\n{\n  return a;\n}\nint g(void) { return 1; }",
            ["function f 2-8", "function g 9-9"],
        ),
        (
            "int f(int n)\n{\n  if (n)\n    return 1;\n#ifdef A\n  else if (g(n)) {\n    return 2;\n  }\n#endif\n  return n;\n}",
            ["function f 1-11"],
        ),
        (
            '#ifdef __cplusplus\nextern "C" {\n#endif\nint f(void);\n#ifdef __cplusplus\n}\n#endif',
            ["declaration f 4-4"],
        ),
        (
            "#if defined(A)\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif",
            ["function f 2-2", "function f 4-4"],
        ),
    ],
)
def test_macros_hide_no_function(source: str, expected: list[str]) -> None:
    facts = facts_of(source, "c")
    found = [f"{one.kind} {one.qualified_name} {one.first_line}-{one.last_line}" for one in facts.definitions]
    assert found == expected
    assert facts.problems == ()


def test_a_function_after_broken_syntax_is_found_by_its_head() -> None:
    source = "int a = ((((;\n@@@ $$\nint lost(int x)\n{\n  return helper(x);\n}\n"
    found = {one.name: one for one in facts_of(source, "c").definitions}
    assert (found["lost"].first_line, found["lost"].last_line) == (3, 6)
    assert facts_of(source, "c").problems


def test_a_function_that_a_macro_names_is_found_in_broken_syntax() -> None:
    source = "DEFINE_CALL3(open, const char __user *, name, int, flags)\n{\n  return 1;\n}\n"
    found = [(one.kind, one.name, one.first_line, one.last_line) for one in facts_of(source, "c").definitions]
    assert found == [("function", "open", 1, 4)]


def test_blanking_macros_keeps_every_line_and_column() -> None:
    source = "EXPORT int f(int n)\n{\n  return n; /* EXPORT int g */\n}\nLONE_MACRO(x)\nint h;\n"
    cleared = without_macros(source)
    assert [len(line) for line in cleared.split("\n")] == [len(line) for line in source.split("\n")]
    assert "/* EXPORT int g */" in cleared
    assert "LONE_MACRO" not in cleared


def test_calls_have_their_receivers_and_functions_passed_on_are_values() -> None:
    source = """
        static int cmp(int a) { return a; }
        void run(struct node *n) { n->next->go(1); (*hook)(2); sort(n, cmp); }
        struct ops table = { .compare = cmp };
    """
    assert uses(source, "c") == ["run -> n.next.go", "run -> sort"]
    assert uses(source, "c", "value") == ["run -> cmp", "table -> cmp"]


def test_includes_are_imports_of_all_names() -> None:
    assert imported('#include <stdio.h>\n#include "deps/list.h"\n', "c") == [
        ("stdio.h", "*", ""),
        ("deps/list.h", "*", ""),
    ]


def test_a_static_function_is_not_exported_and_a_comment_above_is_its_documentation() -> None:
    first, second = facts_of(
        "/* Adds. */\nstatic int f(void) { return 1; }\nint g(void) { return 1; }", "c"
    ).definitions
    assert (first.exported, first.doc, first.lead_line) == (False, "Adds.", 1)
    assert second.exported


def test_all_names_of_a_typedef_are_types_at_one_level() -> None:
    source = """
    typedef struct node { struct node *next; } Node, *NodePtr;
    typedef unsigned int u32, *pu32;
    """
    found = [one for one in outline(source, "c") if not one.startswith("field")]
    assert found == [
        "struct node 1-1",
        "type Node 1-1",
        "type NodePtr 1-1",
        "type u32 2-2",
        "type pu32 2-2",
    ]


def test_attributes_after_a_type_are_not_variables() -> None:
    source = """
    struct header { int size; } __packed;
    union both { int a; } __aligned(8) __packed;
    int after(void) { return 1; }
    """
    found = [one for one in outline(source, "c") if not one.startswith("field")]
    assert found == ["struct header 1-1", "struct both 2-2", "function after 3-3"]
