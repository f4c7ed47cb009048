"""One module for each medium. Painted text passes `figures.visible`; data keep the exact text."""
