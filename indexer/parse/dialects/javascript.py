"""JavaScript and TypeScript: three module systems; methods in objects, prototypes and exports."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import Export, FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawBinding, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, ancestor, field_text, node_text

_accessor = re.compile(
    rb"(?:(?:static|async|override|public|private|protected|abstract|declare|readonly)\s+|@[\w.]+(?:\([^)]*\))?\s*)*"
    rb"(?:get|set)\s+[\w#\[\"']"
)
_require = re.compile(rb"(?:await\s+)?(?:require|import)\s*\(\s*['\"`]")
_exports = re.compile(r"(?:module\.)?exports(?:\.|\Z)")
_prototype = re.compile(r"\.prototype(?=\.|\Z)|\.fn(?=\.|\Z)")
_decorators = re.compile(r"\A(?:@[\w.]+(?:\((?:[^()]|\([^()]*\))*\))?\s*)+")
_private = re.compile(rb"(?:@[\w.]+(?:\([^)]*\))?\s*)*(?:static\s+)?(?:private|protected)\b")
_common_js = re.compile(
    r"^[ \t]*(?:module\.)?exports\b(?:\.([\w$]+))?\s*=\s*"
    r"(?:(?:async\s+)?(?:class|function\s*\*?)\s+(?!extends\b)([A-Za-z_$][\w$]*)|(?!function\b|class\b|async\b|null\b|true\b|false\b)"
    r"([A-Za-z_$][\w$]*)\s*(?:;|$))",
    re.MULTILINE,
)
_holders = frozenset(
    """variable_declarator assignment_expression pair arguments class_body export_statement array return_statement
    public_field_definition field_definition""".split()
)
_BUILTINS = frozenset(
    """Promise Array Record Partial Readonly ReadonlyArray Pick Omit Map Set WeakMap WeakSet Error TypeError RangeError Date RegExp
    Function Object String Number Boolean Symbol BigInt Uint8Array ArrayBuffer Iterable Iterator AsyncIterable Required
    NonNullable ReturnType Parameters Extract Exclude Awaited InstanceType undefined null NaN Infinity require""".split()
)


class JavaScriptDialect(Dialect):
    """JavaScript with JSX, TypeScript with and without JSX."""

    self_words: Mapping[str, str] = {"this": "self", "super": "super"}
    type_wrappers = frozenset(
        {"Promise", "Readonly", "Partial", "Required", "NonNullable", "Awaited", "Ref", "WeakRef"}
    )
    constructors = frozenset({"constructor"})
    builtin_names = _BUILTINS

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition with the owner that its position implies, nothing for an imported name."""
        node_type = draft.node.type
        if node_type == "variable_declarator":
            value = draft.node.child_by_field_name("value")
            if value is not None and draft.kind == "variable" and _require.match(source, value.start_byte):
                return ()
        elif node_type == "assignment_expression":
            draft.name, draft.owner = _assigned(draft.name, field_text(draft.node, "right", source))
        elif node_type == "export_statement":
            draft.name = "default"
        elif node_type in ("method_definition", "pair"):
            if draft.kind == "function":
                draft.owner = _object_owner(draft.node, source)
            draft.name = draft.name.strip("\"'`")
        elif node_type == "module" or draft.name[:1] in "\"'":
            draft.name = draft.name.strip("\"'")
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; accessors are properties, upper-case names constants."""
        if draft.kind == "variable":
            return "constant" if draft.name.isupper() and len(draft.name) > 1 else "variable"
        if draft.kind in ("function", "method"):
            if draft.node.type == "method_definition" and _accessor.match(source, draft.node.start_byte):
                return "property"
            if draft.name == "constructor" and parent_kind == "class":
                return "constructor"
            return "method" if draft.owner or draft.kind == "method" else "function"
        return draft.kind

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return whether the definition itself says so; `finish` adds the other exports."""
        if parent_kind in ("class", "interface", "enum"):
            return not draft.name.startswith("#") and not _private.match(source, draft.node.start_byte)
        if (
            parent_kind == "namespace"
            or source.startswith((b"export", b"@"), draft.start)
            or draft.node.type in ("pair", "method_definition")
        ):
            return True
        return draft.node.type == "assignment_expression"

    def signature(self, text: str) -> str:
        """Return the head without decorators."""
        return _decorators.sub("", text)

    def is_reference(self, name: str, receiver: str, kind: str) -> bool:
        """Return whether a name may be defined in some file; quoted and computed names are not references."""
        return name[:1] not in "\"'[" and super().is_reference(name, receiver, kind)

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the names of an `import`, `export … from`, `require` or `import()`."""
        if node.type == "call_expression":
            return _required(node, source)
        text = node.child_by_field_name("source")
        if text is None:  # import fs = require("fs")
            clause = next((child for child in node.named_children if child.type == "import_require_clause"), None)
            if clause is None:
                return ()
            alias = node_text(clause.named_children[0], source)
            return (RawImport(field_text(clause, "source", source).strip("\"'"), "", alias),)
        module = node_text(text, source).strip("\"'`")
        if node.type == "export_statement":
            return _reexported(node, module, source)
        return _imported(node, module, source)

    def bindings(self, captures: Captures, source: bytes) -> Iterable[RawBinding]:
        """Return the member that a parameter property of a constructor defines."""
        node = captures["bindings"][0]
        pattern, written = node.child_by_field_name("pattern"), node.child_by_field_name("type")
        if pattern is None or written is None:
            return ()
        value = self.type_text(source[written.start_byte : written.end_byte])
        return (RawBinding("self." + node_text(pattern, source), value, node),) if value else ()

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with CommonJS exports; definitions of a module are exported only if it exports them."""
        exports = list(facts.exports)
        for name, named, local in _common_js.findall(text) if "exports" in text else ():
            exports.append(Export(name or "default", named or local))
        definitions = facts.definitions
        top = {one.name for one in definitions if one.parent < 0}
        for one in definitions:
            if one.name == "default" and one.parent < 0:
                exports.append(Export("default", "default"))
        is_module = bool(exports or facts.imports) or any(
            "export" in line for line in text.splitlines() if line.startswith("export")
        )
        if not is_module:
            definitions = tuple(
                replace(one, exported=True) if not one.exported and one.parent < 0 else one for one in definitions
            )
        else:
            shown = {export.local for export in exports} & top
            definitions = tuple(
                replace(one, exported=True) if one.name in shown and not one.exported else one for one in definitions
            )
        bindings = tuple(
            one
            for one in facts.bindings
            if "require()" not in one.value and not one.name.startswith(("exports.", "module."))
        )
        return replace(facts, definitions=definitions, exports=tuple(dict.fromkeys(exports)), bindings=bindings)


