"""Turns the bytes of one file into its content record; worker processes run this."""

import re
from dataclasses import replace

from codecards.indexer.cards.chunking import card_texts, chunk_file, text_lines
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


def record_of_bytes(data: bytes, language: str) -> ContentRecord:
    """Return the record of the bytes of a file. Never raises, whatever the bytes.

    Args:
        data: The whole file.
        language: Result of `detect_language`.
    """
    if len(data) <= MAX_POINTER_BYTES and (pointer := _lfs_pointer.match(data)):
        size = pointer[1].decode()
        detail = f"is a Git LFS pointer to a file of {size} bytes; `git lfs pull` fetches it"
        return record_without_cards(Reason.LFS_POINTER, detail, "utf-8")
    decoded = decode(data)
    if not isinstance(decoded, DecodedText):
        return record_without_cards(*decoded)
    if language != "jupyter" and is_minified(decoded.text):
        detail = "its lines are too long to be written by hand; minified text is not indexed"
        return record_without_cards(Reason.MINIFIED, detail, decoded.encoding)
    lines = text_lines(decoded.text)
    facts = _without_secrets(extract(decoded.text, language))
    drafts = chunk_file(lines, facts)
    tokens = tokenize_cards([card_texts(lines, draft) for draft in drafts])
    problems = [(reason, detail, Coverage.WHOLE) for reason, detail in decoded.problems]
    problems += [(reason, detail, Coverage.PARTIAL) for reason, detail in facts.problems]
    if drafts and not language:
        problems.append((Reason.NO_GRAMMAR, "indexed in windows of lines, without symbols", Coverage.WHOLE))
    return ContentRecord(facts, Contents(decoded.encoding, drafts, tokens, tuple(problems)))


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
