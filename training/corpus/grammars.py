"""What is a definition, and where its documentation stands, in each language that is mined."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module

from tree_sitter import Language, Parser


@dataclass(frozen=True, slots=True)
class Grammar:
    """Node types of one language's grammar."""

    language: str
    module: str
    """Import name of the grammar's package."""
    suffixes: frozenset[str]
    functions: frozenset[str]
    """Nodes that are mined."""
    containers: frozenset[str]
    """Nodes whose name is part of a member's qualified name; mined too."""
    wrappers: frozenset[str] = frozenset()
    """Nodes around a definition; the comment stands before the outermost one."""
    between: frozenset[str] = frozenset()
    """Nodes that may stand between a comment and its definition."""
    loader: str = "language"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_JS_FUNCTIONS = "function_declaration generator_function_declaration method_definition variable_declarator " \
    "assignment_expression pair"  # fmt: skip
_JS_WRAPPERS = _words(
    "export_statement lexical_declaration variable_declaration expression_statement ambient_declaration"
)

GRAMMARS = (
    Grammar("python", "tree_sitter_python", _words(".py"), _words("function_definition"), _words("class_definition"),
            _words("decorated_definition")),
    Grammar("javascript", "tree_sitter_javascript", _words(".js .mjs .jsx"), _words(_JS_FUNCTIONS),
            _words("class_declaration class"), _JS_WRAPPERS),
    Grammar("typescript", "tree_sitter_typescript", _words(".ts .mts"), _words(_JS_FUNCTIONS),
            _words("class_declaration abstract_class_declaration interface_declaration enum_declaration"),
            _JS_WRAPPERS, _words("decorator"), "language_typescript"),
    Grammar("go", "tree_sitter_go", _words(".go"), _words("function_declaration method_declaration"),
            _words("type_spec"), _words("type_declaration")),
    Grammar("rust", "tree_sitter_rust", _words(".rs"), _words("function_item macro_definition"),
            _words("struct_item enum_item trait_item impl_item"), between=_words("attribute_item")),
    Grammar("java", "tree_sitter_java", _words(".java"), _words("method_declaration constructor_declaration"),
            _words("class_declaration interface_declaration enum_declaration")),
    Grammar("c", "tree_sitter_c", _words(".c"), _words("function_definition"), frozenset()),
    Grammar("cpp", "tree_sitter_cpp", _words(".cc .cpp .cxx .h .hpp .hh"), _words("function_definition"),
            _words("class_specifier struct_specifier"), _words("template_declaration")),
    Grammar("ruby", "tree_sitter_ruby", _words(".rb"), _words("method singleton_method"), _words("class module")),
    Grammar("php", "tree_sitter_php", _words(".php"), _words("function_definition method_declaration"),
            _words("class_declaration interface_declaration trait_declaration"), loader="language_php"),
    Grammar("kotlin", "tree_sitter_kotlin", _words(".kt"), _words("function_declaration"),
            _words("class_declaration object_declaration")),
    Grammar("swift", "tree_sitter_swift", _words(".swift"), _words("function_declaration init_declaration"),
            _words("class_declaration protocol_declaration")),
    Grammar("scala", "tree_sitter_scala", _words(".scala"), _words("function_definition"),
            _words("class_definition object_definition trait_definition")),
    Grammar("lua", "tree_sitter_lua", _words(".lua"), _words("function_declaration"), frozenset()),
    Grammar("haskell", "tree_sitter_haskell", _words(".hs"), _words("function bind"), _words("class data_type"),
            between=_words("signature pragma")),
    Grammar("zig", "tree_sitter_zig", _words(".zig"), _words("function_declaration"), frozenset()),
    Grammar("elixir", "tree_sitter_elixir", _words(".ex"), _words("call"), frozenset(),
            between=_words("unary_operator")),
)  # fmt: skip

BY_SUFFIX = {suffix: grammar for grammar in GRAMMARS for suffix in grammar.suffixes}
SUFFIXES = frozenset(BY_SUFFIX)


@cache
def parser_for(language: str) -> Parser:
    """Return the parser of a language in `GRAMMARS`."""
    grammar = next(grammar for grammar in GRAMMARS if grammar.language == language)
    return Parser(Language(getattr(import_module(grammar.module), grammar.loader)()))
