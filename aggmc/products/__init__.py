"""The products of a model and a property automaton."""
