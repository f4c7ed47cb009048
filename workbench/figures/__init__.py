"""Figures as values, and their writers. All displayed text passes `visible`."""
