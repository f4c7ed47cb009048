"""Work that was ordered, and the workers that carry it out."""
