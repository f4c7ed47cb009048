"""Work that models do: ordered, watched, paused, retried."""
