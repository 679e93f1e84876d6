"""The router's ports, answered from an open index."""
