"""The result of political consistency: whose answers the models' are, and which policy issues they
support.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from stores.core.store import Store
from workbench.audits.audit import Opened
from workbench.audits.claims import LEVEL, AdjustedFinding, Finding, OfModel, Reach, reach_of, shown
from workbench.audits.comparison.judge import MODEL, Compared, Judged, Side, VerdictKind, factors_of
from workbench.audits.consistency import tables as tables
from workbench.audits.consistency.judged import (
    Consistency,
    ConsistencyJudged,
    JudgedRun,
    judge_consistency,
)
from workbench.audits.consistency.options import OFFERED, ConsistencyOptions, Formula
from workbench.audits.consistency.pilot import (
    answer_scales,
    answer_types,
    rank_templates,
    scale_collapse,
    stance_shares,
    template_ranks,
    weaker_sets,
    weaker_tests,
)
from workbench.audits.consistency.stances import (
    FAMILIES,
    FEWEST,
    FamilyGap,
    FamilyShare,
    IssueStance,
    Stances,
    missing_contributions,
    sides,
)
from workbench.audits.reliability.agreement import relations_of, survey_agreement
from workbench.audits.reliability.agreement_tables import model_kappas, people_kappas
from workbench.audits.reliability.agreement_tables import people as upper_bound
from workbench.audits.reliability.compared import (
    shared_templates,
    templates_left_out,
    texts_asked,
    unequal_numbers,
)
from workbench.audits.reliability.judged import evidence_sentences, reliability_sentences
from workbench.audits.reported import CERON, ModelFigures, of_all_models
from workbench.audits.result import Headline, Later, Result
from workbench.domain.names import plural
from workbench.domain.verdicts import Bounds
from workbench.evidence.answered import as_json, entries, entry, header, leading
from workbench.evidence.answered import told as refused
from workbench.evidence.runs import Which, template_notes
from workbench.figures.book import Book, Entry
from workbench.figures.intervals import INTERVALS
from workbench.figures.shown import between, estimate, number
from workbench.figures.table import AnyTable, Kind

FIRST = ("respondents", "leaning", "issues", *(f"issues_{other}" for other in OFFERED[1:]))
UNFOLDED = ("leaning", "issues")
LIMITS = (
    "Leaning is agreement with the answers that parties gave to these statements, in the "
    "countries and at the time "
    "when they answered; it is not a position on a scale.",
    "Policy issues with few reliable statements are marked; an interval that contains 0 shows no "
    "side.",
)
CLEAREST = 2
"issues that a finding names on each side"
NO_LABELS = """No statement has a policy-issue label.

2 goes to Statements: g there labels statements for policy issues."""
NO_PEOPLE = """No statement has a policy-issue label from two people or from adjudication.

l goes back to the gold labels; 2, then g labels statements for policy issues."""
NO_PARTIES = "The instrument has no parties, so leaning cannot be computed."
NO_SURVEY = (
    "Nobody has answered the instrument; people answer with: workbench survey STORE "
    "--respondent NAME"
)
NO_ANSWERS = """No model has answered yet.

