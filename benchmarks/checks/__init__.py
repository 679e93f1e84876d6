"""Products → pass or fail: case bank, fuzzing, rows of the articles."""
