"""An opened index and one question → its answer: one module a question."""
