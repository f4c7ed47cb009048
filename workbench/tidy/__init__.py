"""Tidy data: rows for other programs, each with all related data, in columns declared once.

The same `Rows` define the files, their data dictionary, their Croissant record and the rows in
Python.
"""
