"""Operations and signals of a turn → decisions: which file is shown in full, as a digest, or not at all."""
