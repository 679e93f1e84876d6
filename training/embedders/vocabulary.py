"""Trains the vocabulary of the static table: WordPiece over identifiers that are already split into words."""

from collections.abc import Iterable

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

UNKNOWN = "[UNK]"


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Return a tokenizer with at most `size` entries.

    Punctuation is dropped, because it adds nothing to a mean of words. Runs of Chinese stay whole, so that the tokenizer learns
    their words. All steps are native: a regular expression would cost more than all the others together.
    """
    tokenizer = Tokenizer(models.WordPiece(unk_token=UNKNOWN, max_input_chars_per_word=60))
    tokenizer.normalizer = normalizers.BertNormalizer(
        clean_text=True, handle_chinese_chars=False, strip_accents=False, lowercase=True
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation("removed")]
    )
    trainer = trainers.WordPieceTrainer(
        vocab_size=size, special_tokens=[UNKNOWN], limit_alphabet=3_000, min_frequency=3, show_progress=False
    )
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer
