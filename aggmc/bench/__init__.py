"""Benchmark programs: they measure, and compare with the known answers of a folder such as ../shared/bench."""