def _assigned(target: str, value: str) -> tuple[str, str]:
    """Return (name, owner) of an assignment target: "Animal.prototype.speak" → ("speak", "Animal")."""
    target = "".join(target.split()).replace("?.", ".")
    if _exports.match(target):
        target = _exports.sub("", target, count=1)
        if not target:
            named = re.match(r"(?:async\s+)?(?:function\s*\*?|class)\s*([\w$]+)", value)
            return (named[1] if named and named[1] != "extends" else "default"), ""
    owner, _, name = _prototype.sub("", target).rpartition(".")
    if not re.fullmatch(r"[\w$#]+", name) or not re.fullmatch(r"[\w$.]*", owner):
        return (name if re.fullmatch(r"[\w$#]+", name) else ""), ""
    owner = ".".join(
        part
        for part in owner.split(".")
        if part not in ("this", "window", "self", "globalThis", "global", "exports", "module")
    )
    return name, owner


def _object_owner(node: tree_sitter.Node, source: bytes) -> str:
    """Return the name of the object that contains a function: the variable or target that it is assigned to."""
    keys: list[str] = []
    holder = ancestor(node, _holders)
    while holder is not None and holder.type == "pair" and len(keys) < 4:
        keys.insert(0, field_text(holder, "key", source).strip("\"'"))
        holder = ancestor(holder, _holders)
    if holder is None:
        return ""
    value = holder.child_by_field_name("value") or holder.child_by_field_name("right")
    if value is None or value.type not in ("object", "as_expression", "satisfies_expression"):
        return ""
    if holder.type == "variable_declarator":
        name = field_text(holder, "name", source)
    elif holder.type == "assignment_expression":
        last, owner = _assigned(field_text(holder, "left", source), "")
        name = f"{owner}.{last}" if owner else last
        name = "" if name == "default" else name.removesuffix(".prototype").removesuffix(".fn")
        name = "" if name in ("prototype", "fn") else name
    else:
        name = ""
    owner = ".".join([name, *keys]) if name else ""
    return owner if re.fullmatch(r"[\w$.]*", owner) else ""


