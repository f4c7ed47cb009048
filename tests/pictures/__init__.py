"""Pictures of the terminal for the README and the help pages."""