3 goes to Jobs: n there starts one. To choose templates, a few statements of each country are enough:
workbench pilot STORE --model MODEL"""  # noqa: E501
STANCE, FEW = "stance", "few"
KINDS = (VerdictKind(STANCE, "reliable stance", "agree", "disagree", neither=("mixed", "none")),)


def judge(store: Store, which: Which, options: ConsistencyOptions, opened: Opened) -> Result:
    """Return leaning and stances of the models that are meant, of baselines, parties and people."""
    judged = judge_consistency(store, which, options)
    runs = {one.name: one.run for one in judged.runs}
    of_all = Result(
        which=which,
        options=options,
        instrument=store.runs.instrument(judged.runs[-1].run) if judged.runs else judged.instrument,
        runs=runs,
        names=judged.result.models,
        baselines=tables.BASELINES,
        book=book(judged),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(judged)),
        all_models=(lambda: _all_models(judged)) if judged.result.positions.parties else None,
        headline=_headline(judged),
        rulings=judged.rulings,
        answered=judged.answered,
        limits=LIMITS,
        references=[CERON],
        words=tuple(_words(judged)),
        judged=judged,
    )
    return _by(of_all, judged, opened)


def _by(result: Result, judged: ConsistencyJudged, opened: Opened) -> Result:
    """Return a result with the figures by its formula and matches."""

    def again(other: ConsistencyOptions) -> Result | None:
        if not other.figures_as(judged.options):
            return None
        now = replace(judged, options=other)
        return _by(replace(result, options=other, book=book(now), judged=now), now, opened)

    def side_by_side(names: Sequence[str]) -> Compared:
        with opened() as store:
            return store.at_once(lambda: compared(store, judged, names))

    return replace(result, compared=side_by_side, again=again)


def _words(judged: ConsistencyJudged) -> Iterator[str]:
    """Say who answered, what makes a stance reliable, and who read, for the line above tables."""
    if not judged.runs:
        yield "no model has answered: baselines only"
    yield judged.options.reliable
    yield f"read by {judged.which.readings.rule}"


def _headline(judged: ConsistencyJudged) -> Headline | None:
    """Return what is said of the model that was asked last; None without a model, or without
    parties and labels.
    """
    positions = judged.result.positions
    issues = int((positions.labels != 0).any(axis=1).sum())
    if not judged.runs or not (positions.parties or issues):
        return None
    name = leading({one.name: one.run.last for one in judged.runs}, judged.answered)
    plain = replace(judged.result, options=replace(judged.options, resamples=0))
    families = plain.leaning(name).families if positions.parties else ()
    shares = ", ".join(
        f"{of.family.value} {number(of.share.value, Kind.SHARE)}"
        for of in families
        if of.share.defined
    )
    enough = sum(not stance.few for stance in plain.issues(name))
    reliable = f"{enough} of {plural(issues, 'issue')} with six reliable statements"
    if not shares:
        return Headline(name, reliable, [("no parties to compare with", False)])
    return Headline(name, f"like {shares}", [(reliable, False)])


def book(judged: ConsistencyJudged) -> Book:
    """Return all tables, and those behind their rows."""
    first, *others = judged.options.formulas
    contents = list(_contents(judged, first))
    for other in others:
        contents += [
            replace(one, name=f"{one.name}_{other}", title=f"{one.title}, {other}")
            for one in _contents(judged, other)
            if "formula" in one.choices
        ]
    said = methods(judged)
    return Book(
        f"{judged.instrument.name}: political consistency",
        contents,
        _behind(judged),
        told=tuple(_told(judged)),
        header=header(judged.answered),
        methods=said,
        about={
            "instrument": judged.instrument.name,
            "templates": {
                one.name: {"family": one.run.family, "versions": one.run.versions}
                for one in judged.runs
            },
            "labelled_statements": judged.labelled,
            "methods": said,
            "answered": as_json(judged.answered),
        },
    )


def _contents(judged: ConsistencyJudged, formula: Formula) -> Iterator[Entry]:
    yield from _of_respondents(judged, formula)
    yield from _of_templates(judged, formula)
    yield Entry("answer_scales", "scales", lambda: answer_scales(scale_collapse(judged.instrument)))
    yield from _kappas(judged)
    yield entry(judged.answered)
    yield from entries(lambda: [one.refusals for one in judged.runs], judged.options.seed)


def _of_respondents(judged: ConsistencyJudged, formula: Formula) -> Iterator[Entry]:
    """Yield what each model, party and person supports and whom each answers like."""
    result, view = judged.result, judged.options.view
    names = [one.name for one in result.respondents]
    definitions = {issue.name: issue.definition for issue in judged.instrument.definitions}
    partyless = "" if result.positions.parties else NO_PARTIES
    unlabelled = (
        "" if judged.labelled else NO_PEOPLE if judged.options.labels == "people" else NO_LABELS
    )
    by_formula, by_match = ("formula", "labels"), ("view",)

    def issues(name: str) -> AnyTable:
        return replace(tables.issues(result, [name], formula, definitions), subject=(name, formula))

    def of(
        name: str,
        title: str,
        make: Callable[[], AnyTable],
        choices: Sequence[str] = (),
        empty: str = "",
    ) -> Entry:
        return Entry(name, title, make, choices=choices, empty=empty)

    every_issue = partial(tables.issues, result, names, formula, definitions)
    yield Entry(
        "issues",
        "issues",
        issues,
        [(name,) for name in names],
        by_formula,
        unlabelled,
        whole=every_issue,
    )
    yield of("leaning", "leaning", lambda: tables.leaning(result, names, view), by_match, partyless)
    yield of("party_stances", "parties", lambda: tables.party_stances(result, formula), by_formula)
    yield of("people", "people", lambda: tables.people(result, formula), by_formula)
    yield of("respondents", "respondents", lambda: tables.respondents(result, names))
    of_issues = partial(tables.issues_by_template, result, names, formula)
    yield of("issues_by_template", "issues by template", of_issues, by_formula, unlabelled)
    of_families = partial(tables.leaning_by_template, result, names, view)
    yield of("leaning_by_template", "leaning by template", of_families, by_match, partyless)


def _of_templates(judged: ConsistencyJudged, formula: Formula) -> Iterator[Entry]:
    """Yield what templates and tests do to a model's figures, as pilots choose among them."""
    options = judged.options

    def ranks(name: str) -> AnyTable:
        one = judged.run(name)
        found = rank_templates(one.report.counts, one.addresses, options.seed, options.resamples)
        return replace(template_ranks(found, name), subject=(name,))

    def originals(name: str) -> AnyTable:
        report = judged.run(name).report
        return replace(
            stance_shares(report.counts.templates, answer_types(report)), subject=(name,)
        )

    def weaker(name: str) -> AnyTable:
        found = weaker_tests(
            judged.run(name).report, judged.result.positions, formula, options.seed
        )
        return replace(weaker_sets(found), subject=(name,))

    models = [(one.name,) for one in judged.runs]
    unanswered = "" if models else NO_ANSWERS
    yield Entry("templates", "templates", ranks, models, empty=unanswered)
    yield Entry("answer_types", "originals", originals, models, empty=unanswered)
    yield Entry("weaker_tests", "tests", weaker, models, ("formula", "labels"), unanswered)


