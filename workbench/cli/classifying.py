"""Commands about the stance classifier: train it, let it read, say how good it is."""

from __future__ import annotations

from workbench.cli.output import FIGURES, as_data, put_out
from workbench.cli.starting import run_command
from workbench.cli.verbs import Namespace, verb
from workbench.commands.train import ClassifyCommand, TrainCommand
from workbench.options.shared import DETACH, JSON, SEED, STARTING, STORE, THRESHOLD

CLASSIFIER = ClassifyCommand.options()["classifier"]


@verb(STORE, *TrainCommand.options().values(), STARTING, JSON)
def train(options: Namespace) -> int:
    """Say what a training uses, ask whether to start, start the worker, and watch it."""
    return run_command(TrainCommand, options)


@verb(STORE, *ClassifyCommand.options().values(), DETACH, JSON)
def classify(options: Namespace) -> int:
    """Let a classifier read what it has not read, in a worker."""
    return run_command(ClassifyCommand, options)


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
    told = [*found.description(), *([f"Other classifiers: {others}."] if others else [])]
    title = f"The classifier {found.classifier.name}"
    tables = printed(found, every=as_data(options))
    about = {"classifiers": known, **found.about()}
    put_out(options, tables, about, title=title, told=told, header=found.header)
    return 0
