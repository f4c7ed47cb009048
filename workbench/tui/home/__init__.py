"""The first screens: the choice of a store, Home with pending tasks, and imports."""