def _imported(node: tree_sitter.Node, module: str, source: bytes) -> Iterator[RawImport]:
    clause = next((child for child in node.named_children if child.type == "import_clause"), None)
    if clause is None:
        yield RawImport(module, "", "")
        return
    for child in clause.named_children:
        if child.type == "identifier":
            yield RawImport(module, "default", node_text(child, source))
        elif child.type == "namespace_import":
            yield RawImport(module, "", node_text(child.named_children[0], source))
        elif child.type == "named_imports":
            for specifier in child.named_children:
                name = field_text(specifier, "name", source).strip("\"'")
                if name:
                    yield RawImport(module, name, field_text(specifier, "alias", source) or name)


def _reexported(node: tree_sitter.Node, module: str, source: bytes) -> Iterator[RawImport]:
    for child in node.named_children:
        if child.type == "export_clause":
            for specifier in child.named_children:
                name = field_text(specifier, "name", source)
                if name:
                    yield RawImport(module, name, field_text(specifier, "alias", source) or name, reexported=True)
            return
        if child.type == "namespace_export":
            yield RawImport(module, "", node_text(child.named_children[0], source), reexported=True)
            return
    yield RawImport(module, "*", "", reexported=True)


def _required(node: tree_sitter.Node, source: bytes) -> Iterator[RawImport]:
    """Yield the names that the statement around a `require` or `import()` call binds."""
    arguments = node.child_by_field_name("arguments")
    written = arguments.named_children[0] if arguments is not None else None
    module = node_text(written, source).strip("\"'`")
    around = node.parent
    if around is not None and around.type in ("await_expression", "parenthesized_expression"):
        around = around.parent
    if around is not None and around.type == "member_expression":
        name = field_text(around, "property", source)
        holder = around.parent
        if holder is not None and holder.type == "variable_declarator":
            yield RawImport(module, name, field_text(holder, "name", source))
        return
    if around is not None and around.type == "variable_declarator":
        pattern = around.child_by_field_name("name")
        if pattern is not None and pattern.type == "object_pattern":
            for child in pattern.named_children:
                key, value = field_text(child, "key", source), field_text(child, "value", source)
                name = key or field_text(child, "left", source) or node_text(child, source)
                if re.fullmatch(r"[\w$]+", name):
                    yield RawImport(module, name, value if re.fullmatch(r"[\w$]+", value) else name)
            return
        yield RawImport(module, "", node_text(pattern, source))
        return
    if around is not None and around.type == "assignment_expression":
        target = field_text(around, "left", source)
        if _exports.match(target):
            name = target.rpartition(".")[2]
            yield RawImport(module, *(("*", "") if name in ("exports", "") else ("", name)), reexported=True)
            return
        if re.fullmatch(r"[\w$]+", target):
            yield RawImport(module, "", target)
            return
    yield RawImport(module, "", "")


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return JavaScriptDialect()
