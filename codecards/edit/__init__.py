"""Edit requests → exact changes of files inside the root."""
