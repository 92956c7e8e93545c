"""From a formula to property automata; the only package that imports Spot."""
