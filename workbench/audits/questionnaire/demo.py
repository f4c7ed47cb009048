"""The questionnaire audit as it is shown to somebody new."""

from __future__ import annotations

from stores.core.store import Store
from workbench.audits.questionnaire.current import AUDIT
from workbench.audits.questionnaire.plan import DEFAULTS
from workbench.data import SHIPPED_QUESTIONNAIRE
from workbench.domain.designs import Design
from workbench.domain.questionnaires import Contexts
from workbench.domain.responses import EXACTLY
from workbench.domain.statements import ORIGINAL

CONTEXTS = Contexts(("qm", "zero-shot", "random"), respondents=16)


def design(store: Store, model: str) -> Design:  # noqa: ARG001  as the demonstration of any audit is made
    """Return a design on a few synthetic respondents."""
    variants = (str(ORIGINAL),)
    return Design(
        SHIPPED_QUESTIONNAIRE,
        model,
        AUDIT,
        1,
        EXACTLY,
        family=DEFAULTS.family,
        variants=variants,
        contexts=CONTEXTS,
    )
