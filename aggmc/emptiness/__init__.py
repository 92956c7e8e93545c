"""Emptiness checks, one file each: they look for a cycle that carries all marks."""
