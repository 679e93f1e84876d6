"""Tasks with known answers → ranking weights."""
