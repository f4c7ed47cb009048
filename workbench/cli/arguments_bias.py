"""The arguments of the commands for annotation, the stance classifier and the left/right bias; see `main`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.arguments import Commands, json_option, snapshot_option, template_options
from workbench.cli.arguments_seed import seed_option
from workbench.cli.figures import figure_options

PURPOSES = ("training", "test", "check")
CODEBOOKS = ("stance", "side")


def add_annotating(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands of annotators and of those who organise them."""
    sample = commands.add_parser("sample", help="draw a queue of answers or statements for people to label")
    sample.add_argument("store", type=Path)
    sample.add_argument("--name", required=True, help="name of the queue")
    sample.add_argument("--purpose", required=True, choices=PURPOSES, help="training and test sets never share a text")
    sample.add_argument("--codebook", default="stance", choices=CODEBOOKS, help="stance of answers, side of statements")
    sample.add_argument(
        "--per-stratum",
        type=int,
        default=4,
        metavar="N",
        help="of prefix x wording x model; test: on average (default: 4)",
    )
    sample.add_argument(
        "--labels", type=int, metavar="K", help="people an item (default: 2 for test and check, else 1)"
    )
    sample.add_argument(
        "--overlap",
        type=float,
        default=1.0,
        metavar="X",
        help="share of items with K people; above 1: number a stratum",
    )
    sample.add_argument(
        "--held-out", type=float, default=0.0, metavar="SHARE", help="test: share of statements kept from training sets"
    )
    sample.add_argument("--limit", type=int, metavar="N", help="at most N items in all, at random")
    sample.add_argument("--attention", type=int, default=0, metavar="N", help="items with a known label, for everybody")
    sample.add_argument("--instrument")
    sample.add_argument("--models", metavar="M,…", help="default: all that answered")
    seed_option(sample, "the draw of items")
    sample.add_argument("--dry-run", action="store_true", help="say what would be drawn, and stop")
    json_option(sample)

    annotate = commands.add_parser("annotate", help="label a queue in the terminal")
    annotate.add_argument("store", type=Path)
    annotate.add_argument("--annotator", metavar="NAME", help="who labels (default: asked for)")
    annotate.add_argument(
        "--queue", metavar="NAME", help="which queue (default: the only one, or chosen on the screen)"
    )

    adjudicate = commands.add_parser("adjudicate", help="list disagreements, or decide one")
    adjudicate.add_argument("store", type=Path)
    adjudicate.add_argument("--queue", metavar="NAME")
    adjudicate.add_argument("--codebook", default="stance", choices=CODEBOOKS)
    adjudicate.add_argument("--item", type=int, metavar="ITEM", help="decide this one; with --label and --annotator")
    adjudicate.add_argument("--label")
    adjudicate.add_argument(
        "--reason", default="other", choices=("slip", "ambiguous", "guideline", "context", "hedged", "other")
    )
    adjudicate.add_argument("--note", default="")
    adjudicate.add_argument("--annotator", metavar="NAME", help="who decides")
    json_option(adjudicate)

    labels = commands.add_parser("labels", help="queues and their progress; export, import or merge labels")
    labels.add_argument("store", type=Path)
    labels.add_argument("--queue", metavar="NAME", help="only of this queue")
    labels.add_argument("--codebook", default="stance", help="meant where a file names none (default: stance)")
    act = labels.add_mutually_exclusive_group()
    act.add_argument("--export", type=Path, metavar="FILE", help="write every label event: .csv or .jsonl")
    act.add_argument("--import", type=Path, metavar="FILE", dest="import_", help="add the events that are new here")
    act.add_argument("--merge", type=Path, metavar="STORE", help="add the events of another store")
    labels.add_argument("--into", metavar="NAME", help="import: a new queue for items that are in none")
    labels.add_argument("--purpose", choices=PURPOSES, default="training", help="of that queue (default: training)")
    labels.add_argument("--partial", action="store_true", help="leave out events about texts that are not here")
    json_option(labels)