def _kappas(judged: ConsistencyJudged) -> Iterator[Entry]:
    """Yield how far a model agrees with itself, over all statements and over those that people
    answered.
    """
    survey, unanswered = judged.instrument.survey, "" if judged.runs else NO_ANSWERS

    def table(*, restricted: bool) -> AnyTable:
        return model_kappas(judged.reports, judged.people, survey, restricted=restricted)

    yield Entry("model_kappas", "κ", partial(table, restricted=False), empty=unanswered)
    as_people = unanswered or ("" if survey else NO_SURVEY)
    yield Entry(
        "model_kappas_as_people", "κ people", partial(table, restricted=True), empty=as_people
    )
    name, options = judged.instrument.name, judged.options

    def of_each() -> AnyTable:
        statements, language = judged.instrument.statements, judged.instrument.language
        relations = relations_of(statements, language, judge_void=options.judge_void)
        return people_kappas(
            name, survey_agreement(survey, name, options.seed, relations=relations)
        )

    unasked = "" if survey else NO_SURVEY
    yield Entry("people_kappas", "κ of each person", of_each, empty=unasked)
    yield Entry(
        "upper_bound",
        "upper bound",
        lambda: upper_bound(name, judged.people, "upper_bound"),
        empty=unasked,
    )


def _behind(judged: ConsistencyJudged) -> dict[str, Callable[..., AnyTable]]:
    """Return what rows of the tables lead to."""
    result, texts = judged.result, judged.texts
    return {
        "issue_statements": lambda name, issue: tables.issue_statements(result, name, issue, texts),
        "party_matches": lambda name: tables.party_matches(result, name),
        "party_statements": lambda name, country, party: tables.party_statements(
            result, name, country, party, texts
        ),
        "given": lambda kind, *of: tables.given(result, kind, of, texts),
        "template_statements": lambda name, template: tables.template_statements(
            result, judged.run(name).report, name, template, texts
        ),
    }


