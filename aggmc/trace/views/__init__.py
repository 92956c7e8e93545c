"""Runs as text for people: one module for each way to show one."""
