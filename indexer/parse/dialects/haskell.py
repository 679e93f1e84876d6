"""Haskell: equations of one function are one definition; import lists, export lists."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

import tree_sitter

from codecards.indexer.facts import Definition, FileFacts
from codecards.indexer.parse.dialects.base import Dialect
from codecards.indexer.parse.dialects.drafts import Draft, RawImport
from codecards.indexer.parse.dialects.nodes import Captures, field_text

_header = re.compile(r"^module\s+([\w.']+)\s*(\((.*?)\))?\s*where\b", re.DOTALL | re.MULTILINE)
_comment = re.compile(r"\{-.*?(?:-\}|\Z)|--[^\n]*", re.DOTALL)
_exported = re.compile(r"\(([^\w\s(),]+)\)|([\w'.]+)\s*(\((?:[^()]|\([^()]*\))*\))?")
_item = re.compile(r"(?:\b(?:type|pattern)\s+)?(?:\(([^\w\s()]+)\)|([\w']+))\s*(\((?:[^()]|\([^()]*\))*\))?")
_word = re.compile(r"[\w']+")
_type_head = re.compile(r"[A-Z][\w.']*|\[\]")
_import = re.compile(
    r"import\s+(?:safe\s+)?(?P<first>qualified\s+)?(?:\"[^\"]*\"\s*)?(?P<module>[\w.']+)(?P<second>\s+qualified\b)?(?:\s+as\s+(?P<alias>[\w.']+))?"
    r"\s*(?P<hiding>hiding\b)?\s*(?:\((?P<names>.*)\))?",
    re.DOTALL,
)


class HaskellDialect(Dialect):
    """Haskell 2010 with the extensions of GHC."""

    self_words: Mapping[str, str] = {}
    has_type_arguments = False
    builtin_names = frozenset(
        """Int Integer Double Float Bool Char String Maybe Either IO Just Nothing Left Right True False Show Eq Ord Read Enum Bounded
        Functor Applicative Monad Monoid Semigroup Foldable Traversable Num Word otherwise return pure fmap map mapM mapM_ forM forM_ filter
        foldr foldl show read fst snd id const flip not null length head tail last init concat concatMap zip zipWith elem lookup
        maybe either fromMaybe when unless mempty mappend mconcat sequence traverse error undefined putStrLn print
        $ . <$> <*> >>= >> <> && || == /= < > <= >= + - * / ++ : !! <|> =<< <$ *> <* $! ^ & >=> <&> !""".split()
    )

    def draft(self, draft: Draft, captures: Captures, source: bytes) -> Iterable[Draft]:
        """Return the definition; an instance gets the name of its type."""
        if draft.kind == "impl":
            found = _type_head.search(draft.name)
            draft.name = found[0].rpartition(".")[2] if found else (_word.findall(draft.name) or ["instance"])[0]
        if draft.kind == "constructor" and draft.node.parent is not None:
            around = draft.node.parent if draft.node.parent.type == "newtype" else draft.node.parent.parent
            if around is not None and field_text(around, "name", source) == draft.name:
                return ()  # the type has the same name
        return (draft,)

    def refine_kind(self, draft: Draft, parent_kind: str, parent_name: str, source: bytes) -> str:
        """Return the kind; functions of classes and instances are methods."""
        return "method" if draft.kind == "function" and parent_kind in ("class", "impl") else draft.kind

    def is_reference(self, name: str, receiver: str, kind: str) -> bool:
        """Return whether a name may be defined in some file; a single letter is a local value."""
        return (len(name) > 1 or receiver != "") and super().is_reference(name, receiver, kind)

    def _chain(self, written: bytes) -> str:
        return super()._chain(written.rstrip(b". "))

    def is_exported(self, draft: Draft, parent_kind: str, source: bytes) -> bool:
        """Return True; `finish` reads the export list."""
        return True

    def imports(self, node: tree_sitter.Node, source: bytes) -> Iterable[RawImport]:
        """Return the imported names and the qualifier of the module."""
        text = _comment.sub("", source[node.start_byte : node.end_byte].decode("utf-8", "replace"))
        match = _import.match(text)
        if match is None:
            return
        module, alias = match["module"], match["alias"] or match["module"]
        yield RawImport(module, "", alias)
        if match["first"] or match["second"]:
            return
        if match["names"] is None or match["hiding"]:
            yield RawImport(module, "*", "")
            return
        for item in _item.finditer(match["names"]):
            name = item[1] or item[2]
            yield RawImport(module, name, name)
            for part in _word.findall(item[3] or ""):
                yield RawImport(module, part, part)

    def finish(self, facts: FileFacts, text: str) -> FileFacts:
        """Return the facts with the signature and equations of each function as one definition."""
        joined = _joined(facts)
        joined = replace(joined, definitions=tuple(_without_haddock_marker(one) for one in joined.definitions))
        header = _header.search(_comment.sub("", text))
        if header is None or header[3] is None or f"module {header[1]}" in header[3]:
            return joined
        names = {found[1] or found[2].rpartition(".")[2] for found in _exported.finditer(header[3])}
        definitions = tuple(
            one if one.parent >= 0 or one.name in names else replace(one, exported=False) for one in joined.definitions
        )
        return replace(joined, definitions=definitions)


def _joined(facts: FileFacts) -> FileFacts:
    """Return the facts with adjacent definitions of one function merged; a signature merges with the equations after it."""
    kept: list[Definition] = []
    position_of: list[int] = []
    last_of: dict[int, int] = {}
    for one in facts.definitions:
        parent = position_of[one.parent] if one.parent >= 0 else -1
        before = last_of.get(parent, -1)
        known = kept[before] if before >= 0 else None
        if known is not None and known.name == one.name and _is_same_function(known, one):
            kept[before] = _merged(known, one)
            position_of.append(before)
            continue
        position_of.append(len(kept))
        last_of[parent] = len(kept)
        kept.append(replace(one, parent=parent))
    if len(kept) == len(facts.definitions):
        return facts
    position_of.append(-1)  # position -1, outside all definitions, stays
    return replace(
        facts,
        definitions=tuple(kept),
        references=tuple(replace(one, owner=position_of[one.owner]) for one in facts.references),
        imports=tuple(replace(one, scope=position_of[one.scope]) for one in facts.imports),
        bindings=tuple(replace(one, scope=position_of[one.scope]) for one in facts.bindings),
    )


def _without_haddock_marker(one: Definition) -> Definition:
    """Return the definition without the Haddock marker at the start of its documentation."""
    return replace(one, doc=one.doc[1:].strip()) if one.doc.startswith(("|", "^")) else one


def _is_same_function(known: Definition, one: Definition) -> bool:
    callable_kinds = ("function", "method")
    return one.kind in callable_kinds and known.kind in (*callable_kinds, "declaration")


def _merged(known: Definition, one: Definition) -> Definition:
    is_signature = known.kind == "declaration"
    return replace(
        known,
        kind=one.kind,
        name_line=one.name_line if is_signature else known.name_line,
        last_line=max(known.last_line, one.last_line),
        doc=known.doc or one.doc,
    )


def dialect(language: str) -> Dialect:
    """Return the dialect."""
    return HaskellDialect()
