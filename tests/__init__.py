"""The tests; they mirror the folders."""
