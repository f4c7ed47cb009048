"""Pictures of figures as values: their contents, and their descriptions for screen readers."""
