"""The pipeline from an instrument to verdicts: plan, collect, read and judge.

The terminal, the command line and the worker share it. It names no audit where the registry can.
"""

from workbench.evidence.reader_quality import evaluation
from workbench.pipeline.asking import AskingProgress, collect
from workbench.pipeline.design_checks import check_batched
from workbench.pipeline.estimates import PlanEstimate, estimate
from workbench.pipeline.planning import Plan, derived_seed, plan
from workbench.pipeline.scoring import score_design

__all__ = [
    "AskingProgress",
    "Plan",
    "PlanEstimate",
    "check_batched",
    "collect",
    "derived_seed",
    "estimate",
    "evaluation",
    "plan",
    "score_design",
]