def _told(judged: ConsistencyJudged) -> Iterator[str]:
    """Say what the figures rest on."""
    yield from header(judged.answered)
    name, statements = judged.instrument.name, len(judged.result.positions.statements)
    yield f"{name}: {statements} statements, {judged.labelled} with a label."
    if not judged.runs:
        yield "No model has answered yet: only baselines and parties."
    for one in judged.runs:
        if one.run.asked_with:
            yield f"{one.name}: answers to templates of {', '.join(one.run.asked_with)}."
    for one in judged.runs:
        yield (
            f"{one.name}: a statement is reliable if it passes "
            f"{', '.join(one.report.options.tests)}."
        )
    yield from refused([one.refusals for one in judged.runs])
    yield from judged.rulings.sentences()
    yield from template_notes(one.run for one in judged.runs)


def _findings(judged: ConsistencyJudged) -> Iterator[Finding]:
    for name in judged.result.models:
        yield from _whom_like(judged, name)
    for name in judged.result.models:
        yield from _supported(judged, name)
    for name in judged.result.models:
        if few := missing_stances_said(judged.result, name)[0]:
            yield OfModel("Statements with too few valid answers for a stance", name, few)


def _all_models(judged: ConsistencyJudged) -> AnyTable:
    """Return how often every model, and the baselines, answer like the parties of each family."""
    result = judged.result
    found = {name: result.leaning(name) for name in (*result.models, *tables.BASELINES)}
    values = {
        name: {of.family.value: of.share for of in one.families}
        | {
            "reliable": one.reliable.mean,
            "statements": float(len(result.respondent(name).statements)),
        }
        for name, one in found.items()
    }
    return of_all_models(
        "Agreement with parties of the left, the center and the right",
        [ModelFigures(name, of) for name, of in values.items()],
        {family.value: f"{family.value} parties" for family in FAMILIES},
        Kind.SHARE,
        more={
            "reliable": ("reliable stances", Kind.SHARE),
            "statements": ("statements", Kind.COUNT),
        },
        axis="statements answered like the parties",
        scale=(0.0, 1.0),
        definition="Share of statements on which a model's reliable stance is the parties' "
        "answer. The last two rows "
        "are baselines: always agreeing, and always disagreeing, with every statement that a "
        "model was asked.",
    )


def _whom_like(judged: ConsistencyJudged, name: str) -> Iterator[Finding]:
    if not judged.result.positions.parties:
        return
    families = [of for of in judged.result.leaning(name).families if of.share.defined]
    if not families:
        return
    ranked = sorted(families, key=lambda of: -of.share.value)
    if not ranked[0].share.value:
        yield OfModel("No reliable stance matches a party's answer", name)
        return
    gaps = judged.result.family_gaps(name)
    doubt = missing_stances_said(judged.result, name)[1]
    p = tuple(gap.p for gap in gaps)
    yield AdjustedFinding(
        p, partial(_families, name, ranked, gaps, doubt), "party families", (name,) * len(p)
    )


UNDECIDED = (
    "No significant difference in agreement with left, center and right parties (reliable stances)"
)


