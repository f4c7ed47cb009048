"""Pictures of figures in the terminal."""
