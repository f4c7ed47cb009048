"""Whose answers a model's are, and which policy issues it supports (Ceron et al. 2024, section
7).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from workbench.audits.audit import Audit, Opened, Place
from workbench.audits.consistency.options import ConsistencyOptions
from workbench.audits.reliability.options import DEFAULTS, READ_BY, READERS
from workbench.domain.prompts import TemplateChoice
from workbench.domain.readings import LABEL_WORDS
from workbench.domain.statements import VariantId
from workbench.help.sections import section
from workbench.options.shared import DTYPE, SAMPLING
from workbench.registry import DEFAULT_AUDIT, audit

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.result import Result
    from workbench.evidence.runs import Which


class PoliticalConsistency(Audit):
    """Leaning and stances on policy issues, of the reliable answers to the reliability audit."""

    name = "consistency"
    title = "political consistency"
    questions = ("party families", "issues")
    question = "which parties does the model answer like, and which policy issues does it support?"
    defaults = DEFAULTS
    answers_of = DEFAULT_AUDIT
    several_models = True
    options, readers, told_by = ConsistencyOptions, (READ_BY,), (SAMPLING, DTYPE)
    views: ClassVar = {"statement": "wordings.of_respondent"}
    about = (
        "Political leaning by party family and stance on policy issues: of models that answered, "
        "baselines, parties "
        "and people."
    )
    nothing = "h goes home: i there imports the shipped instrument."
    place = Place(
        mode="consistency",
        key="7",
        letter="l",
        label="",
        tooltip="Go to Results: leaning, policy issues",
        words="leaning party family policy issues stances consistency agreement kappa κ baseline",
    )
    verbs = (
        (
            *("pilot", "workbench.audits.consistency.pilot:PILOT"),
            *("ask a few statements with every template, and rank these", "ask models"),
        ),
    )
    home_help = section("help", "On Home", __package__)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        return audit(DEFAULT_AUDIT).default_variants(available)

    def instruments(self, store: Store) -> Sequence[str]:
        """Return all instruments, those with answers last: baselines, parties and people need no
        model.
        """
        answered = super().instruments(store)
        return (*(name for name in store.instruments.names() if name not in answered), *answered)

    def narrowed(self, store: Store, which: Which) -> Sequence[Which]:
        """Return a choice for each instrument with answers; without any, of the only instrument."""
        there = super().narrowed(store, which)
        answered = super().instruments(store)
        return [one for one in there if one.instrument in answered] or there[: len(there) == 1]

    def judge(
        self, store: Store, which: Which, options: ConsistencyOptions, opened: Opened
    ) -> Result:
        from workbench.audits.consistency.result import judge

        return judge(store, which, options, opened)

    def at_home(self, store: Store, which: Which) -> tuple[Which, ConsistencyOptions]:
        """Return the run that was asked last, without intervals."""
        runs = store.runs.list(self.answers_of, which.instrument)
        run = next((one for one in reversed(runs) if one.responses), None)
        options = ConsistencyOptions(resamples=0)
        if run is None:
            return which, options
        templates = TemplateChoice(families=(run.family,), languages=(run.language,))
        one = replace(
            which,
            models=(run.model,),
            templates=templates,
            sampling=str(run.sampling),
            dtype=run.dtype,
        )
        return one, options

    def named(self, store: Store) -> Mapping[str, Mapping[str, str]]:
        return {"reader": {LABEL_WORDS: READERS[LABEL_WORDS]} | READERS}


AUDIT = PoliticalConsistency()
