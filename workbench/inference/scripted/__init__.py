"""Stand-ins that answer from a script, for tests and for trying things out."""
