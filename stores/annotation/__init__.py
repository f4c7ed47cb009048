"""People's labels, and the classifiers trained on them."""
