"""The interface to models, with several backends.

Backends are loaded on use, in the worker process.
"""