def add_classifying(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands about the stance classifier."""
    train = commands.add_parser("train", help="fine-tune a stance classifier on settled labels, and test it")
    train.add_argument("store", type=Path)
    train.add_argument("--name", default="stance", help="of the classifier (default: stance)")
    train.add_argument("--base", default="minilm", help="minilm, a folder or a hub id such as facebook/bart-large-mnli")
    train.add_argument("--training", metavar="QUEUE,…", help="default: all training queues")
    train.add_argument("--test", metavar="QUEUE,…", help="default: all test queues")
    train.add_argument("--codebook", default="stance")
    train.add_argument("--by-statement", action="store_true", help="refuse sets that share a statement, too")
    for name, kind in (
        ("steps", int),
        ("batch", int),
        ("learning-rate", float),
        ("weight-decay", float),
        ("warmup", int),
        ("dev-share", float),
        ("patience", int),
        ("eval-every", int),
        ("max-length", int),
    ):
        train.add_argument(
            f"--{name}", type=kind, metavar="N", help="default: as the base needs" if name == "steps" else None
        )
    seed_option(train, "the training")
    train.add_argument("--hypothesis")
    train.add_argument("--premise", choices=("response", "both"))
    train.add_argument("--confidence", choices=("entailment", "softmax"))
    train.add_argument("--yes", action="store_true", help="do not ask before starting")
    train.add_argument("--detach", action="store_true", help="start the worker and return")
    train.add_argument("--dry-run", action="store_true")
    json_option(train)

    classify = commands.add_parser("classify", help="let a classifier read every free answer that it has not read")
    classify.add_argument("store", type=Path)
    classify.add_argument("--classifier", metavar="NAME", help="default: the newest")
    classify.add_argument("--instrument")
    classify.add_argument("--models", metavar="M,…")
    classify.add_argument("--detach", action="store_true")
    json_option(classify)

    classifiers = commands.add_parser("classifiers", help="how good a classifier is, and from which confidence on")
    classifiers.add_argument("store", type=Path)
    classifiers.add_argument("--classifier", metavar="NAME", help="default: the newest")
    classifiers.add_argument("--threshold", type=float, default=0.9, help="default: 0.9, as published")
    seed_option(classifiers, "the bootstrap intervals")
    figure_options(classifiers)


def add_bias(commands: Commands[argparse.ArgumentParser]) -> None:
    """Add the commands about the bias score."""
    bias = commands.add_parser("bias", help="left/right bias by dimension, prefix, wording, source and model")
    bias.add_argument("store", type=Path)
    bias.add_argument("--models", metavar="M,…")
    bias.add_argument("--instruments", metavar="I,…")
    bias.add_argument("--sampling", metavar="TEXT", help="a part of a sampling's description")
    bias.add_argument("--dtype", metavar="NAME", help="where a model was computed in several: float32, bfloat16, …")
    template_options(bias)
    snapshot_option(bias)
    bias.add_argument("--reader", metavar="NAME", help="a classifier, or people (default: the newest classifier)")
    bias.add_argument(
        "--labels", default="instrument", metavar="WHOSE", help="sides of statements: instrument, or a model"
    )
    bias.add_argument("--threshold", type=float, default=0.9)
    bias.add_argument(
        "--judge-void",
        action="store_true",
        help="count wordings that read like their original too, as published (default: they are void)",
    )
    bias.add_argument("--correct", action="store_true", help="correct for the classifier's error and carry it along")
    bias.add_argument("--unit", choices=("statements", "responses"), default="statements", help="what is resampled")
    bias.add_argument("--draws", type=int, default=10_000)
    seed_option(bias, "the bootstrap intervals")
    bias.add_argument("--by", choices=("prefix", "variant", "source", "author", "statement"), help="one table more")
    bias.add_argument(
        "--compare", nargs=2, metavar="MODEL", help="difference of two models, over the prompts that both were asked"
    )
    bias.add_argument("--common", action="store_true", help="every figure over the prompts that all models were asked")
    bias.add_argument(
        "--dimension", choices=("economic", "cultural"), help="only statements of this dimension (default: both)"
    )
    bias.add_argument("--methods", action="store_true", help="how the figures came about, in a paragraph")
    figure_options(bias)

    sides = commands.add_parser(
        "sides", help="what a model says of the statements' sides, against people and instrument"
    )
    sides.add_argument("store", type=Path)
    sides.add_argument("--model", help="default: the only one that labelled")
    sides.add_argument("--instrument")
    template_options(sides)
    snapshot_option(sides)
    sides.add_argument("--queue", metavar="NAME", help="people's labels of this queue (default: all)")
    seed_option(sides, "the bootstrap intervals")
    figure_options(sides)


GROUPS = (add_annotating, add_classifying, add_bias)
