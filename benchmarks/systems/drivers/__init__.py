"""Scripts that run in the environments of the rivals and answer queries there."""
