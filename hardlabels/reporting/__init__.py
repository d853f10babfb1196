"""Stage 9, reporting: from finished runs to tables and pictures."""
