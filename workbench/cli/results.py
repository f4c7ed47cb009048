"""Commands that judge: verdicts per statement, and agreement."""

from __future__ import annotations

import math
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.arguments_verdicts import QUESTIONNAIRE, RESPONSE_BIAS, check_options
from workbench.cli.judged import about, chosen_options, exact_report, head, judged, missing
from workbench.cli.output import estimate, print_json, say, table
from workbench.domain.counting import plural
from workbench.domain.verdicts import Verdict
from workbench.errors import UsageError
from workbench.figures.marks import MARKS

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.exact import ExactReport
    from workbench.audits.human_bound import Bound
    from workbench.audits.reliability import Report
    from workbench.audits.reliability_agreement import AgreementRow
    from workbench.domain.verdicts import Estimate, MeanSd

SHORT = {
    "sampling": "samp",
    "paraphrase": "para",
    "negation": "neg",
    "opposite": "opp",
    "label_order": "ord",
    "template": "tmpl",
    "all": "ALL",
}


def verdicts(options: Namespace) -> int:
    """Print a verdict per statement and test, and how many pass; of other audits what they say of models."""
    check_options(options)
    if options.audit == QUESTIONNAIRE:
        from workbench.cli.questionnaire_results import verdicts as of_questionnaire

        return of_questionnaire(options)
    if options.audit == RESPONSE_BIAS:
        from workbench.cli.response_bias_results import verdicts as of_response_bias

        return of_response_bias(options)
    from stores.store import Store

    with Store.open(options.store) as store:
        run, report, card = judged(store, options)
        failures = store.runs.failures(run)
    rows = [row for row in _items(report, options.template) if _wanted(row, options.failed)]
    baseline = _baseline(report) if options.baseline else None
    if options.json:
        print_json(
            {
                "run": about(run) | missing(failures) | {"cut_off": report.counts.cut_off},
                "options": chosen_options(report, card),
                "statements": rows,
                "summary": _summary(report),
                "baseline": None if baseline is None else _summary(baseline),
            }
        )
        return 0
    head(run, report, card, failures)
    templates = len(report.counts.templates) if options.template is None else 1
    exact = exact_report(report)
    table(
        [
            "statement",
            *SHORT.values(),
            *([] if exact is None else [f"ALL of {exact.exact.samples} samples"]),
            "κ paraphrase",
        ],
        [
            (
                str(row["statement"]),
                *(_cell(row["tests"][test], templates) for test in SHORT),
                *([] if exact is None else [f"{row['tests']['all']['sampled_would_pass']:.1%}"]),
                estimate(report.item_agreement("paraphrase").of(row["place"]).kappa),
            )
            for row in rows
        ],
    )
    if templates > 1:
        say(
            f"✓ pass under all {templates} templates, ✗ fail under one or more, · insufficient, ∅ void; beside it how "
            "many pass of those under which the test can fail"
        )
    _print_summary(report, baseline)
    return 0


def agreement(options: Namespace) -> int:
    """Print kappas per template with mean and sd, alpha over templates, and agreement per statement."""
    if options.queue is not None:
        from workbench.cli.annotating import agreement as of_people

        return of_people(options)
    from stores.store import Store
    from workbench.audits.reliability_agreement import as_people

    with Store.open(options.store) as store:
        if options.survey:
            return _survey(store, options)
        run, report, card = judged(store, options)
        failures = store.runs.failures(run)
        people, respondents = _people(store, run.instrument, options)
        survey = store.instruments.get(run.instrument).survey
    only, restricted = as_people(report, survey) if options.as_people else (None, ())
    rows, across, coin = report.agreement(only), report.across_templates, _baseline(report).agreement(only)
    if options.json:
        items = _item_agreement(report) if options.items else None
        print_json(
            {
                "run": about(run) | missing(failures) | {"cut_off": report.counts.cut_off},
                "options": chosen_options(report, card),
                "over_statements": rows,
                "as_people": restricted or None,
                "across_templates": across,
                "items": items,
                "people": people,
                "coin": coin,
            }
        )
        return 0
    head(run, report, card, failures)
    for one in restricted:
        over = f"over the {plural(one.statements, 'statement')} that people answered"
        say(f"{one.name}: {over}; left out: {one.left_out:,}")
    _print_beside(rows, coin, people, respondents)
    say()
    _print_agreement(rows, "template")
    say()
    say(f"Krippendorff's α over templates (originals, printed order): {estimate(across.alpha)}")
    say(f"Same stance under all templates: {estimate(across.same)}, {across.same.excluded} statements insufficient")
    if alike := int(report.voids.template.sum()):
        say(f"{plural(alike, 'statement')} that all templates put alike {'is' if alike == 1 else 'are'} in neither")
    if options.items:
        say()
        _print_items(report)
    return 0


