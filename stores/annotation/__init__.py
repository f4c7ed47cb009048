"""What people labelled, and the classifiers trained on it."""
