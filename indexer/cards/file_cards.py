"""Turns the bytes of one file into its content record; worker processes run this."""

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


def record_of_bytes(data: bytes, language: str) -> ContentRecord:
    """Return the record of the bytes of a file. Never raises, whatever the bytes.

    Args:
        data: The whole file.
        language: Result of `detect_language`.
    """
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