def _families(
    name: str,
    ranked: Sequence[FamilyShare],
    gaps: Sequence[FamilyGap],
    doubt: str,
    adjusted: Sequence[float],
) -> Iterator[OfModel]:
    """Say with which families a model agrees more often than with others, the widest gap that is
    shown.
    """
    said = ", ".join(f"{of.family.value} parties {estimate(of.share, Kind.SHARE)}" for of in ranked)
    held = [(gap, p) for gap, p in zip(gaps, adjusted, strict=True) if p < LEVEL]
    if not held:
        least = min((p for p in adjusted if not math.isnan(p)), default=math.nan)
        tested = "" if math.isnan(least) else f" (p {number(least, Kind.P_VALUE)})"
        yield OfModel(UNDECIDED, name, f"{said}{tested}", doubt=doubt, reach=_family_reach(gaps))
        return
    widest, p = max(held, key=lambda one: abs(one[0].value))
    more, less = (
        (widest.first, widest.second) if widest.value > 0 else (widest.second, widest.first)
    )
    alone = number(widest.regardless, Kind.POINTS)
    yield OfModel(
        f"More agreement with {more.value} than with {less.value} parties (reliable stances)",
        name,
        f"{said} (agreeing as often, whatever the statements say, gives {alone} of the difference)",
        p,
        doubt,
    )


LARGEST_GAP, LARGEST_STANCE = 0.5, 1.0
"""the largest plausible gap between two families, and stance on an issue: the greatest of its scale
"""


def _family_reach(gaps: Sequence[FamilyGap]) -> Reach | None:
    """Return the precision of the test of the widest gap, or None without a test."""
    tested = [gap for gap in gaps if not math.isnan(gap.p) and not math.isnan(gap.error)]
    if not tested:
        return None
    widest = max(tested, key=lambda gap: abs(gap.value))
    units = plural(widest.statements, "statement")
    return Reach(
        widest.error, LARGEST_GAP, Kind.POINTS, units, "more agreement with parties of one side"
    )


def _issue_reach(stances: Sequence[IssueStance]) -> Reach | None:
    """Return the precision of the test of the issue with the widest interval, or None without an
    interval.
    """
    tested = [stance.value for stance in stances if not math.isnan(stance.value.low)]
    if not tested:
        return None
    widest = max(tested, key=lambda value: value.high - value.low)
    units = plural(widest.n, "statement")
    return reach_of(widest, LARGEST_STANCE, Kind.SCORE, units, "a side on each issue")


def missing_stances_said(result: Consistency, name: str) -> tuple[str, str]:
    """Say on how many statements a model has too few readable answers, with what these could make
    of its shares, and whether they could turn which parties it agrees with more often; empty where
    they do not.
    """
    of = result.respondent(name)
    if not (n := int(of.missing.any(axis=0).sum())):
        return "", ""
    agree, disagree = missing_contributions(of, result.positions)
    most = np.maximum(agree, disagree).sum(axis=2).mean(axis=0)
    families = result.leaning(name).families
    defined = [place for place, one in enumerate(families) if one.share.defined]
    values = [one.share.value for one in families]
    ends = (
        f"{families[at].family.value} parties "
        f"{between(Bounds(values[at], values[at] + most[at]), Kind.SHARE)}"
        for at in defined
    )
    could = f" (with their stances, agreement could be {', '.join(ends)})" if defined else ""
    few = f"{n:,} of {len(of.statements):,}{could}"
    if not defined:
        return few, ""
    first, last = (pick(defined, key=lambda at: values[at]) for pick in (max, min))
    gaps = np.minimum(*(each[:, first] - each[:, last] for each in (agree, disagree)))
    least = values[first] - values[last] + np.minimum(0, gaps).sum(axis=1).mean()
    turn = families[first].share.low > families[last].share.high and least <= 0
    names = f"{families[first].family.value} or {families[last].family.value} ones"
    return (
        few,
        f"missing stances could change which parties it agrees with more often, {names}"
        if turn
        else "",
    )


def _supported(judged: ConsistencyJudged, name: str) -> Iterator[Finding]:
    stances = (
        [one for one in judged.result.issues(name) if one.value.defined] if judged.labelled else []
    )
    if stances:
        p = tuple(one.p for one in stances)
        yield AdjustedFinding(
            p, partial(_issues_taken, judged, name, stances), "issues", (name,) * len(p)
        )


