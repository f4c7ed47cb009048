"""Instrument ─plan→ prompts ─collect→ responses ─read→ readings ─judge→ verdicts: what the terminal, the command line
and the worker have in common. It names no audit where the registry can.
"""

from workbench.pipeline.asking import Plan, Progress, collect, derived_seed, plan
from workbench.pipeline.bias import BiasChoice, BiasJudged, bias
from workbench.pipeline.consistency import ConsistencyChoice, ConsistencyJudged, consistency
from workbench.pipeline.judging import counts, find_run
from workbench.pipeline.labels import agreement
from workbench.pipeline.pilot import PilotChoice, PilotJudged, pilot
from workbench.pipeline.reading import label_reader, read, template_reader
from workbench.pipeline.sides import sides
from workbench.pipeline.training import evaluation

__all__ = [
    "BiasChoice",
    "BiasJudged",
    "ConsistencyChoice",
    "ConsistencyJudged",
    "PilotChoice",
    "PilotJudged",
    "Plan",
    "Progress",
    "agreement",
    "bias",
    "collect",
    "consistency",
    "counts",
    "derived_seed",
    "evaluation",
    "find_run",
    "label_reader",
    "pilot",
    "plan",
    "read",
    "sides",
    "template_reader",
]
