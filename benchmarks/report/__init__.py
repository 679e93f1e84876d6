"""Result files → tables and charts of the documentation."""
