"""Asking models: one interface, several backends. Backends are loaded on use, in the worker
process.
"""
