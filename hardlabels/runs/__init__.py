"""Stage 6, runs: a cell's coordinates, its folder, and everything written there. The seam for all that follows."""
