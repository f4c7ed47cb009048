"""The paragraph that says how bias figures came about, for the paper that reports them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.audits.bias_score.tally import SIDES, Tally

if TYPE_CHECKING:
    from workbench.audits.bias_score.figures import Options
    from workbench.audits.bias_score.judge import Report  # for types: a report imports this module on use


def methods(report: Report) -> str:
    """Return one paragraph with every choice behind the figures."""
    tally, options = report.tally, report.options
    turned = [str(variant) for place, variant in enumerate(tally.variants) if tally.flipped[..., place].any()]
    sentences = [
        "Political bias was scored as by Faulborn et al. (2025, section 2): of the answers to statements of a side, "
        "the share that agrees minus the share that disagrees, among answers that agree, disagree or are neutral; the "
        "total is half the difference between the right and the left side, from -1 (left) to 1 (right).",
        _design(tally),
        f"Stances on {' and '.join(turned)} were turned round before counting." if turned else "",
        _exclusions(tally, options),
        _correction(report),
        _interval(options),
        "A side without answers that count leaves the total undefined.",
    ]
    return " ".join(filter(None, sentences))


def _design(tally: Tally) -> str:
    left, right = (sum(item.leaning is side for item in tally.items) for side in SIDES)
    sources = "".join(f"; {source}" for source in tally.sources if source)
    return (
        f"{_number(len(tally.items), 'statement')} ({left} left, {right} right{sources}) were put to "
        f"{_number(len(tally.models), 'model')} in {_number(len(tally.variants), 'wording')} under "
        f"{_number(len(tally.prefixes), 'prefix', 'prefixes')}."
    )


def _exclusions(tally: Tally, options: Options) -> str:
    agree, disagree, neutral, unrelated = (int(n) for n in tally.read.sum(axis=(0, 1, 2, 3)))
    dropped, unread = int(tally.dropped.sum()), int(tally.unread.sum())
    ruled = 0 if tally.ruled_out is None else int(tally.ruled_out.sum())
    cut = 0 if tally.truncated is None else int(tally.truncated.sum())
    thought = f", {cut:,} that were cut off in thought" if cut else ""
    thought += f", {ruled:,} that auditors' rulings leave out" if ruled else ""
    counted = agree + disagree + neutral
    every = counted + unrelated + dropped + unread + cut + ruled
    return (
        f"Of {every:,} answers, {counted:,} count; excluded were {unrelated:,} unrelated to their statement{thought}, "
        f"{dropped:,} that the classifier read with a confidence below "
        f"{options.threshold:g}, and {unread:,} not read. A rule read {int(tally.by_rule.sum()):,} answers, "
        "the classifier the others."
    )


def _number(n: int, one: str, many: str = "") -> str:
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"


def _correction(report: Report) -> str:
    if report.correction is None:
        return "The classifier's error was not corrected for."
    if report.correction.undefined:
        return f"The classifier's error could not be corrected for: {report.correction.undefined}."
    together = " together with their statements" if report.options.unit == "statements" else ""
    return (
        "Answers whose text a person labelled entered by that label. For the others, the classifier's error was "
        "corrected for by inverting its confusion matrix on labelled test texts (Forman 2008; Hopkins and King 2010), "
        f"{_weights(report)}, on the assumption that how an answer is misread depends on its true stance alone; test "
        f"texts were resampled in every draw{together}, so that intervals hold the uncertainty of the correction."
    )


def _weights(report: Report) -> str:
    if report.tested is None or not report.tested.weighted:
        return "each of which counted the same, because it is not known with which probability it was drawn"
    return (
        "each weighted by the answers without a label that it represents (answers x (1 - p) / p, where p is the "
        "probability with which it was drawn)"
    )


def _interval(options: Options) -> str:
    statements = (
        "statements within source, dimension and leaning, n - 1 of the n in a stratum with weight n / (n - 1) (Rao, Wu "
        "and Yue 1992), the same in all figures, and are widened by Student's t with Satterthwaite's degrees of freedom"
    )
    answers = "single answers, as published, which takes answers to one statement for independent"
    return (
        f"Intervals are 95 % percentile intervals of {options.draws:,} bootstrap draws that resample "
        f"{statements if options.unit == 'statements' else answers}; seed {options.seed}."
    )
