"""The methods of intervals in figures, with remarks for readers.

An `Estimate` with an interval names one of these. `workbench help coverage` has the coverage of
each method.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from workbench.domain.verdicts import Estimate
from workbench.figures.table import AnyTable


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval method for one kind of figure."""

    figure: str
    "the figure with this interval"
    method: str
    remark: str = ""
    "a caution: `conservative: …`, `published rule, not a confidence interval: …`"


BCA = "Bias-corrected and accelerated bootstrap (Efron 1987) with Student's t for few"
PAIRS, UNITS = f"{BCA} pairs, over pairs", f"{BCA} items, over items"
CLUSTERS = f"{BCA} statements, over statements, whose pairs are drawn together"
DISAGREEMENT = "Jackknife over items, on log(1 - value), with Student's t"
ENOUGH = "no interval if fewer than 6 have an answer other than the most frequent one"
WILSON = "Wilson's at the effective number of answers (Korn and Graubard 1998), over"
UNLIKE = "no interval with fewer than 35 statements whose answers are all alike"
PUBLISHED = "published rule, not a confidence interval"
TOO_NARROW = (
    f"{PUBLISHED}: answers to one statement are not independent, and statements are not resampled"
)
STATEMENTS = (
    "Percentiles of statements drawn within source, dimension and side (Rao, Wu and Yue 1992), "
    "widened by Student's t; no interval with fewer than 4 statements of a side, or fewer than 6 "
    "that are answered differently from most"
)
RESPONSES = "Percentiles of single answers drawn with replacement (Faulborn et al. 2025)"
LABELS = (
    "labels drawn with known probabilities are resampled with their statements; none with fewer "
    "than 20 labelled texts of a model and side, or fewer than 6, on 6 statements, whose label is "
    "not the most frequent one"
)
RESPONDENTS = (
    "The wider of two bootstraps over respondents: percentiles widened by Student's t, and "
    "bias-corrected and accelerated; no interval if all respondents are alike"
)
TEMPLATES = "Jackknife over templates, on log(1 - value), with Student's t"

FEW_ITEMS = f"{ENOUGH}, or if there are fewer than 12"
FEW_RATED = (
    "no interval if fewer than 6 have other answers than the most frequent one from half of their "
    "people or more, or if there are fewer than 12"
)

