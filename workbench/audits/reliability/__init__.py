"""ProbVAA: the audit of whether a stance is stable across repetition and wording.

Source: Ceron et al. 2024.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

from workbench.audits.audit import (
    Audit,
    AuditPlace,
    Demonstration,
    Given,
    Material,
    Medium,
    Opened,
    Printed,
)
from workbench.audits.reliability.options import (
    DEFAULTS,
    READ_BY,
    READERS,
    RUN_OPTIONS,
    ReliabilityOptions,
)
from workbench.domain.prompts import Probe
from workbench.domain.readings import Nature
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section
from workbench.options.shared import DTYPE, SAMPLING

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.audits.result import Result
    from workbench.domain.designs import Design
    from workbench.domain.readings import ReadingChoice
    from workbench.domain.reviews import RunSignals
    from workbench.evidence.letters import LabelProbabilities
    from workbench.evidence.runs import AnswerSelection
    from workbench.figures.table import AnyTable
    from workbench.stats.proportions import VerdictRule


class Reliability(Audit):
    """The audit of stances: verdicts on every statement, and kappas between wordings."""

    name = "reliability"
    defaults = DEFAULTS
    question = "does the model keep its stance across wordings, templates and label orders?"
    nature = Nature(by_rule=True)
    compares_wordings = True
    place = AuditPlace(
        mode="audit",
        key="4",
        letter="v",
        label="Audit",
        tooltip="Go to Audit: the verdicts",
        words="reliability reliable verdicts tests stances consistency agreement variability",
    )
    each_run = True
    run_options, options, readers, told_by = (
        RUN_OPTIONS,
        ReliabilityOptions,
        (READ_BY,),
        (SAMPLING, DTYPE),
    )
    views: ClassVar = {
        "wordings": "wordings.WordingsScreen",
        "answers": "wordings.answers",
        "prompt": "wordings.prompt",
    }
    keys: ClassVar = {"t": ("verdicts", "Template"), "a": ("mean_kappas", "Kappas")}
    filters: ClassVar = {"i": ("issues", "Issue"), "c": ("country", "Country")}
    explain = section("screens-results", "The rules for verdicts")
    todo = "see which statements are unreliable, and why"
    todo_below = "Enter on a row shows the answers behind a verdict"
    drawn_again = ("until_settled",)
    verbs = (
        (
            *("design", "workbench.audits.reliability.planning:DESIGN"),
            *("what a planned design can show, and what a claim needs", "ask models"),
        ),
    )
    after = "4 shows the verdicts"
    home_help = section("help", "On Home", __package__)

    def designed(self, store: Store, design: Design, own: Given) -> Design:
        return replace(design, until_settled=bool(own.until_settled))

    def given_in(self, design: Design) -> Mapping[str, Any]:
        return {"until_settled": design.until_settled}

    def verdict_rule(self, samples: int) -> VerdictRule:
        from workbench.audits.reliability.counting import usual_rule

        return usual_rule(samples)

    def said(self, spec: Mapping[str, Any]) -> list[str]:
        return ["until settled"] if spec.get("until_settled") else []

    def demonstration(self) -> Demonstration:
        from workbench.audits.reliability.result import design

        return Demonstration(
            design,
            personas=("left", "order-minded", "steady", "wavering", "yes-sayer"),
            reviewed="wavering",
        )

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.reliability.counting import default_variants

        return default_variants(available)

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        from workbench.audits.reliability.planning import detects

        return detects(probes, samples, drawn=samples > 0)

    def named(self, store: Store) -> Mapping[str, Mapping[str, str]]:
        return {"reader": READERS}

    def judge(
        self, store: Store, which: AnswerSelection, options: ReliabilityOptions, opened: Opened
    ) -> Result:
        from workbench.audits.reliability.result import judge

        return judge(store, which, options, opened)

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        if not options.compare:
            return super().printed(store, options, medium)
        from workbench.audits.reliability.result import compared_runs
        from workbench.evidence.runs import AnswerSelection

        which, judged_by = (
            AnswerSelection.from_arguments(options, store),
            ReliabilityOptions.of(options),
        )
        return compared_runs(store, which, judged_by, options.compare, options.where or (), medium)

    def judged_for_review(self, store: Store, run: Run, readings: ReadingChoice) -> RunSignals:
        from workbench.audits.reliability.review import judged

        return judged(store, run, readings)

    def verdict_tables(self, store: Store, run: Run, readings: ReadingChoice) -> Sequence[AnyTable]:
        from workbench.audits.reliability.judged import VerdictFigures as Figures
        from workbench.audits.reliability.tables import verdicts
        from workbench.audits.reliability.verdicts import run_verdicts

        report = run_verdicts(store, run, readings=readings).report
        figures = Figures(
            report, store.runs.instrument(run), run.language, changed=store.runs.outdated(run)
        )
        return [verdicts(figures, template) for template in ("", *figures.templates)]

    def label_probabilities(self, store: Store, run: Run) -> Iterator[LabelProbabilities]:
        from workbench.audits.reliability.verdicts import label_probabilities

        return label_probabilities(store, run)

    def known_for_review(self, run: Run, shared: Mapping[object, Any]) -> RunSignals | None:
        from workbench.audits.reliability.review import count_signals

        result: Result | None = shared.get((self.name, run))
        return None if result is None else count_signals(result.judged.report)


AUDIT = Reliability()
