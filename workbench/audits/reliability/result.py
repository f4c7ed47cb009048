"""The result of the reliability audit: which statements of a run keep their stance, and why others
do not.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import Medium, Opened, Printed
from workbench.audits.chosen_run import run_meant
from workbench.audits.claims import OfModel
from workbench.audits.codes import FAIL, INSUFFICIENT, VOID, verdict
from workbench.audits.comparison.judge import Compared, meant
from workbench.audits.reliability import agreement_tables as agreement
from workbench.audits.reliability import components as parts
from workbench.audits.reliability import pooled, reader_error
from workbench.audits.reliability import tables as tables
from workbench.audits.reliability.compared import compared
from workbench.audits.reliability.counting import ALL
from workbench.audits.reliability.expected import ExactReport
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import ReliabilityJudged, VerdictFigures, judge_reliability
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
from workbench.audits.reliability.reader_error import ReaderError
from workbench.audits.reliability.tables import passing, passing_by_template
from workbench.audits.reliability.wordings import (
    PRINTED_ORDER,
    ScoredPrompt,
    next_tokens,
    prompts,
    scored_prompts,
    wordings,
)
from workbench.audits.reported import CERON, ModelFigures, ReportedItem, of_all_models
from workbench.audits.result import (
    Headline,
    Later,
    Result,
    choices,
    conditions,
    side_by_side,
    with_rules,
)
from workbench.data import SHIPPED_INSTRUMENT
from workbench.domain.designs import Design
from workbench.domain.names import in_words, plural
from workbench.domain.prompts import TemplateChoice
from workbench.domain.responses import EXACT, Sampling
from workbench.domain.verdicts import Bounds, Estimate, Verdict
from workbench.errors import UsageError
from workbench.evidence.answered import entries, entry
from workbench.evidence.runs import Which, chosen_of, matching, named_runs, of_models, split
from workbench.figures.book import Book, Entry
from workbench.figures.shown import between, number
from workbench.figures.table import AnyTable, Kind
from workbench.formats.personas import EVERY

AUDIT = "reliability"
FIRST = ("verdicts", "pooled", "passing", "personas", "persona_components")
UNFOLDED = ("pooled", "passing", "reader_error", "mean_kappas", "components")
LIMITS = (
    "A statement that keeps its stance is answered consistently; this does not mean that the "
    "stance is right, or "
    "that the model would say the same in free text or in a longer conversation.",
    "Verdicts hold for these wordings, templates and this sampling. Another template may change "
    "them: the tables by "
    "template show by how much.",
    "The published rule of a clear leaning is not a confidence interval; it is too narrow near 0 "
    "and 100 %.",
)
WHY_SAID = 3
"tests whose reason is given"
REMEMBERED = 4
"results by other options that are kept"


def judge(store: Store, which: Which, options: ReliabilityOptions, opened: Opened) -> Result:
    """Return the verdicts on the run that is meant. Raises UnknownName, AmbiguousRun,
    UsageError.
    """

    def read() -> tuple[ReliabilityJudged, Mapping[str, Run]]:
        run = run_meant(store, AUDIT, which)
        if run.sampling.mode == EXACT and which.readings.by is not None:
            raise UsageError(
                f"{run.label} has probabilities, not answers to read; leave out --reader"
            )
        alike = Which(run.instrument, templates=TemplateChoice(versions=which.templates.versions))
        judged = judge_reliability(store, run, options, readings=which.readings)
        return judged, runs_to_compare(store, alike)

    judged, beside = store.at_once(read)
    name = next((name for name, one in beside.items() if one == judged.run), judged.run.named)

    def put_beside(by: ReliabilityOptions, names: Sequence[str]) -> Compared:
        with opened() as store:
            return compared(
                store, {name: beside[name] for name in names}, by, readings=which.readings
            )

    @lru_cache(REMEMBERED)
    def by(other: ReliabilityOptions) -> Result:
        made = _result(which, name, judged.by(other), other, opened)
        return replace(made, beside=beside, compared=partial(put_beside, other), again=by)

    return by(options)


def runs_to_compare(store: Store, which: Which) -> dict[str, Run]:
    """Return the runs with answers that a choice of answers means, of every family and persona
    unless it names some, by names that tell them apart.
    """
    asked = which.templates
    listed = store.runs.list(AUDIT, which.instrument, versions=dict(asked.versions), personas=True)
    every = of_models(store, listed, which.models)
    families = asked.families or tuple(dict.fromkeys(run.family for run in every))
    there = chosen_of(every, replace(asked, families=families, personas=asked.personas or (EVERY,)))
    kept = split(
        store, matching(there, which.sampling, which.dtype, which.snapshot), which.fingerprint
    )
    return named_runs([run for run in kept if run.responses])


def compared_runs(
    store: Store,
    which: Which,
    options: ReliabilityOptions,
    names: Sequence[str],
    where: Sequence[str],
    medium: Medium,
) -> Printed:
    """Return what `verdicts` prints of runs side by side. `names`: theirs, or their models';
    `where`: which rows.
    """
    runs = runs_to_compare(store, which)
    models = {name: run.model for name, run in runs.items()}
    labels = {run.label: name for name, run in runs.items()}
    chosen = {name: runs[name] for name in meant(names, models, labels)}
    of = replace(
        compared(store, chosen, options, readings=which.readings), within=options.same_within
    )
    return with_rules(side_by_side(of, conditions(where), medium, choices(which, options)), options)


MOST_STEPS = 1000
"steps of a key up, and down, from the usual value"


def _result(
    which: Which, name: str, judged: ReliabilityJudged, options: ReliabilityOptions, opened: Opened
) -> Result:
    of, most = judged.figures(as_people=options.as_people), judged.report.counts.sizes[1]
    usual = ReliabilityOptions().needed(most)
    last = min(most, usual + MOST_STEPS)
    first = max(1, usual - MOST_STEPS)
    steps: dict[str, Sequence[object]] = {
        "minimum": (*range(usual, last + 1), *range(first, usual))
    }
    return Result(
        which=which,
        options=options,
        instrument=judged.instrument,
        runs={name: judged.run},
        names=(name,),
        book=_book(judged, of, f"{name} on {judged.run.instrument}: reliability", opened),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: _findings(name, judged, of)),
        all_models=lambda: _all_models(name, judged, of),
        leads=Later(lambda: _leads(judged, of)),
        headline=lambda: _headline(name, judged, of),
        rulings=judged.rulings,
        answered=[replace(judged.answered, name=name)],
        items={name: Later(lambda: _items(judged, of))},
        limits=LIMITS,
        references=[CERON],
        words=tuple(_words(judged)),
        reader=f"{judged.card.name}, version {judged.card.version}" if judged.exact is None else "",
        readers={name: judged.reader} if judged.reader else {},
        about=judged.about(),
        steps=steps if judged.instrument.survey else {**steps, "as_people": (False,)},
        judged=judged,
    )


def _book(judged: ReliabilityJudged, of: VerdictFigures, title: str, opened: Opened) -> Book:
    """Return the figures of a run with what its answers are, and, behind them, the probabilities of
    its prompts.
    """
    personas = judged.by_persona.entries() if judged.by_persona else ()
    refusals = entries(lambda: [judged.refusals], judged.report.options.seed)
    found = book(of, title, [*personas, entry([judged.answered]), *refusals], judged.verdicts.error)
    behind = {**found.behind, **_probabilities(judged, opened)}
    return replace(
        found, behind=behind, told=judged.told(), header=judged.header, methods=judged.methods()
    )


def _leads(judged: ReliabilityJudged, of: VerdictFigures) -> Iterator[str]:
    """Yield the share of statements that keep their stance, and how many pass the published
    test.
    """
    value, doubt = pooled.share_said(of.pooled)
    yield (
        f"{pooled.KEEP}{pooled.tests_words(judged.report)}: "
        f"{value}.{f' ({doubt})' if doubt else ''}"
    )
    said, value, could = passing_said(judged.report)
    yield f"{said}: {value}{f'; {could}' if could else ''}."


def _probabilities(judged: ReliabilityJudged, opened: Opened) -> dict[str, Callable[..., AnyTable]]:
    """Return the tables of every prompt's labels and next tokens, of one statement or under one
    template if named.
    """

    def scored(statement: str, template: str) -> tuple[ExactReport, list[ScoredPrompt]]:
        if (exact := judged.exact) is None:
            raise UsageError(
                f"the answers of {judged.run.label} were sampled, without probabilities; compute "
                "them with: "
                "workbench run STORE --exact --model NAME"
            )
        with opened() as store:
            tables = store.scores.tables_of_run(judged.run)
            cells = store.runs.cells(judged.run)
        tokens = {
            (ref, f"{kind}-{n}" if n else kind, under, "swapped" if inverted else PRINTED_ORDER): (
                tuple((text, math.exp(log)) for text, log in tables[probe].tokens),
                tables[probe].rest,
            )
            for ref, kind, n, under, inverted, probe, _ in cells
            if probe in tables
        }
        return exact, list(scored_prompts(exact, tokens, statement, template))

    return {
        "prompts": lambda statement="", template="": prompts(*scored(statement, template)),
        "next_tokens": lambda statement="", template="": next_tokens(
            scored(statement, template)[1]
        ),
    }


def book(
    of: VerdictFigures, title: str, more: Sequence[Entry] = (), of_reader: ReaderError | None = None
) -> Book:
    """Return the figures of a run, in the order in which one reads them. `more`: tables of what its
    answers are.

    Behind `verdicts` stand a statement under each template (`statement`), and behind these its
    wordings (`wordings`); what a wording was answered (`answers`) leads out of the book. Behind
    `templates` stand the verdicts under one.
    """
    exact = of.exact
    chances = (
        []
        if exact is None
        else [
            Entry(
                "sampled_would_pass", "what samples would pass", partial(tables.chances, of, exact)
            )
        ]
    )
    under = [(template,) for template in of.templates] if len(of.templates) > 1 else []
    verdicts = partial(tables.verdicts, of)
    return Book(
        title,
        [
            Entry(
                "verdicts",
                "statements",
                verdicts,
                [(), *under],
                said=partial(tables.passing_words, of),
            ),
            Entry("pooled", "keeping their stance", lambda: pooled.table(of.report, of.pooled)),
            Entry("passing", "passing each test", partial(passing, of)),
            *_reader_error(of_reader),
            Entry("passing_by_template", "passing, by template", partial(passing_by_template, of)),
            *chances,
            Entry("templates", "templates", partial(tables.templates, of)),
            *_agreement(of),
            *_instability(of),
            *more,
        ],
        behind={
            "verdicts": verdicts,
            "statement": partial(tables.statement, of),
            "wordings": partial(wordings, of),
            "components": lambda issue="": parts.components(of.parts, issue),
        },
        notes=(
            "Stance: the side of most readable answers to a prompt; a tie has none and fails "
            "tests that compare it.",
            f"{tables.VOID_NOTE}.",
            agreement.OVER_STATEMENTS,
            agreement.COIN,
            agreement.PEOPLE,
        ),
    )


def _reader_error(of: ReaderError | None) -> list[Entry]:
    return (
        []
        if of is None
        else [Entry("reader_error", "with the reader's error", lambda: reader_error.table(of))]
    )


def _instability(of: VerdictFigures) -> list[Entry]:
    """Return the tables of variance components; they are made when somebody looks, which takes a
    moment.
    """
    issues = sorted({issue for ref in of.report.counts.statements for issue in _labelled(of, ref)})
    return [
        Entry(
            "components",
            "sources of instability",
            lambda issue="": parts.components(of.parts, issue),
            [(), *((issue,) for issue in issues)],
        ),
        Entry("components_by_issue", "instability by issue", lambda: parts.by_issue(of.parts)),
        Entry("shifts", "effects common to all prompts", lambda: parts.shifts(of.parts)),
    ]


def _labelled(of: VerdictFigures, ref: str) -> list[str]:
    statement = of.statements.get(ref)
    return [issue for issue, label in statement.issues.items() if label] if statement else []


def _agreement(of: VerdictFigures) -> list[Entry]:
    """Return the tables of agreement; some depend on whether kappas are over the statements that
    people answered.
    """
    name, as_people = of.instrument.name, ["as_people"]
    found = [
        Entry(
            "mean_kappas",
            "κ beside coin and people",
            partial(agreement.means, of),
            choices=as_people,
        ),
        Entry("kappas", "κ by template", partial(agreement.kappas, of), choices=as_people),
        Entry("across_templates", "between templates", partial(agreement.across, of)),
        Entry("item_agreement", "agreement per statement", partial(agreement.items, of)),
    ]
    if of.instrument.survey:
        found.append(Entry("people", "people", lambda: agreement.people(name, of.people)))
    if of.as_people:
        found.append(
            Entry(
                "restricted",
                "statements counted",
                partial(agreement.restricted, of),
                choices=as_people,
            )
        )
    return found


def _headline(name: str, judged: ReliabilityJudged, of: VerdictFigures) -> Headline:
    share = of.pooled.share(ALL)
    if share.defined:
        keep = f"keeps {number(share.value, Kind.SHARE)} of {plural(share.n, 'stance')}"
    else:
        keep = f"share of kept stances not estimated: {share.undefined}"
    where = f"{judged.run.instrument} · {judged.run.sampling}"
    rough = of.pooled.roughness(ALL)
    warnings = [(f"! {rough}", True)] if rough else []
    return Headline(name, keep, [*warnings, (f"{_verdicts_words(judged.report)} · {where}", False)])


def _verdicts_words(report: ReliabilityReport) -> str:
    """Return how many statements pass the published test, fail it, and have no verdict."""
    found = Counter(verdict(code) for code in report.over_templates(ALL))
    tested = sum(found.values()) - found[Verdict.VOID]
    said = f"✓ {found[Verdict.PASS]} of {tested} {pooled.published_words(report)}"
    if found[Verdict.FAIL]:
        said += f"  ✗ {found[Verdict.FAIL]} to review"
    if found[Verdict.INSUFFICIENT]:
        said += f"  · {found[Verdict.INSUFFICIENT]} few"
    if found[Verdict.VOID]:
        said += f"  ∅ {found[Verdict.VOID]} void"
    return said


def _words(judged: ReliabilityJudged) -> Iterator[str]:
    """Say what is judged, and the rules in force, for the line above tables."""
    report = judged.report
    counts, options, (fewest, most) = report.counts, report.options, report.counts.sizes
    if missing := judged.missing():
        yield f"✗ {missing}"
    samples = (
        "scored"
        if judged.exact is not None
        else f"{most if fewest == most else f'{fewest}-{most}'} samples"
    )
    yield f"{plural(len(counts.statements), 'statement')}, {samples}"
    yield str(judged.run.sampling)
    low, high = f"{100 * options.low:g}", f"{100 * options.high:g}"
    if judged.exact is None:
        usual = options.usual(("low", "high")) == options
        yield judged.card.name
        yield f"rule as {options.rule}{'' if usual else f', limits {low} and {high} %'}"
        yield f"≥{report.needed_words} readable"
    else:
        reading = f", ≥{report.needed_words} readable" if options.with_unreadable else ""
        yield f"{low}-{high} % unclear"
        yield f"labels ≥{100 * options.named:g} %"
        yield f"of {options.beside}: rule as {options.rule}{reading}"
    if set(options.tests) != set(TESTS):
        yield f"all = {' + '.join(map(in_words, options.tests))}"


def _findings(name: str, judged: ReliabilityJudged, of: VerdictFigures) -> Iterator[OfModel]:
    report = judged.report
    value, doubt = pooled.share_said(of.pooled)
    yield OfModel(f"{pooled.KEEP}{pooled.tests_words(report)}", name, value, doubt=doubt)
    said, value, could = passing_said(report)
    error = judged.verdicts.error
    corrected = "" if error is None else reader_error.said(error)
    yield OfModel(said, name, value, doubt="; ".join(filter(None, (could, corrected))))
    yield from _weakest(name, report)
    codes = report.over_templates(ALL)
    if n := int((codes == VOID).sum()):
        yield OfModel(
            "Statements that are not counted, because no test applies to them", name, f"{n:,}"
        )
    if judged.exact is not None:
        yield OfModel(
            "Verdicts from the model's own probabilities of the two labels, without sampling", name
        )


def _all_models(name: str, judged: ReliabilityJudged, of: VerdictFigures) -> AnyTable:
    report = judged.report
    codes = report.over_templates(ALL)
    few, void = (int((codes == code).sum()) for code in (INSUFFICIENT, VOID))
    values: dict[str, Estimate | float | None] = {
        "pooled": of.pooled.share(ALL),
        "coin": pooled.by_coin(report).share(ALL).value,
        "passing": report.passing(ALL),
        "answers": None if judged.exact is not None else float(report.counts.sizes[1]),
        "statements": len(codes) - void,
        "few": few,
    }
    return of_all_models(
        pooled.KEEP,
        [ModelFigures(name, values)],
        {"pooled": "keep their stance"},
        Kind.SHARE,
        beside={"coin": "sides at random"},
        more={
            "passing": (pooled.PASSES_PUBLISHED, Kind.SHARE),
            "answers": ("answers a prompt", Kind.COUNT),
            "statements": ("statements", Kind.COUNT),
            "few": ("too few answers", Kind.COUNT),
        },
        scale=(0.0, 1.0),
        definition="Share of statements with the same stance under all templates, wordings and "
        "label orders, beyond "
        "chance. It is estimated by partial pooling, so it does not depend on the number of "
        "answers. The published "
        "test does, so the picture leaves it out. No human answers to compare with.",
    )


def passing_said(report: ReliabilityReport) -> tuple[str, str, str]:
    """Return what is said of the statements that pass the published test, how many do, and between
    which shares it could be if those that are missing were known.
    """
    codes = report.over_templates(ALL)
    failed, n, void = (int((codes == code).sum()) for code in (FAIL, INSUFFICIENT, VOID))
    of = len(codes) - void
    passed = of - failed - n
    share = f" ({number(passed / of, Kind.SHARE)})" if of else ""
    ends = between(Bounds(passed / of, (passed + n) / of), Kind.SHARE) if n else ""
    could = f"{ends} if the {n:,} with too few readable answers were decided" if n else ""
    said = f"Statements that {pooled.published_words(report)}{pooled.tests_words(report)}"
    return said, f"{passed:,} of {of:,}{share}", could


MOST_FAILED = "Reliability test that most statements fail"


def _weakest(name: str, report: ReliabilityReport) -> Iterator[OfModel]:
    """Say which test most statements fail, under whichever template."""
    failed = {
        test: int((report.over_templates(test) == FAIL).sum()) for test in report.options.tests
    }
    test = max(failed, key=lambda one: failed[one], default="")
    if test and failed[test]:
        tested = int((report.over_templates(test) != VOID).sum())
        yield OfModel(
            "Reliability test that most statements fail",
            name,
            f"{in_words(test)}, {failed[test]:,} of {tested:,}",
        )
    elif failed:
        yield OfModel("Reliability test that most statements fail", name, "none")


def _items(judged: ReliabilityJudged, figures: VerdictFigures) -> Iterator[ReportedItem]:
    report = judged.report
    codes = report.over_templates(ALL)
    failing = {test: np.atleast_2d(report.verdicts(test)) for test in report.options.tests}
    for place, ref in enumerate(report.counts.statements):
        found = verdict(codes[place])
        said = () if found is Verdict.PASS else tuple(_why(report, failing, place, ref))
        yield ReportedItem(ref, figures.text(ref), found, said)


def _why(
    report: ReliabilityReport, failing: Mapping[str, np.ndarray], place: int, ref: str
) -> Iterator[str]:
    """Say of the first tests that are not passed under how many templates, with the reason under
    one of them.
    """
    templates = report.counts.templates
    said = 0
    for test, codes in failing.items():
        wrong = np.flatnonzero((codes[:, place] == FAIL) | (codes[:, place] == INSUFFICIENT))
        if not wrong.size or said == WHY_SAID:
            continue
        said += 1
        first = templates[int(wrong[0])]
        under = f" under {len(wrong)} of {len(templates)} templates" if len(templates) > 1 else ""
        instance = f" ({first})" if len(templates) > 1 else ""
        yield f"{in_words(test)}: not passed{under}. {report.reason(ref, first, test)}{instance}"


STATEMENTS, TEMPLATES, SAMPLES = 8, ("personal-2", "personal-3"), 10
SAMPLING = Sampling(temperature=0.4)
"""at the published temperature of 1 most answers of a model as small as the embedded one are
unreadable"""


def design(store: Store, model: str) -> Design:
    """Return a design on the first statement of each topic: every issue is in a short
    demonstration.
    """
    statements = store.instruments.get(SHIPPED_INSTRUMENT).statements
    first = {one.ref.rpartition("-")[0]: one.ref for one in reversed(statements)}
    chosen = set(list(first.values())[:STATEMENTS])
    refs = tuple(one.ref for one in statements if one.ref in chosen)
    return Design(
        SHIPPED_INSTRUMENT,
        model,
        samples=SAMPLES,
        sampling=SAMPLING,
        family="user",
        statements=refs,
        templates=TEMPLATES,
    )
