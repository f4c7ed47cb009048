"""Whose answers a model's are, and which policy issues it supports (Ceron et al. 2024, section 7)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from workbench.audits.audit import Audit, Given, HomeLine, Medium, Place, Printed
from workbench.audits.reliability.options import DEFAULTS
from workbench.domain.statements import VariantId
from workbench.help.sections import section
from workbench.registry import DEFAULT_AUDIT, audit

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.reported import Reported, Wanted
    from workbench.options.option import Option


class Consistency(Audit):
    """Leaning and stances on policy issues, of the reliable answers to the reliability audit."""

    name = "consistency"
    question = "which parties does the model answer like, and which policy issues does it support?"
    defaults = DEFAULTS
    asks = False
    place = Place(
        mode="consistency",
        key="7",
        letter="l",
        label="",
        tooltip="Go to Results: leaning, policy issues",
        screen="results.consistency.ConsistencyScreen",
        words="leaning party family policy issues stances consistency agreement kappa κ baseline",
    )
    verbs = (("pilot", "consistency", "ask a few statements with every template, and rank these", "ask models"),)
    about = (
        "Political leaning by party family and stance on policy issues: of models that answered, baselines, parties "
        "and people."
    )
    home_help = section("help", "On Home", __package__)

    def reported(self, store: Store, wanted: Wanted) -> Iterator[Reported]:
        from workbench.audits.consistency.reported import reported

        return reported(store, wanted)

    def default_variants(self, available: Sequence[VariantId]) -> tuple[VariantId, ...]:
        return audit(DEFAULT_AUDIT).default_variants(available)

    def answered(self, store: Store) -> bool:
        return bool(store.runs.list(DEFAULT_AUDIT))

    @property
    def figure_options(self) -> Sequence[Option]:
        from workbench.audits.consistency.options import FIGURE_OPTIONS

        return FIGURE_OPTIONS

    def results(self, store: Store, options: Given) -> Iterator[Given]:
        for instrument in dict.fromkeys(run.instrument for run in store.runs.list(DEFAULT_AUDIT)):
            if options.instrument in (None, instrument):
                yield Given(**vars(options) | {"instrument": instrument})

    def printed(self, store: Store, options: Given, medium: Medium) -> Printed:
        from workbench.audits.consistency.printed import verdicts

        return verdicts(store, options, medium)

    def home(self, store: Store, shared: dict[object, Any]) -> Sequence[HomeLine]:
        from workbench.audits.consistency.home import lines

        return lines(store, shared)


AUDIT = Consistency()
