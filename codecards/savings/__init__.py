"""Recorded answers and questions → tokens saved in comparison with grep."""
