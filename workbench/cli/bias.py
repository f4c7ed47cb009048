"""Commands about the left/right bias."""

from __future__ import annotations

from workbench.audits.bias_score import AUDIT, LABELS
from workbench.cli.figures import FIGURES
from workbench.cli.results import show
from workbench.cli.verbs import Namespace, verb
from workbench.options.shared import STORE


@verb(STORE, AUDIT.figure_options, FIGURES)
def bias(options: Namespace) -> int:
    """Print or write the bias of every model."""
    return show(AUDIT, options)


@verb(STORE, LABELS.figure_options, FIGURES)
def sides(options: Namespace) -> int:
    """Print or write what a model said of the statements' sides, and its kappa with people and with the instrument."""
    return show(LABELS, options)
