"""Files of runs: one module for each format."""
