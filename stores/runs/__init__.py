"""Prompts, models' answers, and their readings."""
