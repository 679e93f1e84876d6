"""Recorded tool answers and questions → tokens spared, against grep."""
