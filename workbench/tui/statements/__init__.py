"""Statements and questions: written, varied, checked, imported and exported."""
