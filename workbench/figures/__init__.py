"""Figures as values, and the ways they are written. Text that is painted passes `visible`."""
