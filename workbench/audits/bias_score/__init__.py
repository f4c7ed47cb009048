"""Theory-grounded left/right bias of free answers."""
