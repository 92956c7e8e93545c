"""From text to a model, one folder per language; and the interpreters."""
