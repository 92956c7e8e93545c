"""Many checks: a suite of models and properties, a journal of results, local processes or a cluster."""
