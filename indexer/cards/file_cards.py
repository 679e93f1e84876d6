"""Turns the bytes of one file into its content record; worker processes run this."""

import re
from dataclasses import replace

from codecards.indexer.cards.chunking import card_texts, chunk_file, text_lines
from codecards.indexer.cards.embedded_text import embedded_content, pack_texts
from codecards.indexer.cards.record import ContentRecord, Contents, record_without_cards
from codecards.indexer.cards.words import tokenize_cards
from codecards.indexer.facts import Definition, FileFacts
from codecards.indexer.parse.extraction import extract
from codecards.indexer.problems import Coverage, Reason
from codecards.indexer.text.decoding import DecodedText, decode
from codecards.indexer.text.secrets import mask_short
from codecards.indexer.walk.roles import is_minified

MAX_POINTER_BYTES = 1_024
"""Maximum size of a Git LFS pointer, by its specification."""
_lfs_pointer = re.compile(
    rb"version https?://[\w./-]{1,80}/spec/v1\r?\n(?:ext-[^\n]{1,200}\n){0,9}oid sha256:[0-9a-f]{64}\r?\nsize (\d{1,20})\s*\Z"
)

_annex_pointer = re.compile(rb"(?:\.git/|(?:\.\./){1,20}\.git/|/)annex/objects/[^\n]{1,300}\n?\Z")
_source_map = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,20}\{\s{0,20}\"version\"\s{0,20}:\s{0,20}3\s{0,20},")


def record_of_bytes(data: bytes, language: str) -> ContentRecord:
    """Return the record of the bytes of a file. Never raises, whatever the bytes.

    Args:
        data: The whole file.
        language: Result of `detect_language`.
    """
    if (reason := _reason_without_code(data)) is not None:
        return record_without_cards(*reason, "utf-8")
    decoded = decode(data)
    if not isinstance(decoded, DecodedText):
        return record_without_cards(*decoded)
    if language != "jupyter" and is_minified(decoded.text):
        detail = "its lines are too long to be written by hand; minified text is not indexed"
        return record_without_cards(Reason.MINIFIED, detail, decoded.encoding)
    lines = text_lines(decoded.text)
    facts = _without_secrets(extract(decoded.text, language))
    drafts = chunk_file(lines, facts)
    fields = [card_texts(lines, draft) for draft in drafts]
    tokens = tokenize_cards(fields)
    embedded = pack_texts(embedded_content(card.signature, card.doc, card.body) for card in fields)
    problems = [(reason, detail, Coverage.WHOLE) for reason, detail in decoded.problems]
    problems += [(reason, detail, Coverage.PARTIAL) for reason, detail in facts.problems]
    if drafts and not language:
        problems.append((Reason.NO_GRAMMAR, "indexed in windows of lines, without symbols", Coverage.WHOLE))
    return ContentRecord(facts, Contents(decoded.encoding, drafts, tokens, embedded, tuple(problems)))


def _reason_without_code(data: bytes) -> tuple[Reason, str] | None:
    """Return reason and detail of a pointer to another file or a source map, None for other texts."""
    if len(data) <= MAX_POINTER_BYTES:
        if pointer := _lfs_pointer.match(data):
            detail = f"is a Git LFS pointer to a file of {int(pointer[1]):,} bytes; `git lfs pull` fetches it"
            return Reason.LFS_POINTER, detail
        if _annex_pointer.match(data):
            return Reason.LFS_POINTER, "is a git-annex pointer; `git annex get` fetches the file"
    if _source_map.match(data) and b'"mappings"' in data:
        return Reason.BUILT, "is a source map, which a build wrote"
    return None


def _without_secrets(facts: FileFacts) -> FileFacts:
    """Return the facts with secrets masked, because answers show stored texts."""
    definitions = tuple(map(_without_secret, facts.definitions))
    return replace(facts, definitions=definitions, leading_comment=mask_short(facts.leading_comment))


def _without_secret(definition: Definition) -> Definition:
    signature, doc = mask_short(definition.signature), mask_short(definition.doc)
    if definition.kind == "section":  # its name is the heading
        name, qualified_name = mask_short(definition.name), mask_short(definition.qualified_name)
        definition = replace(definition, name=name, qualified_name=qualified_name)
    if signature == definition.signature and doc == definition.doc:
        return definition
    return replace(definition, signature=signature, doc=doc)