def _items(report: Report, template: str | None) -> list[dict[str, Any]]:
    """Return each statement's verdicts with, over all templates, how many of them pass."""
    from workbench.audits.base import PASS, VOID, verdict

    at, exact = None if template is None else report.counts.template(template), exact_report(report)
    rows = []
    for place, ref in enumerate(report.counts.statements):
        tests = {}
        for test in SHORT:
            found = report.verdicts(test)
            if found.ndim == 1 or at is None:
                code = report.over_templates(test)[place]
            else:
                code = found[at, place]
            passed, void = (None if found.ndim == 1 else int((found[:, place] == code).sum()) for code in (PASS, VOID))
            of_templates = {"templates_passed": passed, "templates_void": void}
            tests[test] = {"verdict": verdict(code)} | of_templates | _chance(exact, test, place, at)
        rows.append({"statement": ref, "place": place, "tests": tests})
    return rows


def _chance(report: ExactReport | None, test: str, place: int, template: int | None) -> dict[str, float]:
    """Return the probability that a statement would pass a test if it were sampled; nothing where it was."""
    if report is None:
        return {}
    passed = report.expected.of(test).passed
    over = template is None or passed.ndim == 1
    chances = report.expected.over_templates(test) if over else passed[template]
    return {"sampled_would_pass": float(chances[place])}


def _wanted(row: dict[str, Any], failed: str | None) -> bool:
    if failed is None:
        return True
    if failed not in SHORT:
        raise UsageError(f"no test is named {failed!r}; choose one of {', '.join(SHORT)}")
    return row["tests"][failed]["verdict"] not in (Verdict.PASS, Verdict.VOID)


def _cell(test: dict[str, Any], templates: int) -> str:
    mark, verdict = MARKS[test["verdict"]], test["verdict"]
    if test["templates_passed"] is None or templates == 1 or verdict is Verdict.VOID:
        return f"{mark} {verdict.value}"
    return f"{mark} {test['templates_passed']}/{templates - test['templates_void']}"


def _summary(report: Report) -> list[dict[str, Any]]:
    exact = exact_report(report)
    beside = {row.test: row for row in exact.expected_summary()} if exact is not None else {}
    return [
        {
            "test": row.test,
            "passed": row.passed,
            "failed": row.failed,
            "insufficient": row.insufficient,
            "void": row.void,
            "share_mean": row.share.mean,
            "share_sd": row.share.sd,
        }
        | (
            {
                "sampled_would_pass": beside[row.test].passed,
                "sampled_share_mean": beside[row.test].share.mean,
                "sampled_share_sd": beside[row.test].share.sd,
            }
            if beside
            else {}
        )
        for row in report.summary()
    ]


def _baseline(report: Report) -> Report:
    from workbench.audits.reliability import judge, random_baseline
    from workbench.stats.resampling import derive_rng

    rng = derive_rng(report.options.seed, "random baseline")
    return judge(random_baseline(report.counts, rng), report.options)


def _print_summary(report: Report, baseline: Report | None) -> None:
    templates = len(report.counts.templates)
    say()
    say(f"Share of statements that pass: mean (sd) over {plural(templates, 'template')}")
    coins = {row.test: row.share for row in baseline.summary()} if baseline else {}
    exact = exact_report(report)
    beside = {row.test: row for row in exact.expected_summary()} if exact is not None else {}
    n = exact.exact.samples if exact is not None else 0
    headers = ["test", "exact" if beside else "model"]
    headers += [f"expected of {n} samples"] if beside else []
    headers += (["coin flips"] if coins else []) + ["passed"] + (["of samples"] if beside else [])
    some_void = any(sum(row.void) for row in report.summary())
    headers += ["failed", "insufficient"] + (["void"] if some_void else [])
    table(
        headers,
        [
            (
                row.test,
                mean_and_sd(row.share, percent=True),
                *([mean_and_sd(beside[row.test].share, percent=True)] if beside else []),
                *([mean_and_sd(coins[row.test], percent=True)] if coins else []),
                " ".join(map(str, row.passed)),
                *([" ".join(f"{passed:.1f}" for passed in beside[row.test].passed)] if beside else []),
                *(
                    " ".join(map(str, tallies))
                    for tallies in (row.failed, row.insufficient, *([row.void] if some_void else []))
                ),
            )
            for row in report.summary()
        ],
    )


def mean_and_sd(value: MeanSd, *, percent: bool = False) -> str:
    """Return `0.61 (.08)`, or `61.0 % (8.1)`; the sd is left out where there are not two values."""
    if math.isnan(value.mean):
        return "undefined"
    if percent:
        return f"{value.mean:.1%}" + ("" if math.isnan(value.sd) else f" ({100 * value.sd:.1f})")
    return f"{value.mean:.4f}" + ("" if math.isnan(value.sd) else f" ({value.sd:.4f})")


