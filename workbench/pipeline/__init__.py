"""The pipeline from an instrument to verdicts: plan, ask, score, read and train.

The terminal, the command line and the worker share it. It names no audit where the registry can.
Nothing is imported here, so that whoever needs a plan does not load what asks models.
"""
