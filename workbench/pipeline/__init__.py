"""Instrument ─plan→ prompts ─collect→ responses ─read→ readings ─judge→ verdicts: what the terminal, the command line
and the worker have in common. It names no audit where the registry can.
"""

from workbench.pipeline.asking import Plan, Progress, collect, derived_seed, plan
from workbench.pipeline.judging import counts, find_run
from workbench.pipeline.reading import label_reader, read, template_reader
from workbench.pipeline.training import evaluation

__all__ = [
    "Plan",
    "Progress",
    "collect",
    "counts",
    "derived_seed",
    "evaluation",
    "find_run",
    "label_reader",
    "plan",
    "read",
    "template_reader",
]
