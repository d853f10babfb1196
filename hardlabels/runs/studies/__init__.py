"""A study: its cells, what is missing of it, the commands that make that, and what they will take."""
