"""Commands about the stance classifier: train it, let it read, say how good it is."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from workbench.cli.jobs import EXIT_CODES, watch
from workbench.cli.output import estimate, listed, print_json, say, table
from workbench.cli.running import agreed
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.classifier.config import TrainConfig
    from workbench.pipeline.training import Evaluation

WAYS = {"tuned": "fine-tuned", "zero_shot": "zero-shot"}
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


def train(options: Namespace) -> int:
    """Say what a training uses, ask whether to start, start the worker, and watch it."""
    from stores.store import Store
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
        about = {"spec": spec.as_json(), "training": len(plan.train), "test": len(plan.test), "warnings": plan.warnings}
        if not options.json:
            say(plan.describe())
        if options.dry_run:
            if options.json:
                print_json(about)
            return 0
        if not options.yes and not agreed():
            raise UsageError("not started; give --yes where nobody can answer")
        job_id = launch.start_training(store, spec, plan)
        if options.detach:
            return _detached(options, job_id)
        job = watch(store, job_id, quiet=options.json)
    if options.json:
        print_json(about | {"job": asdict(job)})
    elif job.state == "done":
        say(f"Next: workbench classifiers {options.store}, and workbench classify {options.store}")
    return EXIT_CODES.get(job.state, 1)


def classify(options: Namespace) -> int:
    """Let a classifier read what it has not read, in a worker."""
    from stores.store import Store
    from workbench.jobs import launch
    from workbench.pipeline.classifying import ClassifySpec, plan_classifying

    with Store.open(options.store) as store:
        name = store.classifiers.get(options.classifier).name
        spec = ClassifySpec(name, instrument=options.instrument, models=listed(options.models))
        _, total, left = plan_classifying(store, spec)
        if not options.json:
            say(f"{name}: {left:,} of {total:,} responses are to read")
        if not left:
            store.queues.prioritise(store.classifiers.get(name).reader)
            if options.json:
                print_json({"responses": total, "left": 0, "job": None})
            else:
                say(f"Next: workbench bias {options.store}")
            return 0
        job_id = launch.start_classifying(store, spec)
        if options.detach:
            return _detached(options, job_id)
        job = watch(store, job_id, quiet=options.json)
    if options.json:
        print_json({"responses": total, "left": left, "job": asdict(job)})
    elif job.state == "done":
        say(f"Next: workbench bias {options.store}")
    return EXIT_CODES.get(job.state, 1)


def classifiers(options: Namespace) -> int:
    """Print how good a classifier is on its test set, beside its untrained base."""
    from stores.store import Store
    from workbench import pipeline

    with Store.open(options.store) as store:
        known = store.classifiers.list()
        if not known and options.classifier is None:
            say(f"There is no classifier yet. Train one: workbench train {options.store}")
            return 0
        classifier = store.classifiers.get(options.classifier)
    evaluation = pipeline.evaluation(classifier)
    if options.json:
        print_json(
            {
                "classifiers": [other.name for other in known],
                "name": classifier.name,
                "config": classifier.config,
                "data": classifier.data,
                "threshold": options.threshold,
                "test": _test(evaluation),
                **{way: _measured(evaluation, way, options) for way in WAYS},
            }
        )
        return 0
    config, data = classifier.config, classifier.data
    say(
        f"{classifier.name}: {config['base']}, trained {classifier.created_at[:10]}, {data['steps']} steps, seed "
        f"{config['seed']}; others: {', '.join(other.name for other in known if other != classifier) or 'none'}"
    )
    _print_test(evaluation, options)
    for way in WAYS:
        _print_report(evaluation, way, options)
    _print_curve(evaluation, options.seed)
    calibrated = evaluation.calibration("tuned")
    say(f"Expected calibration error: {calibrated.ece:.3f}")
    return 0


def _config(options: Namespace) -> TrainConfig:
    from workbench.classifier.config import Confidence, Premise, TrainConfig

    given = {name: getattr(options, name) for name in SETTINGS if getattr(options, name) is not None}
    if "premise" in given:
        given["premise"] = Premise(given["premise"])
    if "confidence" in given:
        given["confidence"] = Confidence(given["confidence"])
    config = TrainConfig.for_base(options.base)
    if given.get("dev_share") == 0 and "patience" not in given:
        given["patience"] = None
    return replace(config, seed=options.seed, **given)


def _measured(evaluation: Evaluation, way: str, options: Namespace) -> dict[str, object]:
    return {
        "at_threshold": evaluation.report(way, options.threshold, seed=options.seed),
        "all": evaluation.report(way, seed=options.seed),
        "curve": evaluation.curve(way, seed=options.seed),
        "calibration": evaluation.calibration(way),
        "unsettled_bounds": evaluation.bounds(way, options.threshold),
    }


def _test(evaluation: Evaluation) -> dict[str, object]:
    known = evaluation.sampled
    return {
        "stands_for": evaluation.stands_for(),
        "inclusion_known": known is not None,
        "answers": evaluation.answers if known else None,
        "drawn_at": evaluation.at if known else None,
        "texts": len(evaluation.true),
        "effective_n": known.effective_n() if known else None,
        "certainty_share": known.certain_share() if known else None,
        "classes": evaluation.supports(),
        "unsettled": len(evaluation.unsettled.given),
        "unlabelled": evaluation.unlabelled,
    }


def _print_test(evaluation: Evaluation, options: Namespace) -> None:
    """Print what the figures stand for, and what each class of them rests on."""
    say(f"{evaluation.stands_for()[0].upper()}{evaluation.stands_for()[1:]}.")
    for question in evaluation.open_questions("tuned", options.threshold):
        say(f"! {question}")
    if evaluation.sampled is not None:
        table(
            ["true label", "test texts", "effective n", "labelled with certainty"],
            [
                (
                    found.label,
                    f"{found.texts:,}",
                    f"{found.effective_n:,.0f}",
                    "–" if found.certain != found.certain else f"{found.certain:.0%} of the answers",
                )
                for found in evaluation.supports()
            ],
        )


def _print_report(evaluation: Evaluation, way: str, options: Namespace) -> None:
    from workbench.classifier.config import LABELS

    everything = evaluation.point(way, 0.0, seed=options.seed)
    at = evaluation.point(way, options.threshold, seed=options.seed)
    report = evaluation.report(way, options.threshold, seed=options.seed)
    say()
    say(
        f"{WAYS[way]}: macro F1 {estimate(everything.macro_f1)} on {evaluation.about}; "
        f"{estimate(at.macro_f1)} at confidence {options.threshold:g}"
    )
    table(
        ["true label", "precision", "recall", "F1", "support", *(f"read {label}" for label in LABELS)],
        [
            (
                label,
                estimate(report.precision[place]),
                estimate(report.recall[place]),
                estimate(report.f1[place]),
                str(report.support[place]),
                *(str(count) for count in report.matrix[place]),
            )
            for place, label in enumerate(LABELS)
        ],
    )


def _print_curve(evaluation: Evaluation, seed: int) -> None:
    tuned, plain = evaluation.curve("tuned", seed=seed), evaluation.curve("zero_shot", seed=seed)
    say()
    table(
        ["confidence", "fine-tuned: macro F1", "kept", "zero-shot: macro F1", "kept"],
        [
            (
                f"{a.threshold:g}",
                estimate(a.macro_f1),
                f"{a.kept.value:.0%}",
                estimate(b.macro_f1),
                f"{b.kept.value:.0%}",
            )
            for a, b in zip(tuned, plain, strict=True)
        ],
    )


def _detached(options: Namespace, job_id: int) -> int:
    if options.json:
        print_json({"job": job_id})
    else:
        say(f"Job {job_id} runs. Follow it: workbench jobs {options.store} follow {job_id}")
    return 0
