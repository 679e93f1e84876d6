"""Commands and tool results → short outputs, with the whole kept, searchable and restorable."""
