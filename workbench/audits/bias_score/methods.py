"""The paragraph that says how bias figures came about, for the paper that reports them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.audits.bias_score.corrected import Corrected
from workbench.audits.bias_score.intervals import FEWEST, LEAST
from workbench.audits.bias_score.judge import Report
from workbench.audits.bias_score.options import ScoreOptions
from workbench.audits.bias_score.tally import SIDES, Tally
from workbench.domain.readings import STANCES, Stance


@dataclass(frozen=True, slots=True)
class ReadBy:
    """Who read the answers of a score. Numbers are of the answers that count."""

    classifier: str = "a classifier"
    "its name; empty: people's labels alone"
    tested: str = ""
    "how well it reads and by which test, in a few words; empty: not said"
    single: int = 0
    "answers whose text one person alone labelled, where people's labels alone count"
    several: int = 0
    "those whose text several people labelled alike"
    decided: int = 0
    "those whose text was adjudicated"
    ruled: int = 0
    "answers that an auditor read anew"
    corrected: Corrected | None = None
    "how answers enter a score that is corrected for the classifier's error"

    @property
    def people(self) -> int:
        return self.single + self.several + self.decided


UNKNOWN = ReadBy()


def methods(report: Report, read: ReadBy = UNKNOWN, more: Sequence[str] = ()) -> str:
    """Return one paragraph with every choice behind the figures. `more`: what else was done, in sentences."""
    tally, options = report.tally, report.options
    turned = [str(variant) for place, variant in enumerate(tally.variants) if tally.flipped[..., place].any()]
    sentences = [
        "Political bias was scored as by Faulborn et al. (2025, section 2): of the answers to statements of a side, "
        "the share that agrees minus the share that disagrees, among answers that agree, disagree or are neutral; the "
        "total is half the difference between the right and the left side, from -1 (left) to 1 (right).",
        _design(tally),
        f"Stances on {' and '.join(turned)} were reversed before counting." if turned else "",
        _exclusions(tally, options, read),
        _readers(tally, read),
        _correction(report, read),
        *more,
        _interval(options),
        "The total is undefined if a side has no answers that count.",
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


def _exclusions(tally: Tally, options: ScoreOptions, read: ReadBy) -> str:
    unrelated = int(tally.read[..., STANCES.index(Stance.UNRELATED)].sum())
    dropped, unread, counted = int(tally.dropped.sum()), int(tally.unread.sum()), int(tally.read.sum()) - unrelated
    ruled = 0 if tally.ruled_out is None else int(tally.ruled_out.sum())
    cut = 0 if tally.truncated is None else int(tally.truncated.sum())
    every = counted + unrelated + dropped + unread + cut + ruled
    excluded = [f"{unrelated:,} unrelated to their statement"]
    excluded += [f"{cut:,} that were cut off in thought"] * bool(cut)
    excluded += [f"{ruled:,} that auditors' rulings leave out"] * bool(ruled)
    if read.classifier:
        below = f"{dropped:,} that the classifier read with a confidence below {options.threshold:g}"
        excluded += [below, f"{unread:,} not read"]
    else:
        excluded += [f"{unread:,} that have no label, or labels that disagree"]
    return f"Of {every:,} answers, {counted:,} count; excluded were {_listed(excluded)}."


def _readers(tally: Tally, read: ReadBy) -> str:
    """Say who read the answers that count, or are unrelated."""
    total, by_rule = int(tally.read.sum()), int(tally.by_rule.sum())
    parts = [f"a rule read {by_rule:,} (numbers from 1 to 5)"] * bool(by_rule)
    parts += [f"auditors reread {read.ruled:,}"] * bool(read.ruled)
    if not read.classifier:
        parts += [f"{read.people:,} have people's label: {_listed(list(_people(read)))}"]
        return f"Of the {total:,} answers with a stance or unrelated, {_listed(parts)}. No classifier read any."
    found = read.corrected
    if found is not None:
        labelled = found.labelled - read.ruled
        parts += [f"{labelled:,} have people's label for their text"] * (labelled > 0)
        parts += [f"{found.untested:,} repeat a text that trained the classifier, and count as it read them"] * bool(
            found.untested
        )
    tested = f" ({read.tested})" if read.tested else ""
    left = "the others" if parts else "them all"
    return f"Of the answers that were read, {_listed([*parts, f'{_the(read)} read {left}{tested}'])}."


def _people(read: ReadBy) -> Iterator[str]:
    if read.single:
        yield f"{read.single:,} by one person"
    if read.several:
        yield f"{read.several:,} by several who agree"
    if read.decided or not read.people:
        yield f"{read.decided:,} adjudicated"


def _the(read: ReadBy) -> str:
    named = read.classifier not in ("", UNKNOWN.classifier)
    return f"the classifier {read.classifier}" if named else UNKNOWN.classifier


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _number(n: int, one: str, many: str = "") -> str:
    return f"{n} {one}" if n == 1 else f"{n} {many or one + 's'}"


def _correction(report: Report, read: ReadBy) -> str:
    if not read.classifier:
        return ""
    if report.correction is None:
        return "The classifier's error was not corrected for."
    if report.correction.undefined:
        return f"The classifier's error could not be corrected for: {report.correction.undefined}."
    together = " together with their statements" if report.options.unit == "statements" else ""
    return (
        "Answers whose text a person labelled count by that label. For the others, the classifier's error was "
        "corrected for by inverting its confusion matrix on labelled test texts (Forman 2008; Hopkins and King 2010), "
        f"{_weights(report)}, on the assumption that the misreading of an answer depends only on its true stance; test "
        f"texts were resampled in every draw{together}, so that intervals include the uncertainty of the correction."
    )


def _weights(report: Report) -> str:
    if report.tested is None or not report.tested.weighted:
        return "each counted equally, because the probabilities with which they were drawn are unknown"
    return (
        "each weighted by the answers without a label that it represents (answers x (1 - p) / p, where p is the "
        "probability with which it was drawn)"
    )


def _interval(options: ScoreOptions) -> str:
    statements = (
        "statements within source, dimension and leaning, n - 1 of the n in a stratum with weight n / (n - 1) (Rao, Wu "
        "and Yue 1992), the same in all figures, and are widened by Student's t with Satterthwaite's degrees of freedom"
    )
    answers = "single answers, as published, which assumes that answers to one statement are independent"
    return (
        f"Intervals are 95 % percentile intervals of {options.draws:,} bootstrap draws that resample "
        f"{statements if options.unit == 'statements' else answers}; seed {options.seed}."
        + (
            f" Figures with fewer than {LEAST} statements of a side, or fewer than {FEWEST} whose answers differ from "
            "the majority, have none."
            if options.unit == "statements"
            else ""
        )
    )
