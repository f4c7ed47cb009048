"""People's labels: their agreement, the draw of texts to label, and the results.

No input or output.
"""
