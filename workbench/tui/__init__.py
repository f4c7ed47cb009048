"""The terminal application, which is the only part that imports textual."""
