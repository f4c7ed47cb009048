"""Runs side by side: which ones, and what changed between them."""
