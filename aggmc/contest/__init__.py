"""The Model Checking Contest: its property files, its examinations, its output."""
