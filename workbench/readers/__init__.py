"""Readers take a response text and return a label or None.

They use lexicons, and neither data files nor stores.
"""