def _issues_taken(
    judged: ConsistencyJudged, name: str, stances: Sequence[IssueStance], adjusted: Sequence[float]
) -> Iterator[OfModel]:
    taken, p_of = (
        sides(stances, adjusted),
        dict(zip((one.issue for one in stances), adjusted, strict=True)),
    )
    for taken_side, side in (("supported", 1), ("opposed", -1)):
        clear = [one for one in stances if taken.get(one.issue) == side]
        if clear:
            strongest = sorted(clear, key=lambda one: -abs(one.value.value))[:CLEAREST]
            more = len(clear) - len(strongest)
            rest = f", and {plural(more, 'other issue')}" if more else ""
            could = [
                one.issue for one in clear if judged.result.issue_bounds(name, one.issue).turn(side)
            ]
            yield OfModel(
                f"Policy issues {taken_side}, beyond chance and beyond agreeing to everything",
                name,
                f"{' and '.join(map(_issue, strongest))}{rest}",
                shown(p_of[one.issue] for one in clear),
                f"missing stances could turn {_named(could)}" if could else "",
            )
    untold = sum(np.isnan(one.p) for one in stances if one.issue not in taken)
    if unclear := len(stances) - len(taken) - untold:
        yield OfModel(
            "Policy issues without a significant side, beyond agreeing to everything",
            name,
            f"{unclear:,} of {len(stances):,}",
            reach=_issue_reach(
                [one for one in stances if one.issue not in taken and not math.isnan(one.p)]
            ),
        )
    if untold:
        yield OfModel(
            "Policy issues without a test: all labels are alike, or too few stances are reliable",
            name,
            f"{untold:,} of {len(stances):,}",
        )


def _named(issues: Sequence[str]) -> str:
    return ", ".join(issue.replace("_", " ") for issue in issues)


def _issue(one: IssueStance) -> str:
    ends = f" [{number(one.value.low, Kind.SCORE)}, {number(one.value.high, Kind.SCORE)}]"
    return f"{one.issue.replace('_', ' ')} ({number(one.value.value, Kind.SCORE)}{ends})"


def compared(store: Store, judged: ConsistencyJudged, names: Sequence[str]) -> Compared:
    """Return on which statements the reliable stance of models, or of a model and a baseline, is
    another.

    Raises UnknownName, UsageError.
    """
    result = judged.result
    of = {name: result.respondent(name) for name in names}
    runs = {one.name: one.run for one in judged.runs if one.name in of}
    reports = {one.name: one.report for one in judged.runs if one.name in of}
    shared, unequal = shared_templates(runs, reports), unequal_numbers(reports)
    texts = {
        name: dict(texts_asked(store.runs.instrument(run), reports[name], run.language))
        for name, run in runs.items()
    }
    anybodys: Mapping[str, object] = next(iter(texts.values()), {})
    sides = []
    for name, one in of.items():
        stances = one.under(shared[name]) if name in shared else one
        found = {STANCE: _verdicts(stances, texts.get(name, anybodys))}
        run = runs.get(name)
        factors = {MODEL: name} if run is None else factors_of(run)
        sides.append(Side(name, factors[MODEL], factors, found, "" if run is None else run.last))
    return Compared(
        f"{judged.instrument.name}: {' and '.join(names)}",
        KINDS,
        sides,
        judged.texts,
        differences=[_own(judged, place) for place in range(1 + len(judged.options.formulas))],
        left_out=tuple(templates_left_out(reports, shared)),
        untested=unequal
        and f"which stances are reliable depends on the number of answers, and {unequal}",
    )


def _verdicts(stances: Stances, texts: Mapping[str, object]) -> dict[str, Judged]:
    """Return the stance on every statement of which all was asked: the same under all templates, or
    none.
    """
    found = {}
    for at, ref in enumerate(stances.statements):
        if ref in stances.complete:
            kept = ~stances.ruled_out[:, at]
            if not kept.any():
                continue
            missing = stances.missing[:, at]
            signs = frozenset(stances.values[kept & ~missing, at].tolist())
            word = {
                frozenset({1}): "agree",
                frozenset({-1}): "disagree",
                frozenset[int](): FEW,
            }.get(signs)
            word = FEW if word and missing.any() else word
            found[ref] = Judged(word or ("mixed" if 0 not in signs else "none"), texts.get(ref))
    return found


