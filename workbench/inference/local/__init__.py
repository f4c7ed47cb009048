"""Models whose weights are on this machine."""
