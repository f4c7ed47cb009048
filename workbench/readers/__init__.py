"""Readers take a response text and return a label or None. They use lexicons, neither data files
nor stores.
"""
