"""Rulings on the evidence of results, from the screens that show it."""
