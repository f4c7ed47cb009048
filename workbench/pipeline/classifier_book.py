"""All figures of a stance classifier, in the order in which one reads them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from workbench.figures.book import Book, Entry
from workbench.figures.table import AnyTable
from workbench.pipeline.classifier_assessed import Assessed
from workbench.pipeline.classifier_misread import confusion, texts
from workbench.pipeline.classifier_tables import calibration, classes, classes_at, curve, supports, training, ways


def book(of: Assessed) -> Book:
    """Return all figures of a classifier. Behind a row of the matrix stand the texts of its label."""
    at = (f"{of.threshold:g}",)
    return Book(
        f"The classifier {of.classifier.name}",
        [
            Entry("ways", "macro F1", partial(ways, of)),
            Entry("classes", "classes", partial(classes_at, of), [at, ("0",)]),
            Entry("supports", "basis of each class", partial(supports, of)),
            Entry("curve", "by confidence", partial(curve, of)),
            Entry("confusion", "confusion matrix", partial(confusion, of)),
            Entry("misread", "misread answers", partial(texts, of)),
            Entry("calibration", "calibration", partial(calibration, of)),
            Entry("training", "training", partial(training, of)),
        ],
        behind={"texts": partial(texts, of)},
        told=of.told(),
        header=of.header,
        notes=[
            "Each test text counts for the answers that it represents. Intervals are 95 %: Wilson's at an effective n "
            "for proportions, resampled texts for macro F1. Zero-shot is the same model before training."
        ],
        about=of.about(),
    )


def printed(of: Assessed, *, every: bool) -> Sequence[AnyTable]:
    """Return the tables that the command line shows; `every`: all for programs."""
    shown: list[AnyTable] = [ways(of), classes(of, of.threshold), supports(of), curve(of)]
    if every:
        shown += [classes(of, 0.0)] if of.threshold else []
        shown += [confusion(of), texts(of), calibration(of), training(of)]
    return shown
