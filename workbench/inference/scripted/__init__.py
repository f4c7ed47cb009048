"""Scripted models, for tests and demonstrations."""
