"""Pages for a browser: each is one file that needs no network."""
