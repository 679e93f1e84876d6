"""Retrievers for other frameworks, over an engine. Each needs its extra: `codecards[langchain]`, `codecards[llama-index]`."""
