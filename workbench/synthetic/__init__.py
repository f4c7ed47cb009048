"""Synthetic respondents whose structure is known: for power analyses, and to check statistics
against the truth.
"""
