"""Instruments: statements, questions, templates and labels, with their history."""