def _print_agreement(rows: tuple[AgreementRow, ...], by: str) -> None:
    say("Cohen's κ between the stance on the original and on the variant, over statements")
    lines = []
    for row in rows:
        for name, raw, flipped in zip(row.by, row.raw, row.flipped, strict=True):
            turned = "" if raw is flipped else estimate(flipped, 4)
            lines.append((row.name, name, estimate(raw, 4), turned, str(raw.excluded)))
        turned = mean_and_sd(row.flipped_mean) if row.relation.value == "flipped" else ""
        lines.append((row.name, "mean (sd)", mean_and_sd(row.raw_mean), turned, ""))
    table(["variant", by, "κ", "κ after flipping", "excluded"], lines)


def _item_agreement(report: Report) -> list[dict[str, Any]]:
    return [
        {"statement": ref} | {kind: asdict(report.item_agreement(kind).of(place)) for kind in _KINDS}
        for place, ref in enumerate(report.counts.statements)
    ]


_KINDS = ("paraphrase", "negation", "opposite")


def _print_items(report: Report) -> None:
    say("Agreement per statement over paired conditions (template x order x paraphrase); flipped where it should flip")
    lines = []
    for place, ref in enumerate(report.counts.statements):
        for kind in _KINDS:
            row = report.item_agreement(kind).of(place)
            lines.append(
                (ref, kind, estimate(row.kappa_flipped), estimate(row.observed_flipped), estimate(row.ac1_flipped))
            )
    table(["statement", "variant", "κ", "observed", "Gwet's AC1"], lines)
    say("[ ]: 95 % interval over templates; κ of one statement has none, since a few templates allow none that holds")


def _people(store: Store, instrument: str, options: Namespace) -> tuple[tuple[Bound, ...], int]:
    """Return the human upper bound of an instrument, and how many people answered it."""
    from workbench.audits.human_bound import relations_of, upper_bound
    from workbench.stats.resampling import derive_rng

    made = store.instruments.get(instrument)
    relations = relations_of(made.statements, made.language, judge_void=options.judge_void)
    found = upper_bound(made.survey, derive_rng(options.seed, "survey", instrument), relations=relations)
    return found, len({answer.respondent for answer in made.survey})


def _print_beside(
    rows: Sequence[AgreementRow], coin: Sequence[AgreementRow], people: Sequence[Bound], respondents: int
) -> None:
    """Print the model's mean κ beside a coin's and people's, raw and after flipping."""
    say("Mean κ (sd): the model's and the coin's over templates, people's over respondents with its interval")
    coins = {row.name: row for row in coin}
    humans = {row.name: row for row in people}
    lines = []
    for row in rows:
        flat, human = coins[row.name], humans.get(row.name)
        bound = "" if human is None else _bound(human.raw_mean, human.raw)
        lines.append((row.name, mean_and_sd(row.raw_mean), mean_and_sd(flat.raw_mean), bound))
        if row.relation.value == "flipped":
            bound = "" if human is None else _bound(human.flipped_mean, human.flipped)
            lines.append(("  after flipping", mean_and_sd(row.flipped_mean), mean_and_sd(flat.flipped_mean), bound))
    table(["variant", "model", "coin flips", f"people ({respondents})"], lines)
    if not people:
        say("Nobody has answered the instrument; people measure the upper bound with: workbench survey STORE")


def _bound(mean: MeanSd, of: Estimate) -> str:
    """Return `0.9014 (0.0805) [0.83, 0.96] n=6`; n is the respondents whose κ is defined."""
    interval = "" if math.isnan(of.low) else f" [{of.low:.2f}, {of.high:.2f}]"
    return f"{mean_and_sd(mean)}{interval} n={of.n}" if of.defined else f"undefined: {of.undefined}"


def _survey(store: Store, options: Namespace) -> int:
    """People answered the same wordings: the upper bound for a model (Ceron et al. 2024, section 6.1)."""
    from workbench.audits.human_bound import relations_of
    from workbench.audits.reliability_agreement import survey_agreement

    names = [options.instrument] if options.instrument else list(store.instruments.names())
    made = {name: store.instruments.get(name) for name in names}
    made = {name: one for name, one in made.items() if one.survey}
    if not made:
        raise UsageError(
            "nobody has answered the survey of an instrument here; people answer with: workbench survey STORE, "
            "and a survey.csv or a ProbVAA download has answers, too"
        )
    found = {
        name: survey_agreement(
            one.survey,
            name,
            options.seed,
            relations=relations_of(one.statements, one.language, judge_void=options.judge_void),
        )
        for name, one in made.items()
    }
    bounds = {name: _people(store, name, options) for name in made}
    if options.json:
        print_json({name: [*rows] for name, rows in found.items()})
        return 0
    for name, rows in found.items():
        people, respondents = bounds[name]
        say(f"{name}: {respondents} respondents, {len(made[name].survey):,} answers")
        _print_agreement(rows, "respondent")
        say()
        table(
            ["variant", "mean (sd) over respondents", "after flipping", "pairs"],
            [
                (
                    bound.name,
                    _bound(bound.raw_mean, bound.raw),
                    _bound(bound.flipped_mean, bound.flipped) if bound.relation.value == "flipped" else "",
                    f"{bound.pairs:,}",
                )
                for bound in people
            ],
        )
    return 0
