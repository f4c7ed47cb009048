"""Political consistency: the parties and policy issues that a model supports.

Ceron et al. 2024, section 7.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.audits.audit import Audit, AuditPlace, Opened
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
    from workbench.audits.printed import HomeLine
    from workbench.audits.result import Result
    from workbench.evidence.runs import AnswerSelection


class PoliticalConsistency(Audit):
    """The audit of leaning and stances on policy issues, from answers to the reliability audit."""

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
        "baselines, parties and people."
    )
    nothing = "h goes home: i there imports the shipped instrument."
    place = AuditPlace(
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
        """Return all instruments, those with answers last.

        Baselines, parties and people need no model.
        """
        answered_names = super().instruments(store)
        return (
            *(name for name in store.instruments.names() if name not in answered_names),
            *answered_names,
        )

    def narrowed(self, store: Store, which: AnswerSelection) -> Sequence[AnswerSelection]:
        """Return a selection for each instrument with answers, or else for the only instrument."""
        selections = super().narrowed(store, which)
        answered_names = super().instruments(store)
        return [
            selection for selection in selections if selection.instrument in answered_names
        ] or selections[: len(selections) == 1]

    def judge(
        self, store: Store, which: AnswerSelection, options: ConsistencyOptions, opened: Opened
    ) -> Result:
        from workbench.audits.consistency.result import judge

        return judge(store, which, options, opened)

    def at_home(
        self, store: Store, which: AnswerSelection
    ) -> tuple[AnswerSelection, ConsistencyOptions]:
        """Return the newest run, a finished one if there is any, and options without intervals."""
        from workbench.evidence.answered import finished_first

        runs = store.runs.list(self.answers_of, which.instrument)
        answered_runs = [candidate for candidate in runs if candidate.responses]
        options = ConsistencyOptions(resamples=0)
        if not answered_runs:
            return which, options
        (run,) = finished_first(store, answered_runs, 1)
        templates = TemplateChoice(families=(run.family,), languages=(run.language,))
        selection = replace(
            which,
            models=(run.model,),
            templates=templates,
            sampling=str(run.sampling),
            dtype=run.dtype,
        )
        return selection, options

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        """Return Home's line, with the run's name among all runs, not among the one that it has."""
        from workbench.evidence.runs import named_runs

        runs = named_runs(store.runs.list(self.answers_of))
        lines = []
        for line in super().home(store, shared):
            names = [name for name, run in runs.items() if run == line.run]
            lines.append(replace(line, main=names[0]) if names else line)
        return lines

    def named(self, store: Store) -> Mapping[str, Mapping[str, str]]:
        return {"reader": {LABEL_WORDS: READERS[LABEL_WORDS]} | READERS}


AUDIT = PoliticalConsistency()
