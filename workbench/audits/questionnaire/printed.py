"""What `verdicts` prints of the questionnaire audit: how well models predict people's answers, and how they err."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbench import __version__
from workbench.audits.audit import Given, Medium, Printed
from workbench.audits.questionnaire.options import SECTIONS
from workbench.domain.names import listed
from workbench.errors import UnknownName, UsageError
from workbench.evidence.runs import about, readings_of, templates_of

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.questionnaire.figures import Condition, Options
    from workbench.audits.questionnaire.judged import QuestionnaireJudged
    from workbench.audits.questionnaire.results import Choice
    from workbench.audits.questionnaire.score import Report

NAMING = ("show", "condition", "target", "model", "instrument", "dtype", "snapshot", "fingerprint")
"options that name something, and mean nothing where they are empty"
MOST_MISSED = 20
"respondents that are printed"
TABLES: Mapping[str, Sequence[str]] = {
    "targets": ("targets", "means", "axis"),
    "conditions": ("conditions", "changes"),
    "wordings": ("wordings", "wording_means", "each_wording"),
    "tokens": ("tokens",),
    "respondents": ("respondents",),
    "correlation": ("correlation",),
    "axis": ("axis", "axis_targets"),
}
"section -> its tables"
OVER_TARGETS = ("means", "axis", "conditions", "wording_means")
"tables that --target leaves nothing to print of"
IN_DETAIL = ("changes", "each_wording")
"tables that are printed for one target, and written for all"


def verdicts(store: Store, options: Given, medium: Medium) -> Printed:
    """Return accuracy and bias of each target, and what else was asked for."""
    from workbench.audits.comparison.printed import printed as printed_side_by_side
    from workbench.audits.questionnaire.asked import target_of
    from workbench.audits.questionnaire.book import book
    from workbench.audits.questionnaire.compared import compared
    from workbench.audits.questionnaire.judged import QuestionnaireChoice, judge_questionnaire
    from workbench.audits.questionnaire.judged_results import results_of

    _check_given(options)
    sections = chosen_sections(options, medium)
    choice = QuestionnaireChoice(
        options.instrument,
        listed(options.model),
        options.dtype,
        options.snapshot,
        options.fingerprint,
        templates_of(options),
        _options(options),
        readings_of(options),
    )
    judged = judge_questionnaire(store, choice)
    if options.target:
        target_of(judged, options.target)
    results = results_of(judged)
    of = book(results, _choice(judged, options, medium))
    if options.compare:
        conditions = names_of(judged, options.condition) if options.condition else ()
        names = names_compared(judged, options)
        side_by_side = compared(store, judged, results, names, conditions, options.target)
        return printed_side_by_side(side_by_side, medium, dict(of.about))
    if medium.data and not options.show:
        tables = [*of.every()]
        if "respondents" in sections:  # of the one target that is named
            tables.append(of.table("respondents"))
    else:
        names_shown = (*chosen_tables(sections, options, medium), *["personas"] * bool(results.personas))
        tables = [of.table(name) for name in names_shown]
    about_all = {**of.about, **_about(store, judged, options, sections)}
    return Printed(tables, about_all, of.title, of.told, of.notes, of.header)


def names_compared(judged: QuestionnaireJudged, options: Given) -> tuple[str, ...]:
    """Return the runs that `--compare` names."""
    from workbench.audits.comparison.values import meant

    return meant(options.compare, {name: run.model for name, run in judged.runs.items()})


def _check_given(options: Given) -> None:
    """Raise UsageError for options that say nothing, or nothing together."""
    for name in NAMING:
        given = getattr(options, name)
        if given is not None and not given.strip(" ,"):
            raise UsageError(f"--{name} has no value; give one, or leave it out")


def chosen_sections(options: Given, medium: Medium) -> tuple[str, ...]:
    """Return the parts that are to be shown: for people the first, for programs all, where none is named.

    Single people's answers are written into files where somebody asks for them by name or for all, because figures are
    passed on more freely than these. Raises UnknownName, UsageError.
    """
    files = medium is Medium.FILES
    names = listed(options.show) or (("all",) if medium.data else SECTIONS[:1])
    unknown = [name for name in names if name not in (*SECTIONS, "all")]
    if unknown:
        raise UnknownName(f"--show has no {', '.join(map(repr, unknown))}; choose {', '.join(SECTIONS)} or all")
    if "respondents" in names and not (options.target or files):
        raise UsageError("--show respondents lists whose answers to one target were missed; name it with --target REF")
    every, single = "all" in names, options.show if files else options.target
    return tuple(s for s in SECTIONS if s in names or (every and (s != "respondents" or single)))


def chosen_tables(sections: Sequence[str], options: Given, medium: Medium) -> tuple[str, ...]:
    """Return the names of the tables of these sections: for programs all, for people those that say something new."""
    names = dict.fromkeys(name for section in sections for name in TABLES[section])
    if medium.data:
        return ("models", "asked", "answered", *names, "choices")
    left_out = {*(OVER_TARGETS if options.target else IN_DETAIL)} - {"axis"}.intersection(sections)
    return ("models", *(name for name in names if name not in left_out))


def _choice(judged: QuestionnaireJudged, options: Given, medium: Medium) -> Choice:
    """Return what the tables are about. For programs every condition is, for people one where none is named."""
    from workbench.audits.questionnaire.results import Choice
    from workbench.domain.statements import ORIGINAL

    shown = conditions_shown(judged, options)
    compared = shown
    if options.condition is None:
        compared = {name: report.conditions for name, report in judged.reports.items()}
    data = medium.data
    return Choice(
        conditions=compared if data else shown,
        compared=compared,
        target=options.target,
        named=options.condition or "",
        wordings=None if data else (ORIGINAL,),
        missed=None if data else MOST_MISSED,
    )


def _options(options: Given) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.questionnaire.figures import Options

    return Options(**{name: getattr(options, name) for name in ("seed", "masses", "variability", "error", "draws")})


def conditions_shown(judged: QuestionnaireJudged, options: Given) -> dict[str, tuple[Condition, ...]]:
    """Return the conditions that each model is shown under: those that were named, or `qm`, or the first there is.

    Empty for a model that was asked under none of them. Raises UnknownName where none was.
    """
    wanted = None if options.condition is None else names_of(judged, options.condition)
    found = {name: _shown(report, wanted) for name, report in judged.reports.items()}
    if wanted is not None and not any(found.values()):
        there = ", ".join(map(str, every_condition(judged)))
        raise UnknownName(f"no model was asked under the condition {options.condition!r}. Available: {there or 'none'}")
    return found


def names_of(judged: QuestionnaireJudged, text: str) -> tuple[str, ...]:
    """Return the conditions that a person names: one as it is printed, or several and groups with commas between.

    Raises UnknownName for one that there never is.
    """
    from workbench.audits.questionnaire.conditions import expanded

    known = {name for condition in every_condition(judged) for name in (str(condition), condition.name)}
    if text in known:  # as it is printed it may hold a comma: `random (first 12, seed 3)`
        return (text,)
    return tuple(found for name in listed(text) for found in ((name,) if name in known else expanded([name])))


def _shown(report: Report, wanted: Sequence[str] | None) -> tuple[Condition, ...]:
    if wanted is None:
        return report.conditions[:1]
    whole = tuple(c for c in report.conditions if str(c) in wanted)
    return whole or tuple(c for c in report.conditions if c.name in wanted)


def _about(store: Store, judged: QuestionnaireJudged, options: Given, sections: Sequence[str]) -> dict[str, Any]:
    """Return what the figures are of, for programs."""
    from dataclasses import asdict

    from workbench.domain.questionnaires import Role

    people = judged.questionnaire
    return {
        "workbench": __version__,
        "shown": {"sections": sections, "condition": options.condition, "target": options.target},
        "questionnaire": {
            "context": len(people.of_role(Role.CONTEXT)),
            "targets": [asdict(question) for question in people.of_role(Role.TARGET)],
            "respondents": len(people.respondents),
        },
        "notes": judged.notes,
        "rulings": judged.rulings.as_json(),
        "models": {
            name: {"run": about(run), "code_versions": store.predictions.code_versions(run)}
            for name, run in judged.runs.items()
        },
    }


def every_condition(judged: QuestionnaireJudged) -> tuple[Condition, ...]:
    """Return the conditions of all models, in their order."""
    return tuple(dict.fromkeys(c for report in judged.reports.values() for c in report.conditions))
