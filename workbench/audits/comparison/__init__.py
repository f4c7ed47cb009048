"""Two runs or more side by side, the same way in every audit: what an audit says of a run, and what
is made of it.
"""
