"""Where one begins: the choice of a store, and what waits for whom."""
