"""Side-by-side ratios: each row compares two things measured in one run, alternated and repeated. Never a time alone."""
