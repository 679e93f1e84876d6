"""The static table's own vocabulary: WordPiece over identifiers that are already split into words."""

from collections.abc import Iterable

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

UNKNOWN = "[UNK]"


def train_tokenizer(texts: Iterable[str], size: int) -> Tokenizer:
    """Return a tokenizer of at most `size` entries.

    Punctuation is dropped: it says nothing in a mean of words. All steps are native ones, for a regular expression
    inside the tokenizer costs more than all the rest. Chinese runs stay whole, so that words of them are learned.
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
