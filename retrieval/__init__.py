"""The rooms of `codecards.retrieval`: a query becomes candidates, and these ranked hits."""
