"""One module for each medium.

Displayed text passes `figures.visible`, while data files keep the exact text.
"""
