"""Engine → retrievers of other frameworks. Each needs its extra: `codecards[langchain]`, `codecards[llama-index]`."""
