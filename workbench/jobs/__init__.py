"""Long work, in a process of its own: it outlives the terminal that started it."""
