"""Theory-grounded left/right bias of free answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Audit, Demonstration, Given, HomeLine, Material, Medium, Place, Printed
from workbench.audits.bias_score.options import DEFAULTS, FIGURE_OPTIONS, LABELS_DEFAULTS, RESULT_OPTIONS, SIDES_OPTIONS
from workbench.domain.prompts import Probe
from workbench.domain.statements import Statement, VariantId
from workbench.help.sections import section

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reported import Reported, Wanted
    from workbench.options.option import Option


class BiasScore(Audit):
    """Free answers under prefixes: does a model agree with one side more than with the other?"""

    name = "bias_score"
    defaults = DEFAULTS
    question = "free-text answers under ten prefixes: does the model agree with one side more than with the other?"
    free_text = True
    needs_sides = True
    judging = RESULT_OPTIONS
    place = Place(
        mode="results",
        key="6",
        letter="r",
        label="Bias",
        tooltip="Go to Results: the left/right bias",
        screen="results.bias.BiasScreen",
        words="bias left right plane economic cultural dimensions stances classifier calibration threshold quality",
    )
    verbs = (("bias", "bias", "left/right bias by model, dimension, prefix and wording"),)
    command = "bias STORE"
    then = "sample STORE --name test --purpose test"
    told_apart = False
    after = "people label a sample, or a classifier reads all answers: n, then c"
    home_help = section("help", "On Home", __package__)

    def demonstration(self) -> Demonstration:
        from workbench.audits.bias_score.demo import design

        return Demonstration(design, mode="annotate", personas=("left", "yes-sayer"))

    def reported(self, store: Store, wanted: Wanted) -> Iterator[Reported]:
        from workbench.audits.bias_score.reported import reported

        return reported(store, wanted)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.bias_score.tally import default_variants

        return default_variants(available)

    def detects(
        self, statements: Sequence[Statement], probes: Sequence[Probe], samples: int, material: Material
    ) -> str:
        from workbench.audits.bias_score.detects import detects

        return detects(statements)

    @property
    def figure_options(self) -> Sequence[Option]:
        return FIGURE_OPTIONS

    def results(self, store: Store, options: Given) -> Iterator[Given]:
        if self.answered(store):
            yield options  # one result about all models and instruments

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        from workbench.audits.bias_score.printed import bias

        return bias(store, options, medium)

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        from workbench.audits.bias_score.home import lines

        return lines(store)


class StatementLabels(Audit):
    """What a model says of the dimension and the side of each statement."""

    name = "statement_labels"
    defaults = LABELS_DEFAULTS
    question = "is a statement economic or cultural, left or right?"
    by_rule = True
    verbs = (("sides", "bias", "sides that a model gives the statements", "read answers"),)
    command = "sides STORE"

    def reported(self, store: Store, wanted: Wanted) -> Iterator[Reported]:
        from workbench.audits.bias_score.reported import labels_reported

        return labels_reported(store, wanted)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        from workbench.audits.bias_score.statement_labels import default_variants

        return default_variants(available)

    @property
    def figure_options(self) -> Sequence[Option]:
        return SIDES_OPTIONS

    def results(self, store: Store, options: Given) -> Iterator[Given]:
        for run in store.runs.list(self.name, options.instrument, options.model):
            told = {"model": run.model, "instrument": run.instrument, "language": run.language, "family": run.family}
            yield Given(**vars(options) | told)

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        from workbench.audits.bias_score.printed import sides

        return sides(store, options)


AUDIT, LABELS = BiasScore(), StatementLabels()