INTERVALS: Mapping[str, Interval] = {
    "kappa over pairs": Interval(
        "Cohen's κ of two people, or of a model and people",
        f"{PAIRS}; {FEW_ITEMS}",
        "conservative where one label is rare",
    ),
    "kappa over clusters": Interval("Cohen's κ of originals and variants", f"{CLUSTERS}; {ENOUGH}"),
    "observed over clusters": Interval(
        "Prompts with the same majority when they are asked again; texts that two classifiers "
        "read alike",
        f"{WILSON} statements; {UNLIKE}",
    ),
    "change over clusters": Interval(
        "Mean absolute change when prompts are asked again", f"{WILSON} statements; {UNLIKE}"
    ),
    "observed over pairs": Interval("Observed agreement of two people", f"{WILSON} pairs"),
    "ac1 over pairs": Interval("Gwet's AC1 of two people", PAIRS, "conservative for a dozen items"),
    "alpha over units": Interval("Krippendorff's α, nominal", f"{UNITS}; {FEW_RATED}"),
    "ordinal-alpha over units": Interval(
        "Krippendorff's α, ordinal", f"{DISAGREEMENT}; {FEW_RATED}"
    ),
    "fleiss over units": Interval("Fleiss' κ", f"{UNITS}; {FEW_RATED}"),
    "percent over units": Interval("Agreeing pairs of several people's labels", f"{WILSON} items"),
    "ac1 over units": Interval("Gwet's AC1 of several people", UNITS),
    "specific over units": Interval("Agreement on one label", f"{WILSON} items"),
    "observed over templates": Interval("Observed agreement on one statement", TEMPLATES),
    "ac1 over templates": Interval("Gwet's AC1 on one statement", TEMPLATES),
    "mean-kappa over units": Interval("Mean κ of the pairs of people", f"{UNITS}; {FEW_RATED}"),
    "mean-kappa over people": Interval(
        "Mean κ of people, the upper bound",
        "Percentiles of people drawn with replacement, and of statements drawn within each "
        "person, widened by Student's t; no interval with fewer than 3 people",
    ),
    "leaning": Interval(
        "Share of a prompt's readable answers that agree",
        "Quantiles of Binomial(n, k/n)/n, the exact percentiles of the published bootstrap",
        f"{PUBLISHED}: it decides what is reliable, and is too narrow near 0 and 100 %; "
        "Wilson's interval is shown beside it",
    ),
    "leaning, Wilson's": Interval(
        "Share of a prompt's readable answers that agree",
        "Wilson's",
        "conservative near 0 and 100 %",
    ),
    "share over statements": Interval(
        "Share of answers: readable under a template, refused",
        f"{WILSON} statements; if fewer than 6 statements show any, that number is at most the "
        "number of statements; " + UNLIKE,
        "conservative where statements are few or have very unequal numbers of answers",
    ),
    "difference of refusal rates": Interval(
        "Difference of refusal rates of two sides",
        "The sides' intervals over statements, combined (MOVER: Zou and Donner 2008)",
        "conservative where a side is hardly ever refused, or statements have very unequal "
        "numbers of answers",
    ),
    "family share": Interval(
        "Agreement with the parties of a family",
        f"{WILSON} statements, drawn within the parties' countries",
    ),
    "family difference": Interval(
        "Difference of two models' agreement with a family",
        "Student's over statements, paired, within the parties' countries",
    ),
    "signed stance on an issue": Interval(
        "Stance on a policy issue (signed support)",
        f"{BCA} statements, over the issue's statements; no interval with fewer than 6 reliable "
        "ones",
    ),
    "tacl stance on an issue": Interval(
        "Stance on a policy issue (formula `tacl`)",
        f"{BCA} statements, over the issue's statements; no interval with fewer than 10 reliable "
        "ones",
    ),
    "difference on an issue": Interval(
        "Difference of two respondents' stances on an issue",
        f"{BCA} statements, over the issue's statements, paired; "
        "no interval with fewer than 10 that both are reliable on",
    ),
    "component of variance": Interval(
        "Standard deviation between statements, wordings, templates, orders",
        "Jackknife over statements and over templates, with Satterthwaite's degrees of freedom, "
        "skewed like a variance; Williams' for templates; no interval with fewer than 6 "
        "statements or 3 templates, or where the answers of minorities are worth fewer than 2 "
        "statements",
        "conservative for few statements and for small components",
    ),
    "mean over templates": Interval(
        "Mean over statements and templates",
        "Student's t over the means of statements and of templates, with Satterthwaite's degrees "
        "of freedom",
    ),
    "bias over statements": Interval("Left/right bias", STATEMENTS),
    "bias difference over statements": Interval(
        "Difference of left/right biases", f"{STATEMENTS}, the same for all sides"
    ),
    "bias over responses": Interval(
        "Left/right biases and their differences", RESPONSES, TOO_NARROW
    ),
    "corrected bias over statements": Interval(
        "Corrected left/right bias", f"{STATEMENTS}; {LABELS}"
    ),
    "corrected bias difference over statements": Interval(
        "Difference of corrected left/right biases", f"{STATEMENTS}; {LABELS}"
    ),
    "accuracy": Interval("Accuracy on one target", "Wilson's, over respondents"),
    "bias of a target": Interval("Bias on one target", RESPONDENTS),
    "mean accuracy": Interval(
        "Mean accuracy over targets",
        RESPONDENTS,
        "conservative where nearly all answers are predicted",
    ),
    "axis": Interval("Bias on the liberal-conservative axis", RESPONDENTS),
    "change of bias": Interval(
        "Difference of biases of two conditions or models", f"{RESPONDENTS}, paired"
    ),
    "change of accuracy": Interval(
        "Difference of accuracies of two conditions or models", f"{RESPONDENTS}, paired"
    ),
    "mean over questions": Interval("Mean change over questions", "Student's t, over questions"),
    "likeness": Interval("Similarity to people's answers", f"{WILSON} questions"),
    "likeness to people": Interval(
        "Likeness of a model's answers to people's",
        "Wilson's at the effective number of answers (Korn and Graubard 1998), over questions and "
        "people; its ends without the mean distance that counting letters and people gives",
        "conservative for a model near the people",
    ),
    "likeness above chance": Interval(
        "Likeness of a model's answers to people's, between that of random letters and people's "
        "own",
        "Student's t, over questions and people, of the ratio of distances; its ends without the "
        "noise of counting",
        "conservative for a model near the people",
    ),
    "difference of likeness": Interval(
        "Differences of likeness: between groups, from letters at random, with a persona",
        "Student's t, over questions and people, with Satterthwaite's degrees of freedom",
    ),
    "pooled share": Interval(
        "Share of statements that keep their stance, by partial pooling",
        "Wilson's, at the number of statements that would be as uncertain as their posterior "
        "makes these",
    ),
    "difference of pooled shares": Interval(
        "Difference of two runs' shares of statements that keep their stance, by partial pooling",
        "Bonett and Price's adjusted Wald for pairs (2012), at such a number of statements",
        "conservative where the runs hardly differ",
    ),
    "share with the reader's error": Interval(
        "Share of statements that pass, with the reader's error",
        "percentile bootstrap over statements, in which every answer is what the control sample "
        "says of its reading",
    ),
    "κ with the reader's error": Interval(
        "κ between wordings, with the reader's error",
        "percentile bootstrap over statements, in which every answer is what the control sample "
        "says of its reading",
    ),
    "difference of paired shares": Interval(
        "Difference of two runs' shares of the same items, such as statements that pass",
        "Bonett and Price's adjusted Wald for pairs (2012)",
        "conservative where the runs hardly differ",
    ),
    "difference of unpaired shares": Interval(
        "Difference of two runs' shares of items asked in other words",
        "Newcombe's hybrid score (1998, method 10)",
    ),
    "share of items": Interval(
        "Share of items: precision, recall, accuracy, kept, statements alike", "Wilson's"
    ),
    "misread answers": Interval(
        "Share of answers that a reader misreads, from a control sample",
        "Exact binomial with mid-p within the strata, combined by their sizes (MOVER: Zou, Huang "
        "and Zhang 2009)",
        "conservative where a small stratum or a rare error decides",
    ),
    "F1 of items": Interval("F1 of a class", "Wilson's of TP / (TP + FP + FN), transformed to F1"),
    "macro F1 of items": Interval(
        "Macro F1",
        "Jackknife over items, on the logit, with Student's t; no interval if nothing was misread",
    ),
    "share of weighted items": Interval(
        "Share of answers, from a drawn test set",
        f"{WILSON} texts, by the rescaled bootstrap's variance",
    ),
    "F1 of weighted items": Interval(
        "F1 of a class, from a drawn test set", "As for a share, transformed to F1"
    ),
    "macro F1 of weighted items": Interval(
        "Macro F1, from a drawn test set",
        "Percentiles of the rescaled bootstrap of Rao and Wu over texts",
    ),
}


PREDICTED = "simulated designs"
"""range of 95 % of the planner's simulations of a design

It is not an interval of an estimate from data, so that it has no coverage.
"""


def methods(table: AnyTable) -> dict[str, Interval]:
    """Return the methods of the intervals in a table, by name, in the order in which they occur."""
    names = dict.fromkeys(value.interval for value in _estimates(table) if value.interval)
    return {name: INTERVALS[name] for name in names if name in INTERVALS}


def told(table: AnyTable) -> list[str]:
    """Return a sentence for each method of the intervals in a table."""
    return [
        f"95 % interval of {way.figure}: {way.method}{f' ({way.remark})' if way.remark else ''}."
        for way in methods(table).values()
    ]


def remarks(names: Iterable[str]) -> list[str]:
    """Return notes for intervals that are not ordinary confidence intervals."""
    intervals = [INTERVALS[name] for name in names if name in INTERVALS]
    return [
        f"Interval of {interval.figure}: {interval.remark}."
        for interval in intervals
        if interval.remark.startswith(PUBLISHED)
    ]


def _estimates(table: AnyTable) -> Iterator[Estimate]:
    for row in table.rows:
        for column in table.columns:
            value = column.value(row)
            if isinstance(value, Estimate):
                yield value
