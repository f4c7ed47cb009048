"""Jobs, and the workers that carry them out."""
