"""An auditor's queue: what to look at first and why, one item after another, and the ruling on
it.
"""
