"""Train a stance classifier on people's labels, and let a classifier read answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, ClassVar, Self

from workbench import registry
from workbench.classifier.config import (
    EMBEDDED_BASE,
    PUBLISHED_BASE,
    Confidence,
    Premise,
    TrainConfig,
)
from workbench.commands.command import (
    JobCommand,
    OptionChoices,
    Outcome,
    Preview,
    option,
    shared_option,
)
from workbench.domain.job_kinds import CLASSIFY, TRAIN
from workbench.errors import JobError, UsageError
from workbench.options.option import Type
from workbench.options.shared import CODEBOOK, INSTRUMENT, MODELS, SEED

if TYPE_CHECKING:
    from stores.annotation.labels import Classifier
    from stores.core.store import Store
    from workbench.pipeline.training import TrainSpec

AS_BASE = "as the base needs"
"default of the settings: each base has its own (`TrainConfig.for_base`)"
SETTINGS = (
    "steps",
    "batch",
    "learning_rate",
    "weight_decay",
    "warmup",
    "dev_share",
    "patience",
    "eval_every",
    "max_length",
    "hypothesis",
    "premise",
    "confidence",
)
"options with the names of fields of `TrainConfig`"
QUEUE_NAMES = "QUEUE,…"


@dataclass(frozen=True)
class TrainCommand(JobCommand):
    """Fine-tune a stance classifier on labels, and test it on others."""

    KIND = TRAIN
    HEADING = "train a classifier"
    HELP = ("screens-annotation", "Training a classifier")
    FORM = (
        ("name",),
        ("base",),
        ("steps", "batch", "learning_rate"),
        ("weight_decay", "warmup", "seed"),
        ("dev_share", "patience", "by_statement"),
        ("premise", "confidence"),
        ("hypothesis",),
        ("eval_every", "max_length", "codebook"),
        ("training", "test"),
    )
    NEXT = "Next: workbench classifiers STORE, and workbench classify STORE"

    name: str = option("stance", "name of the classifier")
    base: str = option(
        EMBEDDED_BASE,
        f"minilm, a folder or a hub id such as {PUBLISHED_BASE}",
        leading=True,
    )
    training: tuple[str, ...] = option(
        None,
        "training sets",
        none="all training queues",
        metavar=QUEUE_NAMES,
        completes="queues",
        ticked=True,
        all_by_default=True,
    )
    test: tuple[str, ...] = option(
        None,
        "test sets",
        none="all test queues",
        metavar=QUEUE_NAMES,
        completes="queues",
        ticked=True,
        all_by_default=True,
    )
    codebook: str = shared_option(CODEBOOK.but(choices=()), leading=True)
    by_statement: bool = option(
        False, "also refuse sets that share a statement", label="split by statement"
    )
    steps: int | None = option(None, type=Type.WHOLE, none=AS_BASE, least=1)
    batch: int | None = option(
        None, "pairs of premise and hypothesis a step", type=Type.WHOLE, none=AS_BASE, least=1
    )
    learning_rate: float | None = option(None, type=Type.NUMBER, none=AS_BASE, above=0)
    weight_decay: float | None = option(None, type=Type.NUMBER, none=AS_BASE, least=0)
    warmup: int | None = option(
        None,
        "steps in which the learning rate rises",
        type=Type.WHOLE,
        none=AS_BASE,
        least=0,
        label="warm-up",
    )
    dev_share: float | None = option(
        None,
        "of the training items, held out to choose the best step; 0: the last step is kept",
        type=Type.NUMBER,
        none=AS_BASE,
        least=0,
        most=0.5,
        metavar="SHARE",
    )
    patience: int | None = option(
        None,
        "evaluations without a better result after which training ends",
        type=Type.WHOLE,
        none="all steps are taken",
        least=1,
    )
    eval_every: int | None = option(
        None, "steps between evaluations", type=Type.WHOLE, none=AS_BASE, least=1
    )
    max_length: int | None = option(
        None,
        "of premise and hypothesis together, in tokens",
        type=Type.WHOLE,
        none=AS_BASE,
        least=16,
    )
    hypothesis: str | None = option(
        None, "with {label} where a label stands", none=AS_BASE, metavar="TEXT"
    )
    premise: str | None = option(
        None,
        "what the hypothesis is held against",
        none=AS_BASE,
        choices=tuple(premise.value for premise in Premise),
    )
    confidence: str | None = option(
        None,
        "what the number beside a label is",
        none=AS_BASE,
        choices=tuple(confidence.value for confidence in Confidence),
    )
    seed: int = shared_option(SEED.of("the training"))

    @classmethod
    def from_specification(cls, store: Store, specification: Mapping[str, Any]) -> Self:  # noqa: ARG003  of the interface
        from workbench.pipeline.training import TrainSpec

        spec = TrainSpec.from_json(specification)
        config = spec.config.as_json()
        return cls(
            name=spec.name,
            base=spec.config.base,
            training=spec.training,
            test=spec.test,
            codebook=spec.codebook,
            by_statement=spec.by_statement,
            seed=spec.config.seed,
            **{name: config[name] for name in SETTINGS},
        )

    @classmethod
    def choices(cls, store: Store, texts: Mapping[str, Any]) -> Mapping[str, OptionChoices]:
        """Return a free name, the queues of the codebook, and the settings of the base."""
        options = cls.options()
        defaults = TrainConfig.for_base(texts.get("base") or EMBEDDED_BASE).as_json()
        choices = {
            name: OptionChoices.from_names(
                options[name].choices, options[name].text(defaults[name])
            )
            for name in SETTINGS
            if defaults[name] is not None
        }
        note = f"a folder, a hub id such as {PUBLISHED_BASE} (published), or {EMBEDDED_BASE}"
        choices["base"] = OptionChoices(default=EMBEDDED_BASE, note=note)
        choices["name"] = OptionChoices(default=free_name(store))
        codebook = texts.get("codebook") or options["codebook"].default
        queues = [queue for queue in store.queues.list() if queue.codebook.name == codebook]
        for purpose in ("training", "test"):
            names = [queue.name for queue in queues if queue.purpose == purpose]
            choices[purpose] = OptionChoices.from_names(names, ",".join(names))
        return choices

    def config(self) -> TrainConfig:
        """Return the settings: those of the base, with the options that were given."""
        if not self.base.strip():
            reason = f"give a hub id or a folder, or {EMBEDDED_BASE}, which ships"
            raise self.options()["base"].error(reason)
        given = {name: getattr(self, name) for name in SETTINGS if getattr(self, name) is not None}
        if "premise" in given:
            given["premise"] = Premise(given["premise"])
        if "confidence" in given:
            given["confidence"] = Confidence(given["confidence"])
        if given.get("dev_share") == 0:
            # Without held-out items no evaluation can end the training.
            given.setdefault("patience", None)
        return replace(TrainConfig.for_base(self.base.strip()), seed=self.seed, **given)

    def training_spec(self) -> TrainSpec:
        """Return the specification of the job."""
        from workbench.pipeline.training import TrainSpec

        return TrainSpec(
            name=self.name,
            config=self.config(),
            codebook=self.codebook,
            training=self.training,
            test=self.test,
            by_statement=self.by_statement,
        )

    def preview(self, store: Store) -> Preview:
        """Return what the classifier would learn from and be tested on.

        Raises UsageError if there are too few labels, LeakError if the test set is not unseen.
        """
        from workbench.pipeline.training import plan_training

        plan = plan_training(store, self.training_spec())
        data = {
            "spec": plan.spec.as_json(),
            "training": len(plan.train),
            "test": len(plan.test),
            "warnings": plan.warnings,
            "ruled": len(plan.ruled.examples),
            "ruled_left_out": plan.ruled.refused,
        }
        return Preview(plan.describe(), plan.spec.config.steps, plan.spec.as_json(), data)

    def check_start(self, store: Store) -> None:
        """Raise JobError if a job already trains a classifier of this name."""
        for job in store.jobs.list():
            if job.kind == self.KIND and job.under_way and job.spec["name"] == self.name:
                raise JobError(
                    f"job {job.id} trains a classifier named {self.name!r} already and {job.stands}"
                )


def free_name(store: Store) -> str:
    """Return the first of stance-1, stance-2, … that no classifier and no training job has."""
    jobs = [job for job in store.jobs.list() if job.kind == TrainCommand.KIND]
    taken = {str(job.spec.get("name", "")) for job in jobs}
    taken |= {classifier.name for classifier in store.classifiers.list()}
    return next(name for name in (f"stance-{n}" for n in count(1)) if name not in taken)


@dataclass(frozen=True)
class ClassifyCommand(JobCommand):
    """Let a classifier read the answers that it has not read."""

    KIND = CLASSIFY
    HEADING = "classify responses"
    HELP = ("screens-annotation", "Classifying answers")
    FORM = (("classifier",), ("instrument",), ("model",))
    NEXT = "Next: workbench show STORE bias_score"

    classifier: str | None = option(
        None, none="the newest", completes="classifiers", selected=True, leading=True
    )
    instrument: str | None = shared_option(INSTRUMENT.but(none="all"), selected=True)
    model: tuple[str, ...] = shared_option(
        MODELS.but(none="all models that answered"), ticked=True, all_by_default=True
    )

    ALL_INSTRUMENTS: ClassVar = ("all instruments", "")

    @classmethod
    def from_specification(cls, store: Store, specification: Mapping[str, Any]) -> Self:  # noqa: ARG003  of the interface
        from workbench.pipeline.training import ClassifySpec

        spec = ClassifySpec.from_json(specification)
        return cls(spec.classifier, spec.instrument, spec.models)

    @classmethod
    def choices(cls, store: Store, texts: Mapping[str, Any]) -> Mapping[str, OptionChoices]:
        """Return the classifiers, the newest first, and whose answers there are."""
        from workbench.evidence import readings

        notes = {each.name: about(each) for each in reversed(store.classifiers.list())}
        if not notes:
            raise UsageError("There is no classifier yet. Esc, then n and t: train one.")
        runs = readings.free_text_runs(store)
        instruments = OptionChoices.from_names(dict.fromkeys(run.instrument for run in runs), "")
        models = tuple(dict.fromkeys(run.model for run in runs))
        newest = next(iter(notes))
        note = notes.get(texts.get("classifier") or newest, "")
        return {
            "classifier": OptionChoices([(name, name) for name in notes], newest, note),
            "instrument": replace(instruments, values=[cls.ALL_INSTRUMENTS, *instruments.values]),
            "model": OptionChoices.from_names(models, ",".join(models)),
        }

    def preview(self, store: Store) -> Preview:
        """Return how many answers the classifier has to read.

        Raises UsageError if there are none at all, UnknownName for an unknown classifier or model.
        """
        from workbench.evidence.runs import names_of_models
        from workbench.pipeline.training import ClassifySpec, plan_classifying

        name = store.classifiers.get(self.classifier).name
        models = names_of_models(store, self.model)
        spec = ClassifySpec(name, instrument=self.instrument, models=models)
        classifier, total, unread = plan_classifying(store, spec)
        n_read = total - unread
        percent = f"{100 * n_read / total:.0f} %"
        text = (
            f"{name} reads {registry.audit_title(spec.audit)} answers of "
            f"{', '.join(models) or 'all models'} on {self.instrument or 'all instruments'}\n"
            f"{total:,} different responses with their statements; {n_read:,} "
            f"({percent}) have been read; {unread:,} to read"
        )
        data = {"responses": total, "left": unread}
        if unread:
            return Preview(text, total, spec.as_json(), data)

        def order_queues(opened: Store) -> Outcome:
            opened.queues.prioritise(classifier.reader)
            return Outcome(
                f"{name} has read all {total:,} responses. Queues now begin with what it is least "
                "sure of."
            )

        return Preview(
            f"{text}\nEverything has been read already.",
            0,
            data=data,
            immediate=order_queues,
            immediate_label="puts first in each queue what this classifier is least sure of",
        )


def about(classifier: Classifier) -> str:
    """Return one line on what a classifier was trained and tested on."""
    parts = [str(classifier.config.get("base", ""))]
    for purpose in ("training", "test"):
        n_responses = sum(classifier.data.get(purpose, {}).values())
        parts.append(f"{purpose} {n_responses:,} responses")
    parts.append(f"trained {classifier.created_at[:10]}")
    return " · ".join(filter(None, parts))
