"""Let models compare the wordings of an instrument: similarities and entailments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from workbench.commands.command import JobCommand, OptionChoices, Preview, option, shared_option
from workbench.domain.job_kinds import CHECK
from workbench.errors import FieldError, UsageError
from workbench.options.option import Type
from workbench.options.shared import INSTRUMENT, LANGUAGE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.checking import CheckSpec
    from workbench.workshop.meaning import Thresholds

NO_ENCODER = "none"
COSINES = ("low", "low_negation", "high", "twin")
"options with the names of fields of `Thresholds`"


def _cosine(label: str, help_text: str) -> Any:
    return option(
        None,
        help_text,
        type=Type.NUMBER,
        none="as it is",
        least=-1,
        most=1,
        label=label,
        metavar="COSINE",
    )


@dataclass(frozen=True)
class CheckCommand(JobCommand):
    """Compute similarities and entailments of wordings."""

    KIND = CHECK
    HEADING = "check wordings"
    HELP = ("screens-statements", "Checking wordings")
    FIRST = "encoder"
    FORM = (
        ("instrument",),
        ("encoder",),
        ("nli",),
        ("low", "low_negation"),
        ("high", "twin"),
        ("language",),
    )
    NEXT = "Next: workbench lint STORE"

    instrument: str | None = shared_option(INSTRUMENT, selected=True, leading=True)
    encoder: str = option("minilm", "minilm, a hub id, a folder, or none", metavar="MODEL")
    nli: str = option(
        "",
        "entailment model, a hub id or a folder, to check the expected relations",
        label="entailment",
        metavar="MODEL",
    )
    language: tuple[str, ...] = shared_option(LANGUAGE.but(metavar="L,…"), ticked=True)
    low: float | None = _cosine(
        "too different below",
        "a variant whose cosine with its original is below this may have lost the meaning",
    )
    low_negation: float | None = _cosine(
        "negation", "the same for negations, which keep the words of their original"
    )
    high: float | None = _cosine(
        "nearly identical from", "a paraphrase from this cosine on hardly varies"
    )
    twin: float | None = _cosine(
        "duplicates from", "two statements of one country from this cosine on say the same"
    )

    @classmethod
    def from_specification(cls, store: Store, specification: Mapping[str, Any]) -> Self:  # noqa: ARG003  of the interface
        from workbench.pipeline.checking import CheckSpec

        spec = CheckSpec.from_json(specification)
        thresholds = asdict(spec.thresholds)
        return cls(
            instrument=spec.instrument,
            encoder=spec.encoder or NO_ENCODER,
            nli=spec.nli,
            language=spec.languages,
            **{name: thresholds[name] for name in COSINES},
        )

    @classmethod
    def choices(cls, store: Store, texts: Mapping[str, Any]) -> Mapping[str, OptionChoices]:
        """Return the instruments, the languages of one, and the thresholds of its last check."""
        from workbench.pipeline.checking import thresholds_of

        names = store.instruments.names()
        if not names:
            raise UsageError(
                "The store has no instrument yet. Esc, then 2: make one, or import one."
            )
        name = texts.get("instrument")
        if name not in names:
            name = names[0]
        instrument = store.instruments.get(name)
        languages = {
            wording.language
            for statement in instrument.statements
            for wording in statement.wordings
        }
        thresholds, options = asdict(thresholds_of(store, name)), cls.options()
        choices = {
            cosine: OptionChoices(default=options[cosine].text(thresholds[cosine]))
            for cosine in COSINES
        }
        choices["instrument"] = OptionChoices.from_names(names, name)
        choices["language"] = OptionChoices.from_names(sorted(languages), instrument.language)
        return choices

    def check_spec(self, store: Store) -> CheckSpec:
        """Return the specification of the job. Raises FieldError."""
        from workbench.pipeline.checking import CheckSpec, thresholds_of

        name = self.instrument or store.instruments.only()
        given = {
            cosine: getattr(self, cosine) for cosine in COSINES if getattr(self, cosine) is not None
        }
        thresholds = replace(thresholds_of(store, name), **given)
        if thresholds.low >= thresholds.high:
            raise self._out_of_order(thresholds)
        encoder = "" if self.encoder.strip() == NO_ENCODER else self.encoder.strip()
        return CheckSpec(name, encoder, self.nli.strip(), self.language, thresholds)

    def preview(self, store: Store) -> Preview:
        """Return how many texts and pairs have to be computed.

        Raises UsageError if there is nothing to check, MissingPackage and ModelError for a model
        that is not available.
        """
        from workbench.pipeline.checking import plan_check, thresholds_of

        spec = self.check_spec(store)
        plan = plan_check(store, spec)
        data = {
            "texts": len(plan.texts),
            "texts_left": len(plan.texts_left),
            "pairs": len(plan.pairs),
            "pairs_left": len(plan.pairs_left),
            "thresholds": asdict(spec.thresholds),
        }
        text = plan.describe()
        if plan.left:
            return Preview(text, plan.total, plan.spec.as_json(), data)
        if spec.thresholds == thresholds_of(store, spec.instrument):
            return Preview(f"{text}\nEverything is stored already.", 0, data=data)
        return Preview(f"{text}\nOnly the cosines change.", plan.total, plan.spec.as_json(), data)

    def _out_of_order(self, thresholds: Thresholds) -> FieldError:
        options = self.options()
        low, high = options["low"], options["high"]
        limit = f"{high.title!r} ({high.flag})"
        return low.error(f"found {thresholds.low:g}; give less than {thresholds.high:g}, {limit}")
