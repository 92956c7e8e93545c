"""From an accepting run of a product to a run of the model: extraction and replay."""
