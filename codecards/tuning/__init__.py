"""A project's git history → factors on its ranking weights."""
