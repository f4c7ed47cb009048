"""Pictures of figures as values: what is drawn, and what a reader who does not see it is told."""
