"""Commands about the stance classifier: train it, let it read, say how good it is."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from workbench.classifier.options import SETTINGS, TRAINED
from workbench.cli.output import (
    FIGURES,
    as_data,
    check_agreed,
    print_json,
    put_out,
    say,
    say_wrapped,
)
from workbench.cli.verbs import Namespace, verb
from workbench.cli.watching import ended, started, watch
from workbench.domain.names import listed
from workbench.options.option import Option, flag
from workbench.options.shared import (
    CODEBOOK,
    DETACH,
    INSTRUMENT,
    JSON,
    MODELS,
    SEED,
    STARTING,
    STORE,
    THRESHOLD,
)

if TYPE_CHECKING:
    from workbench.classifier.config import TrainConfig

CLASSIFIER = Option("classifier", none="the newest", completes="classifiers")


@verb(
    STORE,
    Option("name", "name of the classifier", default="stance"),
    Option(
        "base", "minilm, a folder or a hub id such as facebook/bart-large-mnli", default="minilm"
    ),
    Option(
        "training",
        "training sets",
        none="all training queues",
        metavar="QUEUE,…",
        completes="queues",
    ),
    Option("test", "test sets", none="all test queues", metavar="QUEUE,…", completes="queues"),
    CODEBOOK.but(choices=()),
    flag("by_statement", "also refuse sets that share a statement"),
    TRAINED,
    STARTING,
    JSON,
)
def train(options: Namespace) -> int:
    """Say what a training uses, ask whether to start, start the worker, and watch it."""
    from stores.core.store import Store
    from workbench.jobs import launch
    from workbench.pipeline.training import TrainSpec, plan_training

    with Store.open(options.store) as store:
        spec = TrainSpec(
            name=options.name,
            config=_config(options),
            codebook=options.codebook,
            training=listed(options.training),
            test=listed(options.test),
            by_statement=options.by_statement,
        )
        plan = plan_training(store, spec)
        about = {
            "spec": spec.as_json(),
            "training": len(plan.train),
            "test": len(plan.test),
            "warnings": plan.warnings,
        }
        about |= {"ruled": len(plan.ruled.examples), "ruled_left_out": plan.ruled.refused}
        if not options.json:
            say_wrapped(plan.describe())
        if options.dry_run:
            if options.json:
                print_json(about)
            return 0
        check_agreed(options)
        job_id = launch.start_training(store, spec, plan)
        if options.detach:
            return started(options, job_id, {})
        job = watch(store, job_id, quiet=options.json)
    return ended(
        options, job, about, "Next: workbench classifiers STORE, and workbench classify STORE"
    )


@verb(
    STORE,
    CLASSIFIER,
    INSTRUMENT.but(none="all"),
    MODELS.but(none="all models that answered"),
    DETACH,
    JSON,
)
def classify(options: Namespace) -> int:
    """Let a classifier read what it has not read, in a worker."""
    from stores.core.store import Store
    from workbench.evidence.runs import names_of_models
    from workbench.jobs import launch
    from workbench.pipeline.training import ClassifySpec, plan_classifying

    with Store.open(options.store) as store:
        name = store.classifiers.get(options.classifier).name
        models = names_of_models(store, listed(options.model))
        spec = ClassifySpec(name, instrument=options.instrument, models=models)
        _, total, left = plan_classifying(store, spec)
        if not options.json:
            say(f"{name}: {left:,} of {total:,} responses to read")
        if not left:
            store.queues.prioritise(store.classifiers.get(name).reader)
            if options.json:
                print_json({"responses": total, "left": 0, "job": None})
            else:
                say("Next: workbench show STORE bias_score")
            return 0
        job_id = launch.start_classifying(store, spec)
        if options.detach:
            return started(options, job_id, {})
        job = watch(store, job_id, quiet=options.json)
    return ended(
        options, job, {"responses": total, "left": left}, "Next: workbench show STORE bias_score"
    )


@verb(STORE, CLASSIFIER, THRESHOLD, SEED.of("the bootstrap intervals"), FIGURES)
def classifiers(options: Namespace) -> int:
    """Print how good a classifier is on its test set, beside its untrained base."""
    from stores.core.store import Store
    from workbench.pipeline.classifier_figures import assessed, printed

    with Store.open(options.store) as store:
        known = [classifier.name for classifier in store.classifiers.list()]
        if not known and options.classifier is None:
            none = "There is no classifier yet. Train one: workbench train STORE"
            put_out(options, (), {"classifiers": known}, title="Classifiers", told=[none])
            return 0
        found = assessed(store, options.classifier, options.threshold, options.seed)
    others = ", ".join(name for name in known if name != found.classifier.name)
    told = [*found.told(), *([f"Other classifiers: {others}."] if others else [])]
    title = f"The classifier {found.classifier.name}"
    tables = printed(found, every=as_data(options))
    about = {"classifiers": known, **found.about()}
    put_out(options, tables, about, title=title, told=told, header=found.header)
    return 0


def _config(options: Namespace) -> TrainConfig:
    from workbench.classifier.config import Confidence, Premise, TrainConfig

    given = {
        one.name: value for one in SETTINGS if (value := getattr(options, one.name)) is not None
    }
    if "premise" in given:
        given["premise"] = Premise(given["premise"])
    if "confidence" in given:
        given["confidence"] = Confidence(given["confidence"])
    config = TrainConfig.for_base(options.base)
    if given.get("dev_share") == 0 and "patience" not in given:
        given["patience"] = None
    return replace(config, seed=options.seed, **given)
