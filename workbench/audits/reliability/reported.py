"""What a report says of the reliability of a run: how many statements keep their stance, and why others do not."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.codes import FAIL, INSUFFICIENT, VOID, verdict
from workbench.audits.comparison.reported import comparison, names_wanted
from workbench.audits.references import CERON
from workbench.audits.reliability.compared import compared, named_runs
from workbench.audits.reliability.judge import ALL, Options, Report
from workbench.audits.reliability.judged import ReliabilityJudged, judge_reliability
from workbench.audits.reliability.options import EXACT, JUDGING
from workbench.audits.reported import Item, Reported, Wanted, parameters
from workbench.domain.names import plural
from workbench.domain.readings import Readings
from workbench.domain.verdicts import Verdict
from workbench.evidence.runs import of_models, runs_of, told_apart
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.options.schema import Parameter

AUDIT = "reliability"
SOURCES = {
    "rule": "Ceron et al. 2024, section 5.4",
    "reader": "after Ceron et al. 2024, section 5.3; the rule of the released code is label-words-coded",
    "low": "Ceron et al. 2024, section 5.4",
    "high": "Ceron et al. 2024, section 5.4",
    "tests": "Ceron et al. 2024, section 6.2",
    "minimum": "ours: the paper names none",
    "judge_void": "ours: the paper judges them",
    "seed": "ours",
    "named": "ours",
    "beside": "Ceron et al. 2024, section 5.4",
}
LIMITS = (
    "A statement that keeps its stance is answered consistently; this does not mean that the stance is right, or "
    "that the model would say the same in free text or in a longer conversation.",
    "Verdicts hold for these wordings, templates and this sampling. Another template may change them: the tables by "
    "template show by how much.",
    "The published rule of a clear leaning is not a confidence interval; it is too narrow near 0 and 100 %.",
)
WHY_SAID = 3
"tests whose reason is given"


def reported(store: Store, wanted: Wanted) -> Iterator[Reported]:
    """Yield a part for each run that has answers, the oldest first."""
    every = runs_of(store, AUDIT, wanted.instrument or None)
    runs = [run for run in of_models(store, every, wanted.models) if run.responses]
    names = told_apart(
        [run.named for run in runs],
        [run.instrument for run in runs],
        [str(run.sampling) for run in runs],
        [run.language for run in runs],
        [run.family for run in runs],
        [run.short_version for run in runs],
        [run.dtype for run in runs],
        [run.encoded for run in runs],
    )
    for name, run in zip(names, runs, strict=True):
        yield _part(judged_once(store, run, wanted), name, wanted)
    for instrument in dict.fromkeys(run.instrument for run in runs):
        yield from _compared(store, [run for run in runs if run.instrument == instrument], wanted)


def _compared(store: Store, runs: Sequence[Run], wanted: Wanted) -> Iterator[Reported]:
    """Yield the comparison of runs on one instrument, where two of them are to be compared."""
    named = named_runs(runs)
    if names := names_wanted(wanted, {name: run.model for name, run in named.items()}):
        chosen = {name: named[name] for name in names}
        of = compared(store, chosen, Options(seed=wanted.seed), readings=Readings(rulings=wanted.rulings))
        first = chosen[names[0]]
        command = f"workbench show STORE reliability --instrument {shlex.quote(first.instrument)} --seed {wanted.seed}"
        yield comparison(of, "Reliability", store.runs.instrument(first), chosen, command)


def judged_once(store: Store, run: Run, wanted: Wanted) -> ReliabilityJudged:
    """Return the verdicts on a run, which are worked out once for a report."""
    key = (AUDIT, run)
    if key not in wanted.shared:
        options = Options(seed=wanted.seed)
        wanted.shared[key] = judge_reliability(store, run, options, readings=Readings(rulings=wanted.rulings))
    found: ReliabilityJudged = wanted.shared[key]
    return found


def _part(judged: ReliabilityJudged, name: str, wanted: Wanted) -> Reported:
    run = judged.run
    rulings = "" if wanted.rulings else " --without-rulings"
    return Reported(
        title=f"Reliability of {name}",
        instrument=judged.instrument,
        runs={name: run},
        book=replace(judged.book(), title=f"Reliability of {name}"),
        findings=tuple(_findings(name, judged)),
        command=f"workbench show STORE reliability --model {shlex.quote(run.model)} "
        f"--instrument {shlex.quote(run.instrument)} --sampling {shlex.quote(str(run.sampling))} "
        f"--seed {wanted.seed}{rulings}",
        answered=[replace(judged.answered, name=name)],
        rulings=judged.rulings,
        changed=judged.changed,
        items={name: tuple(_items(judged))},
        readers={name: judged.reader} if judged.reader else {},
        parameters=tuple(_parameters(judged)),
        limits=LIMITS,
        shown=("passing", "mean_kappas", "components"),
        references=[CERON],
    )


def _findings(name: str, judged: ReliabilityJudged) -> Iterator[str]:
    report = judged.report
    codes = report.over_templates(ALL)
    found = {code: int((codes == code).sum()) for code in (FAIL, INSUFFICIENT, VOID)}
    of = len(codes) - found[VOID]
    passed = of - found[FAIL] - found[INSUFFICIENT]
    share = f" ({number(passed / of, Kind.SHARE)})" if of else ""
    tests = "every test" if len(report.options.tests) > 1 else f"the test {_words(report.options.tests[0])}"
    does = "keeps its" if passed == 1 else "keep their"
    yield f"{name}: {passed:,} of {plural(of, 'statement')} {does} stance in {tests}{share}."
    yield from _weakest(report)
    if found[INSUFFICIENT]:
        n = found[INSUFFICIENT]
        yield f"{plural(n, 'statement')} {'has' if n == 1 else 'have'} too few readable answers to decide."
    if found[VOID]:
        n = found[VOID]
        yield f"{plural(n, 'statement')} cannot fail any test and {'is' if n == 1 else 'are'} left out of the count."
    if judged.exact is not None:
        yield "Without sampling: the verdicts rest on the model's own probabilities of the two labels."


def _weakest(report: Report) -> Iterator[str]:
    """Say which test most statements fail, under whichever template."""
    failed = {test: int((report.over_templates(test) == FAIL).sum()) for test in report.options.tests}
    test = max(failed, key=lambda one: failed[one], default="")
    if test and failed[test]:
        tested = int((report.over_templates(test) != VOID).sum())
        yield f"Statements fail the test {_words(test)} most often: {failed[test]:,} of {tested:,}."
    elif failed:
        yield "No statement fails any of the tests."


def _items(judged: ReliabilityJudged) -> Iterator[Item]:
    report, figures = judged.report, judged.figures()
    codes = report.over_templates(ALL)
    failing = {test: np.atleast_2d(report.verdicts(test)) for test in report.options.tests}
    for place, ref in enumerate(report.counts.statements):
        found = verdict(codes[place])
        said = () if found is Verdict.PASS else tuple(_why(report, failing, place, ref))
        yield Item(ref, figures.text(ref), found, said)


def _why(report: Report, failing: Mapping[str, np.ndarray], place: int, ref: str) -> Iterator[str]:
    """Say of the first tests that are not passed under how many templates, with the reason under one of them."""
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
        yield f"{_words(test)}: not passed{under}. {report.reason(ref, first, test)}{instance}"


def _parameters(judged: ReliabilityJudged) -> Iterator[Parameter]:
    chosen = judged.chosen()
    values: dict[str, Any] = {
        name: chosen[name] for name in ("rule", "low", "high", "judge_void", "seed") if name in chosen
    }
    values |= {"tests": ", ".join(map(_words, chosen["tests"])), "minimum": judged.report.options.minimum}
    if judged.exact is None:
        values["reader"] = f"{judged.card.name}, version {judged.card.version}"
    else:
        of = judged.exact.exact
        values |= {"named": of.named, "beside": of.samples}
    usual = {"tests": values["tests"], "reader": values.get("reader"), "seed": values["seed"]}
    options = [one.but(default=usual.get(one.name, one.default)) for one in (*JUDGING, *EXACT)]
    yield from parameters(options, values, SOURCES, "as usual")


def _words(test: str) -> str:
    return test.replace("_", " ")


__all__ = ["judged_once", "reported"]
