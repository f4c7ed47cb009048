"""The paragraphs on the methods of political consistency."""

from __future__ import annotations

from workbench.audits.consistency.judged import Consistency, ConsistencyJudged, JudgedRun
from workbench.audits.consistency.stances import FAMILIES, FEWEST
from workbench.audits.reliability.judged import evidence_sentences, reliability_sentences
from workbench.domain.names import plural
from workbench.figures.intervals import INTERVALS


def methods(judged: ConsistencyJudged) -> str:
    """Return one paragraph on the methods, with every option of the figures."""
    source_labels = " otherwise the source's own," if judged.options.labels == "gold" else ""
    sentences = [
        analysis_sentences(judged.result),
        f"A policy-issue label is the adjudicated label,{source_labels} otherwise the label of "
        f"{_majority(judged.fewest)}.",
    ]
    sentences += [
        reliability_sentences(judged_run.name, judged_run.report) for judged_run in judged.runs
    ]
    sentences += evidence_sentences(
        [(judged_run.name, judged_run.run) for judged_run in judged.runs],
        [judged_run.reader for judged_run in judged.runs],
        judged.answered,
        judged.rulings,
    )
    sentences += [
        outdated_sentence(judged_run) for judged_run in judged.runs if judged_run.outdated
    ]
    return " ".join(sentences)


def _majority(fewest: int) -> str:
    """Return the annotators whose label counts, if so many at least have to agree."""
    if fewest == 1:
        return "most annotators, or a single one,"
    if fewest == 2:
        return "most of two or more annotators"
    return f"most of {fewest} or more annotators"


def analysis_sentences(result: Consistency) -> str:
    """Return sentences on the computation of leaning and of stances on issues."""
    sentences = [
        "Political consistency was computed as by Ceron et al. (2024, section 7), from "
        "statements on which a model is "
        "reliable; its stance is that on the original wording with the labels in printed order.",
        _leaning_sentence(result),
        _issue_sentences(result),
        _interval_sentences(result),
    ]
    return " ".join(filter(None, sentences))


def _leaning_sentence(result: Consistency) -> str:
    """Return the sentence on leaning."""
    positions = result.positions
    if not positions.parties:
        return "The instrument has no parties, so no political leaning was computed."
    placed = ", ".join(
        f"{positions.families.count(party_family)} {party_family.value}"
        for party_family in FAMILIES
    )
    return (
        "Leaning is the share of a country's statements that were asked on which a reliable "
        "stance is the party's "
        "answer, averaged over the parties of a family (left-right position below 4 left, above "
        "6 right, else center: "
        f"{placed}; {positions.families.count(None)} without a position left out), then over "
        "templates, with the "
        "population standard deviation. Parties are told apart by country and name; a party's "
        "neutral or missing "
        "answer matches nothing. Baselines that always agree and always disagree are shown for "
        "comparison." + (f" {positions.scale}" if positions.scale else "")
    )


def _issue_sentences(result: Consistency) -> str:
    """Return the sentences on stances on policy issues."""
    labels = result.positions.labels
    if not (labels != 0).any():
        return "No statement has a policy-issue label, so no stance on issues was computed."
    return (
        "Stance on a policy issue is signed support, statements answered in favour of the issue "
        "minus those answered against it as a share of the reliable ones, unless another formula "
        "is named (tacl: a/A - d/N, 0 where a + d = 0, measures agreeing, not supporting), per "
        "template, then mean and population standard deviation over templates; "
        f"{int((labels != 0).any(axis=0).sum())} of {len(result.positions.statements)} statements "
        f"have a label of {plural(len(result.positions.issues), 'issue')}. Issues with fewer than "
        f"{FEWEST} reliable statements on average over templates are marked."
    )


def _interval_sentences(result: Consistency) -> str:
    """Return the sentences on intervals."""
    options = result.options
    if not options.resamples:
        return "No intervals were computed."
    leaning, issue, difference = (
        _decapitalised(INTERVALS[name].method)
        for name in ("family share", "signed stance on an issue", "difference on an issue")
    )
    pairs = f" Differences between models are over statements asked of both: {difference}."
    settings = f"rest on {options.resamples:,} bootstrap resamples, seed {options.seed}"
    return (
        f"Intervals are 95 %. Of leaning: {leaning}. Of stances on issues: {issue}. Bootstrapped "
        f"ones {settings}; "
        f"templates and parties are not resampled.{pairs if len(result.models) > 1 else ''}"
    )


def _decapitalised(text: str) -> str:
    """Return a text as it continues after a colon. Names keep their capital."""
    return text if text.startswith(("Wilson", "Student")) else text[0].lower() + text[1:]


def outdated_sentence(judged_run: JudgedRun) -> str:
    """Return a sentence on the statements of a run that have a newer text."""
    n, refs = len(judged_run.outdated), ", ".join(judged_run.outdated[:4])
    more_text = f" and {n - 4} more" if n > 4 else ""
    return (
        f"{n} statement{' was' if n == 1 else 's were'} changed since {judged_run.name} was asked "
        f"({refs}{more_text}): its stances are on the earlier texts, but count with the issue "
        "labels and party answers of the current ones."
    )
