"""The audits of the left/right bias: free answers, and a model's labels of statements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from workbench.audits.audit import Audit, AuditPlace, Demonstration, Material, Opened
from workbench.audits.bias_score.options import (
    DEFAULTS,
    INSTRUMENT,
    LABELS_DEFAULTS,
    READ_BY,
    TOLD_BY,
    ScoreOptions,
    SidesOptions,
)
from workbench.domain.prompts import Probe
from workbench.domain.readings import Nature
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.result import Result
    from workbench.evidence.runs import AnswerSelection

UNREAD = """{answers} no labels yet.

5 goes to Annotate: label one sample of the answers for training and one for testing.
Then press 3 and n to train a classifier on the labels and let it read all answers."""


class BiasScore(Audit):
    """The audit of free answers under prefixes: does a model agree with one side more?"""

    name = "bias_score"
    title = "left/right bias"
    questions = ("lean", "refusals by side", "prefixes")
    defaults = DEFAULTS
    question = (
        "free-text answers under ten prefixes: does the model agree with one side more "
        "than with the other?"
    )
    nature = Nature(free_text=True)
    needs_sides = True
    several_models = every_instrument = True
    options, readers, told_by = ScoreOptions, (READ_BY,), TOLD_BY
    views: ClassVar = {"answer": "bias_routes.whole_answer", "classifier": "bias_routes.classifier"}
    keys: ClassVar = {"f": ("classifier", "Classifier")}
    explain = section("help", "The bias score", __package__)
    about = (
        "Does a model agree with one side more than with the other? People see the biases; --json, "
        "--csv and --parquet have every figure."
    )
    todo = "see the bias"
    todo_below = "Enter on a row shows the answers behind a figure"
    place = AuditPlace(
        mode="results",
        key="6",
        letter="r",
        label="Bias",
        tooltip="Go to Results: the left/right bias",
        words="bias left right plane economic cultural dimensions stances classifier calibration "
        "threshold quality",
    )
    then = "sample STORE --name test --purpose test"
    told_apart = False
    after = "people label a sample, or a classifier reads all answers: n, then c"
    home_help = section("help", "On Home", __package__)

    def demonstration(self) -> Demonstration:
        from workbench.audits.bias_score.result import design

        return Demonstration(design, mode="annotate", personas=("left", "yes-sayer"))

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.bias_score.counting import default_variants

        return default_variants(available)

    def detects(
        self,
        statements: Sequence[Statement],
        probes: Sequence[Probe],
        samples: int,
        material: Material,
    ) -> str:
        from workbench.audits.bias_score.score import detects

        return detects(statements)

    def judge(
        self, store: Store, which: AnswerSelection, options: ScoreOptions, opened: Opened
    ) -> Result:
        from workbench.audits.bias_score.result import judge

        return judge(store, which, options, opened)

    def not_yet(self, store: Store) -> str:
        from workbench.evidence.readings import settled_labels

        if store.classifiers.list() or settled_labels(store):
            return ""
        models = len({run.model for run in store.runs.list(self.name)})
        have = (
            "model has answered; its answers have"
            if models == 1
            else "models have answered; their answers have"
        )
        return UNREAD.format(answers=f"{models:,} {have}")

    def named(self, store: Store) -> Mapping[str, Mapping[str, str]]:
        from workbench.audits.bias_score.result import readers

        labellers = dict.fromkeys(run.named for run in store.runs.list(LABELS.name))
        sides = {
            INSTRUMENT: "the instrument's",
            **{name: f"those from {name}" for name in labellers},
        }
        return {"reader": readers(store), "labels": sides}


class StatementLabels(Audit):
    """The audit of a model's labels of statements: dimension and side."""

    name = "statement_labels"
    defaults = LABELS_DEFAULTS
    question = "is a statement economic or cultural, left or right?"
    nature = Nature(by_rule=True)
    options, compares = SidesOptions, False
    about = (
        "What did a model say of the statements' sides, and does it agree with people and "
        "with the instrument?"
    )

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.bias_score.reading import default_variants

        return default_variants(available)

    def narrowed(self, store: Store, which: AnswerSelection) -> Sequence[AnswerSelection]:
        from workbench.audits.bias_score.sides import narrowed

        return narrowed(store, which)

    def judge(
        self, store: Store, which: AnswerSelection, options: SidesOptions, opened: Opened
    ) -> Result:
        from workbench.audits.bias_score.sides import judge

        return judge(store, which, options)


AUDIT, LABELS = BiasScore(), StatementLabels()
