"""Instruments: statements, questions, templates and labels, as they are and as they were."""
