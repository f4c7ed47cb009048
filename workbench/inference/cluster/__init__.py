"""Models that answer on a Ray cluster."""
