"""What the analysis of political consistency may be told."""

from __future__ import annotations

from workbench.audits.reliability.options import JUDGING
from workbench.options.option import Option, flag
from workbench.options.shared import COMPARE, METHODS, MODEL, MODELS, OF_RUN, REFUSALS, RESAMPLES

FORMULA = Option(
    "formula", "formula of the stance on policy issues", default="signed", choices=("signed", "tacl", "v1", "all")
)
VIEW = Option("view", "which matches count", default="all", choices=("all", "agree", "disagree"))
LABELS = Option("labels", "policy-issue labels: the source's, or people's", default="gold", choices=("gold", "people"))
RESULT_OPTIONS = (FORMULA, VIEW, LABELS, RESAMPLES)
SHOWN = (
    flag("baselines", "show the baselines always agree and always disagree"),
    flag("parties", "each party: its own stances, and how often models match it"),
    flag("people", "stances of the people who answered the survey"),
    Option("issue", "the statements behind the stance on this policy issue", metavar="ISSUE"),
    Option("party", "the statements behind the share with this party", metavar="COUNTRY/NAME"),
    COMPARE,
    REFUSALS,
)
FIGURE_OPTIONS = (MODELS, *(one for one in OF_RUN if one is not MODEL), *JUDGING, *RESULT_OPTIONS, *SHOWN, METHODS)
"all that its figures may be told"