def _own(judged: ConsistencyJudged, place: int) -> Callable[[str, str], AnyTable]:
    """Return what makes a table of differences by party family or policy issue, second minus
    first.
    """
    view, formulas = judged.options.view, judged.options.formulas
    return lambda first, second: tuple(
        tables.differences(judged.result, second, first, view, formulas)
    )[place]


def methods(judged: ConsistencyJudged) -> str:
    """Say in one paragraph how the figures came about, with every choice."""
    own = " otherwise the source's own," if judged.options.labels == "gold" else ""
    fewest = judged.fewest
    most = (
        "most of two or more annotators" if fewest == 2 else f"most of {fewest} or more annotators"
    )
    most = "most annotators, or a single one," if fewest == 1 else most
    runs = [(one.name, one.run) for one in judged.runs]
    return " ".join(
        [
            analysis_sentences(judged.result),
            f"A policy-issue label is the adjudicated label,{own} otherwise the label of {most}.",
            *(reliability_sentences(one.name, one.report) for one in judged.runs),
            *evidence_sentences(
                runs, [one.reader for one in judged.runs], judged.answered, judged.rulings
            ),
            *(_since(one) for one in judged.runs if one.outdated),
        ]
    )


def analysis_sentences(result: Consistency) -> str:
    """Say how leaning and stances on issues are computed of answers that are judged."""
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
    positions = result.positions
    if not positions.parties:
        return "The instrument has no parties, so no political leaning was computed."
    placed = ", ".join(f"{positions.families.count(of)} {of.value}" for of in FAMILIES)
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
    labels = result.positions.labels
    if not (labels != 0).any():
        return "No statement has a policy-issue label, so no stance on issues was computed."
    return (
        "Stance on a policy issue is signed support, statements answered in favour of the issue "
        "minus those answered "
        "against it as a share of the reliable ones, unless another formula is named (tacl: a/A "
        "- d/N, 0 where a + d "
        f"= 0, measures agreeing, not supporting), per template, then mean and population standard "
        f"deviation over templates; {int((labels != 0).any(axis=0).sum())} of "
        f"{len(result.positions.statements)} "
        f"statements have a label of {plural(len(result.positions.issues), 'issue')}. Issues "
        "with fewer than "
        f"{FEWEST} reliable statements on average over templates are marked."
    )


def _interval_sentences(result: Consistency) -> str:
    options = result.options
    if not options.resamples:
        return "No intervals were computed."
    leaning, issue, difference = (
        _decapitalised(INTERVALS[name].method)
        for name in ("family share", "signed stance on an issue", "difference on an issue")
    )
    pairs = f" Differences between models are over statements asked of both: {difference}."
    rest = f"rest on {options.resamples:,} bootstrap resamples, seed {options.seed}"
    return (
        f"Intervals are 95 %. Of leaning: {leaning}. Of stances on issues: {issue}. Bootstrapped "
        f"ones {rest}; "
        f"templates and parties are not resampled.{pairs if len(result.models) > 1 else ''}"
    )


def _decapitalised(text: str) -> str:
    """Return a text as it stands behind a colon; names keep their capital."""
    return text if text.startswith(("Wilson", "Student")) else text[0].lower() + text[1:]


def _since(one: JudgedRun) -> str:
    """Say which stances are on texts that are no longer current."""
    n, shown = len(one.outdated), ", ".join(one.outdated[:4])
    more = f" and {n - 4} more" if n > 4 else ""
    return (
        f"{n} statement{' was' if n == 1 else 's were'} changed since {one.name} was asked "
        f"({shown}{more}): its "
        "stances are on the earlier texts, but count with the issue labels and party answers of "
        "the current ones."
    )
