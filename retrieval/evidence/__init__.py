"""Query and index → the values of every ranking signal, for files and for cards."""
