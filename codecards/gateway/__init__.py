"""Requests of an agent to its model → the same requests with shorter histories → the model's answers, unchanged."""
