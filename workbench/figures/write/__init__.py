"""One module for each medium. Displayed text passes `figures.visible`; data files keep the exact
text.
"""
