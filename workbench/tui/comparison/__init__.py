"""The comparison of runs: the choice of runs, and the differences between them."""
