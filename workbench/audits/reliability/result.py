"""The result of the reliability audit: which statements keep their stance, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.audit import Medium, Opened, Printed
from workbench.audits.chosen_run import run_meant
from workbench.audits.codes import FAIL, INSUFFICIENT, VOID, verdict
from workbench.audits.comparison.judge import Compared, resolve_run_names
from workbench.audits.printed import HomeFigure
from workbench.audits.reliability import pooled
from workbench.audits.reliability import tables as tables
from workbench.audits.reliability.book import _lead_sentences, run_book
from workbench.audits.reliability.compared import compared
from workbench.audits.reliability.counting import ALL
from workbench.audits.reliability.findings import list_findings
from workbench.audits.reliability.judge import ReliabilityReport
from workbench.audits.reliability.judged import ReliabilityJudged, VerdictFigures, judge_reliability
from workbench.audits.reliability.options import TESTS, ReliabilityOptions
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
from workbench.domain.verdicts import Estimate, Verdict
from workbench.errors import UsageError
from workbench.evidence.runs import (
    AnswerSelection,
    matching_runs,
    named_runs,
    runs_of_models,
    select_runs,
    split_by_fingerprint,
)
from workbench.figures.shown import number
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
    "them: the tables by template show by how much.",
    "The published rule of a clear leaning is not a confidence interval; it is too narrow near 0 "
    "and 100 %.",
)
WHY_SAID = 3
"number of tests whose reason is given"
REMEMBERED = 4
"number of results by other options that are cached"


def judge(
    store: Store, which: AnswerSelection, options: ReliabilityOptions, opened: Opened
) -> Result:
    """Return the verdicts on the selected run. Raises UnknownName, AmbiguousRun, UsageError."""

    def read() -> tuple[ReliabilityJudged, Mapping[str, Run]]:
        run = run_meant(store, AUDIT, which)
        if run.sampling.mode == EXACT and which.readings.by is not None:
            raise UsageError(
                f"{run.label} has probabilities, not answers to read; leave out --reader"
            )
        same_instrument = AnswerSelection(
            run.instrument, templates=TemplateChoice(versions=which.templates.versions)
        )
        judged = judge_reliability(store, run, options, readings=which.readings)
        return judged, runs_to_compare(store, same_instrument)

    judged, runs = store.at_once(read)
    name = next((run_name for run_name, run in runs.items() if run == judged.run), judged.run.named)

    def put_beside(other_options: ReliabilityOptions, run_names: Sequence[str]) -> Compared:
        with opened() as opened_store:
            return compared(
                opened_store,
                {run_name: runs[run_name] for run_name in run_names},
                other_options,
                readings=which.readings,
            )

    @lru_cache(REMEMBERED)
    def judge_by(other_options: ReliabilityOptions) -> Result:
        result = _result(which, name, judged.by(other_options), other_options, opened)
        return replace(
            result, beside=runs, compared=partial(put_beside, other_options), again=judge_by
        )

    return judge_by(options)


def runs_to_compare(store: Store, which: AnswerSelection) -> dict[str, Run]:
    """Return the runs with answers that a choice of answers selects, by distinct names.

    They are of every family and persona, unless the choice names some.
    """
    templates = which.templates
    all_runs = store.runs.list(
        AUDIT, which.instrument, versions=dict(templates.versions), personas=True
    )
    model_runs = runs_of_models(store, all_runs, which.models)
    families = templates.families or tuple(dict.fromkeys(run.family for run in model_runs))
    chosen = select_runs(
        model_runs, replace(templates, families=families, personas=templates.personas or (EVERY,))
    )
    snapshot_runs = split_by_fingerprint(
        store, matching_runs(chosen, which.sampling, which.dtype, which.snapshot), which.fingerprint
    )
    return named_runs([run for run in snapshot_runs if run.responses])


def compared_runs(
    store: Store,
    which: AnswerSelection,
    options: ReliabilityOptions,
    names: Sequence[str],
    where: Sequence[str],
    medium: Medium,
) -> Printed:
    """Return the printed comparison of runs side by side.

    Parameters
    ----------
    names : names of the runs, or of their models
    where : conditions that select rows
    """
    runs = runs_to_compare(store, which)
    models = {name: run.model for name, run in runs.items()}
    labels = {run.label: name for name, run in runs.items()}
    selected_runs = {name: runs[name] for name in resolve_run_names(names, models, labels)}
    comparison = replace(
        compared(store, selected_runs, options, readings=which.readings), within=options.same_within
    )
    return with_rules(
        side_by_side(comparison, conditions(where), medium, choices(which, options)), options
    )


MOST_STEPS = 1000
"steps of a key up, and down, from the default value"


def _result(
    which: AnswerSelection,
    name: str,
    judged: ReliabilityJudged,
    options: ReliabilityOptions,
    opened: Opened,
) -> Result:
    """Return the result of a judged run."""
    figures, largest_plan = (
        judged.figures(as_people=options.as_people),
        judged.report.counts.sizes[1],
    )
    default_minimum = ReliabilityOptions().required(largest_plan)
    highest = min(largest_plan, default_minimum + MOST_STEPS)
    lowest = max(1, default_minimum - MOST_STEPS)
    steps: dict[str, Sequence[object]] = {
        "minimum": (*range(default_minimum, highest + 1), *range(lowest, default_minimum))
    }
    return Result(
        which=which,
        options=options,
        instrument=judged.instrument,
        runs={name: judged.run},
        names=(name,),
        book=run_book(judged, figures, f"{name} on {judged.run.instrument}: reliability", opened),
        first=FIRST,
        unfolded=UNFOLDED,
        findings=Later(lambda: list_findings(name, judged, figures)),
        all_models=lambda: _all_models(name, judged, figures),
        leads=Later(lambda: _lead_sentences(judged, figures)),
        headline=lambda: _headline(name, judged, figures),
        rulings=judged.rulings,
        answered=[replace(judged.answered, name=name)],
        items={name: Later(lambda: _items(judged, figures))},
        limits=LIMITS,
        references=[CERON],
        words=tuple(_words(judged)),
        reader=f"{judged.card.name}, version {judged.card.version}" if judged.exact is None else "",
        readers={name: judged.reader} if judged.reader else {},
        about=judged.about(),
        steps=steps if judged.instrument.survey else {**steps, "as_people": (False,)},
        judged=judged,
    )


def _headline(name: str, judged: ReliabilityJudged, figures: VerdictFigures) -> Headline:
    """Return the headline of a run: its share of kept stances, and its verdicts."""
    share = figures.pooled.share(ALL)
    if share.defined:
        main_text = f"keeps {number(share.value, Kind.SHARE)} of {plural(share.n, 'stance')}"
        if share.excluded:
            main_text += f" ({share.excluded} left out as unreadable)"
    else:
        main_text = f"share of kept stances not estimated: {share.undefined}"
    run_text = f"{judged.run.instrument} · {judged.run.sampling}"
    doubts = (figures.pooled.faintness(), figures.pooled.roughness(ALL))
    warnings = [(f"! {doubt}", True) for doubt in doubts if doubt]
    return Headline(
        name,
        main_text,
        [*warnings, (f"{_verdicts_words(judged.report)} · {run_text}", False)],
        HomeFigure(share, Kind.SHARE, "statements that keep their stance"),
    )


def _verdicts_words(report: ReliabilityReport) -> str:
    """Return the numbers of statements that pass or fail the published test, or have no verdict."""
    counts = Counter(verdict(code) for code in report.over_templates(ALL))
    tested = sum(counts.values()) - counts[Verdict.VOID]
    text = f"✓ {counts[Verdict.PASS]} of {tested} {pooled.published_words(report)}"
    if counts[Verdict.FAIL]:
        text += f"  ✗ {counts[Verdict.FAIL]} to review"
    if counts[Verdict.INSUFFICIENT]:
        text += f"  · {counts[Verdict.INSUFFICIENT]} few"
    if counts[Verdict.VOID]:
        text += f"  ∅ {counts[Verdict.VOID]} void"
    return text


def _words(judged: ReliabilityJudged) -> Iterator[str]:
    """Yield the parts of the line above tables: statements, sampling and rules in force."""
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
        is_default = options.usual(("low", "high")) == options
        yield judged.card.name
        yield f"rule as {options.rule}{'' if is_default else f', limits {low} and {high} %'}"
        yield f"≥{report.required_text} readable"
    else:
        reading = f", ≥{report.required_text} readable" if options.with_unreadable else ""
        yield f"{low}-{high} % unclear"
        yield f"labels ≥{100 * options.named:g} %"
        yield f"of {options.beside}: rule as {options.rule}{reading}"
    if set(options.tests) != set(TESTS):
        yield f"all = {' + '.join(map(in_words, options.tests))}"


def _all_models(name: str, judged: ReliabilityJudged, figures: VerdictFigures) -> AnyTable:
    """Return the table of the run for a comparison of all models."""
    report = judged.report
    codes = report.over_templates(ALL)
    n_insufficient, n_void = (int((codes == code).sum()) for code in (INSUFFICIENT, VOID))
    # The published test is one of drawn answers.
    is_exact = judged.exact is not None
    values: dict[str, Estimate | float | None] = {
        "pooled": figures.pooled.share(ALL),
        "coin": pooled.by_coin(report).share(ALL).value,
        "passing": None if is_exact else report.passing(ALL),
        "answers": None if is_exact else float(report.counts.sizes[1]),
        "statements": len(codes) - n_void,
        "few": n_insufficient,
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
        "label orders. It is estimated by partial pooling: more answers make it more precise, not "
        "higher or lower. The published test passes more or fewer statements with more answers, so "
        "only the table has it. No people answered these statements.",
    )


def _items(judged: ReliabilityJudged, figures: VerdictFigures) -> Iterator[ReportedItem]:
    """Yield the statements with their verdicts and reasons."""
    report = judged.report
    codes = report.over_templates(ALL)
    codes_by_test = {test: np.atleast_2d(report.verdicts(test)) for test in report.options.tests}
    for row, ref in enumerate(report.counts.statements):
        outcome = verdict(codes[row])
        reasons = () if outcome is Verdict.PASS else tuple(_why(report, codes_by_test, row, ref))
        yield ReportedItem(ref, figures.text(ref), outcome, reasons)


def _why(
    report: ReliabilityReport, failing: Mapping[str, np.ndarray], place: int, ref: str
) -> Iterator[str]:
    """Yield sentences on the first tests that a statement does not pass.

    Each gives the number of templates under which it does not pass, and the reason under the first
    one.
    """
    templates = report.counts.templates
    n_given = 0
    for test, codes in failing.items():
        not_passed = np.flatnonzero((codes[:, place] == FAIL) | (codes[:, place] == INSUFFICIENT))
        if not not_passed.size or n_given == WHY_SAID:
            continue
        n_given += 1
        first = templates[int(not_passed[0])]
        templates_text = (
            f" under {len(not_passed)} of {len(templates)} templates" if len(templates) > 1 else ""
        )
        instance = f" ({first})" if len(templates) > 1 else ""
        yield (
            f"{in_words(test)}: not passed{templates_text}. "
            f"{report.reason(ref, first, test)}{instance}"
        )


STATEMENTS, TEMPLATES, SAMPLES = 8, ("personal-2", "personal-3"), 10
SAMPLING = Sampling(temperature=0.4)
"""at the published temperature of 1 most answers of a model as small as the embedded one are
unreadable"""


def design(store: Store, model: str) -> Design:
    """Return a design on the first statement of each topic.

    Every issue is thus in a short demonstration.
    """
    statements = store.instruments.get(SHIPPED_INSTRUMENT).statements
    first = {item.ref.rpartition("-")[0]: item.ref for item in reversed(statements)}
    selected_refs = set(list(first.values())[:STATEMENTS])
    refs = tuple(item.ref for item in statements if item.ref in selected_refs)
    return Design(
        SHIPPED_INSTRUMENT,
        model,
        samples=SAMPLES,
        sampling=SAMPLING,
        family="user",
        statements=refs,
        templates=TEMPLATES,
    )
