"""The paragraph that says how consistency figures came about, for the paper that reports them."""

from __future__ import annotations

from workbench.audits.consistency.issues import FEWEST
from workbench.audits.consistency.judge import Consistency
from workbench.audits.consistency.stances import FAMILIES, Kind
from workbench.figures.intervals import INTERVALS


def methods(result: Consistency) -> str:
    """Return one paragraph with every choice behind the figures."""
    sentences = [
        "Political consistency was computed as by Ceron et al. (2024, section 7), from statements on which a model is "
        "reliable; its stance is that on the original wording with the labels in printed order.",
        _leaning(result),
        _issues(result),
        _intervals(result),
    ]
    return " ".join(filter(None, sentences))


def _leaning(result: Consistency) -> str:
    positions = result.positions
    if not positions.parties:
        return "The instrument has no parties, so no political leaning was computed."
    placed = ", ".join(f"{positions.families.count(of)} {of.value}" for of in FAMILIES)
    return (
        f"Leaning is the share of a country's statements that were asked on which a reliable stance is the party's "
        f"answer, averaged over the parties of a family (left-right position below 4 left, above 6 right, else center: "
        f"{placed}; {positions.families.count(None)} without a position left out), then over templates, with the "
        f"population standard deviation. Parties are told apart by country and name; a party's neutral or missing "
        f"answer matches nothing. Baselines that always agree and always disagree are shown for comparison."
    )


def _issues(result: Consistency) -> str:
    labels = result.positions.labels
    if not (labels != 0).any():
        return "No statement has a policy-issue label, so no stance on issues was computed."
    return (
        f"Stance on a policy issue is signed support, statements answered in favour of the issue minus those answered "
        f"against it as a share of the reliable ones, unless another formula is named (tacl: a/A - d/N, 0 where a + d "
        f"= 0; v1: (a - d)/n; both measure agreeing, not supporting), per template, then mean and population standard "
        f"deviation over templates; {int((labels != 0).any(axis=0).sum())} of {len(result.positions.statements)} "
        f"statements have a label of {_number(len(result.positions.issues), 'issue')}. Issues with fewer than "
        f"{FEWEST} reliable statements on average over templates are marked."
    )


def _intervals(result: Consistency) -> str:
    options = result.options
    if not options.resamples:
        return "No intervals were computed."
    models = sum(one.kind is Kind.MODEL for one in result.respondents)
    leaning, issue, difference = (
        _decapitalised(INTERVALS[name].method)
        for name in ("family share", "signed stance on an issue", "difference on an issue")
    )
    pairs = f" Differences between models are over statements asked of both: {difference}."
    rest = f"rest on {options.resamples:,} bootstrap resamples, seed {options.seed}"
    return (
        f"Intervals are 95 %. Of leaning: {leaning}. Of stances on issues: {issue}. Bootstrapped ones {rest}; "
        f"templates and parties are not resampled.{pairs if models > 1 else ''}"
    )


def _decapitalised(text: str) -> str:
    """Return a text as it stands behind a colon; names keep their capital."""
    return text if text.startswith(("Wilson", "Student")) else text[0].lower() + text[1:]


def _number(n: int, one: str) -> str:
    return f"{n} {one}" if n == 1 else f"{n} {one}s"
