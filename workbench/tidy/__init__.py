"""Tidy data: rows for other programs, each with everything that it is about, in columns that are declared once.

What a file holds, what its dictionary says of it, what its Croissant record says, and what Python hands out follow from
the same `Rows`.
"""
