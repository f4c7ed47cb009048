"""`workbench verdicts --audit questionnaire`: how well models predict people's answers, and how they err."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench import __version__
from workbench.cli.arguments_questionnaire_results import SECTIONS
from workbench.cli.judged import about
from workbench.cli.output import listed, print_json
from workbench.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.questionnaire_figures import Condition, Options
    from workbench.audits.questionnaire_score import Report
    from workbench.pipeline.questionnaire import QuestionnaireJudged


def verdicts(options: Namespace) -> int:
    """Print accuracy and bias of each target, and what else was asked for."""
    from stores.store import Store
    from workbench.cli import questionnaire_tables as tables
    from workbench.pipeline.questionnaire import QuestionnaireChoice, questionnaire

    sections = chosen_sections(options)
    choice = QuestionnaireChoice(options.instrument, listed(options.model), options.dtype, _options(options))
    with Store.open(options.store) as store:
        judged = questionnaire(store, choice)
        shown = conditions_shown(judged, options)
        _check(judged, options)
        if options.json:
            print_json(_data(store, judged, options, shown))
        else:
            tables.print_judged(store, judged, options, sections, shown)
    return 0


def chosen_sections(options: Namespace) -> tuple[str, ...]:
    """Return the parts that are to be printed. Raises UnknownName, UsageError."""
    names = listed(options.show) or SECTIONS[:1]
    unknown = [name for name in names if name not in (*SECTIONS, "all")]
    if unknown:
        raise UnknownName(f"--show has no {', '.join(map(repr, unknown))}; choose {', '.join(SECTIONS)} or all")
    if "respondents" in names and not options.target:
        raise UsageError("--show respondents lists whose answers to one target were missed; name it with --target REF")
    every = "all" in names
    return tuple(s for s in SECTIONS if s in names or (every and (s != "respondents" or options.target)))


def _options(options: Namespace) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.questionnaire_figures import Options

    given = {name: getattr(options, name) for name in ("masses", "variability", "error", "draws")}
    return Options(seed=options.seed, **{name: value for name, value in given.items() if value is not None})


def conditions_shown(judged: QuestionnaireJudged, options: Namespace) -> dict[str, Condition | None]:
    """Return the condition that each model is shown under: the one that was named, or `qm`, or the first there is.

    None for a model that was not asked under the one that was named. Raises UnknownName where none was.
    """
    found = {name: condition_shown(report, options.condition) for name, report in judged.reports.items()}
    if options.condition and not any(found.values()):
        there = dict.fromkeys(str(c) for report in judged.reports.values() for c in report.conditions)
        raise UnknownName(
            f"nothing was asked under the condition {options.condition!r}; there is: {', '.join(there) or 'none'}"
        )
    return found


def condition_shown(report: Report, wanted: str | None) -> Condition | None:
    """Return a report's condition of that name, or its first."""
    if wanted is None:
        return next(iter(report.conditions), None)
    return next((condition for condition in report.conditions if wanted in (str(condition), condition.name)), None)


def _check(judged: QuestionnaireJudged, options: Namespace) -> None:
    """Raise UsageError for a name that is not there, before anything is printed."""
    from workbench.pipeline.questionnaire_asked import target_of

    if options.target:
        target_of(judged, options.target)
    if options.against:
        base = judged.name(options.against)
        if len(judged.reports) < 2:
            raise UsageError(f"--against compares other models with {base}; no other is among those chosen")


def _data(
    store: Store, judged: QuestionnaireJudged, options: Namespace, shown: dict[str, Condition | None]
) -> dict[str, Any]:
    """Return every figure as plain values."""
    from workbench.domain.questionnaires import Role

    people = judged.questionnaire
    data: dict[str, Any] = {
        "instrument": judged.instrument.name,
        "workbench": __version__,
        "options": asdict(judged.choice.options),
        "questionnaire": {
            "context": len(people.of_role(Role.CONTEXT)),
            "targets": [asdict(question) for question in people.of_role(Role.TARGET)],
            "respondents": len(people.respondents),
        },
        "notes": judged.notes,
        "models": {name: _model(store, judged, name) for name in judged.reports},
        "correlations": _correlations(judged),
    }
    if options.against:
        data["against"] = _differences(judged, judged.name(options.against))
    if options.target:
        data["respondents"] = {
            name: {"condition": str(condition), "answers": _asked(store, judged, name, options.target, condition)}
            for name, condition in shown.items()
            if condition is not None
        }
    return data


def _model(store: Store, judged: QuestionnaireJudged, name: str) -> dict[str, Any]:
    from workbench.pipeline.questionnaire import mean_variability
    from workbench.pipeline.questionnaire_asked import token_shares

    report, run = judged.reports[name], judged.runs[name]
    return {
        "run": about(run),
        "code_versions": store.predictions.code_versions(run),
        "prompts": len(judged.gathered[name].probe),
        "failed": len(judged.gathered[name].failed),
        "outdated": int(judged.gathered[name].outdated.sum()),
        "conditions": {str(condition): report.condition(condition) for condition in report.conditions},
        "ablations": [asdict(row) | {"condition": str(row.condition)} for row in report.ablations()],
        "variability": {
            str(condition): {
                "mean": mean_variability(report, condition),
                "targets": [_wordings(row) for row in report.variability(condition)],
            }
            for condition in report.conditions
        },
        "tokens": {
            str(condition): {ref: token_shares(judged, name, ref, condition) for ref in report.predictions.targets}
            for condition in report.conditions
        },
    }


def _wordings(row: Any) -> dict[str, Any]:
    """Return a variability with its wordings under their names."""
    wordings = [asdict(one) | {"wording": str(one.wording)} for one in row.wordings]
    return asdict(row) | {"condition": str(row.condition), "wordings": wordings}


def every_condition(judged: QuestionnaireJudged) -> tuple[Condition, ...]:
    """Return the conditions of all models, in their order."""
    return tuple(dict.fromkeys(c for report in judged.reports.values() for c in report.conditions))


def _correlations(judged: QuestionnaireJudged) -> dict[str, Any]:
    from workbench.audits.questionnaire_score import correlations

    return {str(condition): correlations(judged.reports, condition) for condition in every_condition(judged)}


def _differences(judged: QuestionnaireJudged, base: str) -> dict[str, Any]:
    from workbench.audits.questionnaire_score import differences

    first = judged.reports[base]
    return {
        "base": base,
        "models": {
            name: {str(c): differences(first, report, c) for c in report.conditions if c in first.conditions}
            for name, report in judged.reports.items()
            if name != base
        },
    }


def _asked(store: Store, judged: QuestionnaireJudged, name: str, target: str, condition: Condition) -> Any:
    from workbench.pipeline.questionnaire_asked import asked

    return asked(store, judged, name, target, condition)
