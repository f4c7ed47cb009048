"""Instrument ─plan→ prompts ─collect→ responses ─read→ readings ─judge→ verdicts: what the terminal, the command line
and the worker have in common. It names no audit where the registry can.
"""

from workbench.pipeline.asking import Progress, collect
from workbench.pipeline.bias import BiasChoice, BiasJudged, bias
from workbench.pipeline.consistency import ConsistencyChoice, ConsistencyJudged, consistency
from workbench.pipeline.estimates import Estimate, estimate
from workbench.pipeline.judging import counts, find_run
from workbench.pipeline.labels import queue_agreement
from workbench.pipeline.pilot import PilotChoice, PilotJudged, pilot
from workbench.pipeline.planning import Plan, derived_seed, plan
from workbench.pipeline.reading import label_reader, read, template_reader
from workbench.pipeline.reliability import ReliabilityJudged, reliability
from workbench.pipeline.scoring import score_design
from workbench.pipeline.sides import sides
from workbench.pipeline.training import evaluation
from workbench.pipeline.verdicts import Verdicts, verdicts

__all__ = [
    "BiasChoice",
    "BiasJudged",
    "ConsistencyChoice",
    "ConsistencyJudged",
    "Estimate",
    "PilotChoice",
    "PilotJudged",
    "Plan",
    "Progress",
    "ReliabilityJudged",
    "Verdicts",
    "bias",
    "collect",
    "consistency",
    "counts",
    "derived_seed",
    "estimate",
    "evaluation",
    "find_run",
    "label_reader",
    "pilot",
    "plan",
    "queue_agreement",
    "read",
    "reliability",
    "score_design",
    "sides",
    "template_reader",
    "verdicts",
]
