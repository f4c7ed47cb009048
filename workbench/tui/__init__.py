"""The terminal: the only importer of textual."""
