"""People's labels: how far they agree, what is drawn for labelling, and what becomes of it.
Pure.
"""
