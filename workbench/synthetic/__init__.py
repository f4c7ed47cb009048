"""Synthetic respondents whose structure is known.

They serve power analyses, and checks of statistics against the truth.
"""
