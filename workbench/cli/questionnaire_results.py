"""`workbench verdicts --audit questionnaire`: how well models predict people's answers, and how they err."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench import __version__
from workbench.cli.arguments_questionnaire_results import SECTIONS
from workbench.cli.judged import about, templates_of
from workbench.cli.output import listed, print_json, say
from workbench.domain.counting import plural
from workbench.errors import UnknownName, UsageError

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.audits.questionnaire_figures import Condition, Options
    from workbench.audits.questionnaire_score import Report
    from workbench.pipeline.questionnaire import QuestionnaireJudged

LEAST_DRAWS = 100
"below so many the ends of an interval are single draws, and may leave out the estimate"
LINE_END = "\n"
NAMING = ("show", "condition", "against", "target", "model", "instrument", "dtype", "snapshot", "fingerprint")
"options that name something, and mean nothing where they are empty"


def verdicts(options: Namespace) -> int:
    """Print accuracy and bias of each target, and what else was asked for; or write the figures into a folder."""
    from stores.store import Store
    from workbench.cli import questionnaire_tables as tables
    from workbench.pipeline.questionnaire import QuestionnaireChoice, questionnaire

    _check_given(options)
    sections = chosen_sections(options)
    choice = QuestionnaireChoice(
        options.instrument,
        listed(options.model),
        options.dtype,
        options.snapshot,
        options.fingerprint,
        templates_of(options),
        _options(options),
    )
    with Store.open(options.store) as store:
        judged = questionnaire(store, choice)
        shown = conditions_shown(judged, options)
        bases = _bases(judged, options)
        if options.csv is not None:
            _write(store, judged, options, sections, shown, bases)
        elif options.json:
            print_json(_data(store, judged, options, sections, shown, bases))
        else:
            draw_at_once(judged, sections, shown)
            tables.print_judged(store, judged, options, sections, shown, bases)
    return 0


def _check_given(options: Namespace) -> None:
    """Raise UsageError for options that say nothing, or nothing together."""
    for name in NAMING:
        given = getattr(options, name)
        if given is not None and not given.strip(" ,"):
            raise UsageError(f"found nothing after --{name}; name something, or leave it out")
    if options.csv is not None and options.json:
        raise UsageError("--csv writes files and --json prints; give one of them")
    if options.force and options.csv is None:
        raise UsageError("--force replaces files of --csv FOLDER; give the folder, or leave it out")
    if options.draws is not None and options.draws < LEAST_DRAWS:
        raise UsageError(f"found {options.draws} draws; give {LEAST_DRAWS} or more: fewer make no interval")


def chosen_sections(options: Namespace) -> tuple[str, ...]:
    """Return the parts that are to be shown: for people the first, for programs all, where none is named.

    Single people's answers are written into files where somebody asks for them by name or for all, because figures are
    passed on more freely than these. Raises UnknownName, UsageError.
    """
    files = options.csv is not None
    whole = options.json or files
    names = listed(options.show) or (("all",) if whole else SECTIONS[:1])
    unknown = [name for name in names if name not in (*SECTIONS, "all")]
    if unknown:
        raise UnknownName(f"--show has no {', '.join(map(repr, unknown))}; choose {', '.join(SECTIONS)} or all")
    if "respondents" in names and not (options.target or files):
        raise UsageError("--show respondents lists whose answers to one target were missed; name it with --target REF")
    every, single = "all" in names, options.show if files else options.target
    return tuple(s for s in SECTIONS if s in names or (every and (s != "respondents" or single)))


def _options(options: Namespace) -> Options:
    """Return the audit's options from the command line's."""
    from workbench.audits.questionnaire_figures import Options

    given = {name: getattr(options, name) for name in ("masses", "variability", "error", "draws")}
    return Options(seed=options.seed, **{name: value for name, value in given.items() if value is not None})


def conditions_shown(judged: QuestionnaireJudged, options: Namespace) -> dict[str, tuple[Condition, ...]]:
    """Return the conditions that each model is shown under: those that were named, or `qm`, or the first there is.

    Empty for a model that was asked under none of them. Raises UnknownName where none was.
    """
    wanted = None if options.condition is None else names_of(judged, options.condition)
    found = {name: _shown(report, wanted) for name, report in judged.reports.items()}
    if wanted is not None and not any(found.values()):
        there = ", ".join(map(str, every_condition(judged)))
        raise UnknownName(f"nothing was asked under the condition {options.condition!r}; there is: {there or 'none'}")
    return found


def names_of(judged: QuestionnaireJudged, text: str) -> tuple[str, ...]:
    """Return the conditions that a person names: one as it is printed, or several and groups with commas between.

    Raises UnknownName for one that there never is.
    """
    from workbench.audits.questionnaire_conditions import expanded

    known = {name for condition in every_condition(judged) for name in (str(condition), condition.name)}
    if text in known:  # as it is printed it may hold a comma: `random (first 12, seed 3)`
        return (text,)
    return tuple(found for name in listed(text) for found in ((name,) if name in known else expanded([name])))


def _shown(report: Report, wanted: Sequence[str] | None) -> tuple[Condition, ...]:
    if wanted is None:
        return report.conditions[:1]
    whole = tuple(c for c in report.conditions if str(c) in wanted)
    return whole or tuple(c for c in report.conditions if c.name in wanted)


def _bases(judged: QuestionnaireJudged, options: Namespace) -> tuple[str, ...]:
    """Return the models that others are compared with. Raises UsageError for a name that is not there."""
    from workbench.pipeline.questionnaire_asked import target_of

    if options.target:
        target_of(judged, options.target)
    text = options.against
    if text is None:
        return ()
    whole = text in judged.reports or any(run.model == text for run in judged.runs.values())
    bases = tuple(dict.fromkeys(judged.name(name) for name in ((text,) if whole else listed(text))))
    if set(bases) >= set(judged.reports):
        raise UsageError(f"--against compares other models with {', '.join(bases)}; no other is among those chosen")
    return bases


def _write(
    store: Store,
    judged: QuestionnaireJudged,
    options: Namespace,
    sections: Sequence[str],
    shown: Mapping[str, Sequence[Condition]],
    bases: Sequence[str],
) -> None:
    """Write a file a section."""
    from workbench.formats.folder import expanded, put
    from workbench.pipeline.questionnaire_files import figure_files
    from workbench.pipeline.questionnaire_respondents import FILE, respondents_csv

    of = None if options.condition is None else shown
    files = figure_files(judged, sections, of, options.target, bases)
    if "respondents" in sections:
        files[FILE] = respondents_csv(store, judged, of, options.target)
    for path in put(files, expanded(options.csv), force=options.force):
        say(f"{path}  {plural(files[path.name].count(LINE_END) - 1, 'row')}")
    for note in judged.notes:
        say(note)


def _data(
    store: Store,
    judged: QuestionnaireJudged,
    options: Namespace,
    sections: Sequence[str],
    shown: Mapping[str, Sequence[Condition]],
    bases: Sequence[str],
) -> dict[str, Any]:
    """Return the figures of the chosen sections, conditions and target as plain values; means are over all targets."""
    from workbench.domain.questionnaires import Role

    people = judged.questionnaire
    of = {n: shown[n] if options.condition is not None else r.conditions for n, r in judged.reports.items()}
    draw_at_once(judged, sections, of)
    data: dict[str, Any] = {
        "instrument": judged.instrument.name,
        "workbench": __version__,
        "options": asdict(judged.choice.options),
        "shown": {"sections": sections, "condition": options.condition, "target": options.target},
        "questionnaire": {
            "context": len(people.of_role(Role.CONTEXT)),
            "targets": [asdict(question) for question in people.of_role(Role.TARGET)],
            "respondents": len(people.respondents),
        },
        "notes": judged.notes,
        "models": {n: _model(store, judged, n, sections, of[n], options.target) for n in judged.reports},
    }
    if "correlation" in sections:
        data["correlations"] = _correlations(judged, of, options.target)
    if bases:
        data["against"] = [_differences(judged, base, bases, of, options.target) for base in bases]
    if "respondents" in sections:
        data["respondents"] = {
            name: [{"condition": str(c), "answers": _asked(store, judged, name, options.target, c)} for c in conditions]
            for name, conditions in shown.items()
        }
    return data


def draw_at_once(judged: QuestionnaireJudged, sections: Sequence[str], of: Mapping[str, Sequence[Condition]]) -> None:
    """Work out the figures that several of the sections rest on, of all models and conditions together."""
    from workbench.audits.questionnaire_score import measure

    if {"targets", "axis", "correlation"} & {*sections}:
        measure((judged.reports[name], condition) for name, conditions in of.items() for condition in conditions)


def _model(
    store: Store,
    judged: QuestionnaireJudged,
    name: str,
    sections: Sequence[str],
    of: Sequence[Condition],
    target: str | None,
) -> dict[str, Any]:
    report, run = judged.reports[name], judged.runs[name]
    found: dict[str, Any] = {
        "run": about(run),
        "code_versions": store.predictions.code_versions(run),
        "prompts": len(judged.gathered[name].probe),
        "failed": len(judged.gathered[name].failed),
        "outdated": int(judged.gathered[name].outdated.sum()),
    }
    if "targets" in sections or "axis" in sections:
        old = judged.gathered[name].old
        found["conditions"] = {str(condition): _figures(report, condition, target, old) for condition in of}
    if "conditions" in sections:
        rows = [row for row in report.ablations() if row.condition in of and target in (None, row.target)]
        old = judged.gathered[name].old
        found["ablations"] = [
            asdict(row) | {"condition": str(row.condition), "outdated": old(row.condition, row.target)} for row in rows
        ]
    if "wordings" in sections:
        found["variability"] = {str(condition): _variability(report, condition, target) for condition in of}
    if "tokens" in sections:
        found["tokens"] = {str(condition): _tokens(judged, name, condition, target) for condition in of}
    return found


def _figures(report: Report, condition: Condition, target: str | None, old: Callable[..., int]) -> dict[str, Any]:
    found = asdict(report.condition(condition))
    rows = [
        row | {"outdated": old(condition, row["target"])} for row in found["targets"] if target in (None, row["target"])
    ]
    return found | {"outdated": old(condition), "targets": rows}


def _variability(report: Report, condition: Condition, target: str | None) -> dict[str, Any]:
    from workbench.pipeline.questionnaire import mean_variability

    rows = [row for row in report.variability(condition) if target in (None, row.target)]
    return {"mean": mean_variability(report, condition), "targets": [_wordings(row) for row in rows]}


def _tokens(judged: QuestionnaireJudged, name: str, condition: Condition, target: str | None) -> dict[str, Any]:
    from workbench.pipeline.questionnaire_asked import token_shares

    refs = judged.reports[name].predictions.targets
    return {ref: token_shares(judged, name, ref, condition) for ref in refs if target in (None, ref)}


def _wordings(row: Any) -> dict[str, Any]:
    """Return a variability with its wordings under their names."""
    wordings = [asdict(one) | {"wording": str(one.wording)} for one in row.wordings]
    return asdict(row) | {"condition": str(row.condition), "wordings": wordings}


def every_condition(judged: QuestionnaireJudged) -> tuple[Condition, ...]:
    """Return the conditions of all models, in their order."""
    return tuple(dict.fromkeys(c for report in judged.reports.values() for c in report.conditions))


def _correlations(
    judged: QuestionnaireJudged, of: Mapping[str, Sequence[Condition]], target: str | None
) -> dict[str, Any]:
    from workbench.audits.questionnaire_score import correlations

    wanted = {condition for conditions in of.values() for condition in conditions}
    return {
        str(condition): [
            row for row in correlations(judged.reports, condition) if target is None or row.target in (None, target)
        ]
        for condition in every_condition(judged)
        if condition in wanted
    }


def _differences(
    judged: QuestionnaireJudged,
    base: str,
    bases: Sequence[str],
    of: Mapping[str, Sequence[Condition]],
    target: str | None,
) -> dict[str, Any]:
    from workbench.audits.questionnaire_score import differences

    first = judged.reports[base]
    return {
        "base": base,
        "models": {
            name: {
                str(c): [row for row in differences(first, report, c) if target in (None, row.target)]
                for c in of[name]
                if c in first.conditions
            }
            for name, report in judged.reports.items()
            if name not in bases
        },
    }


def _asked(store: Store, judged: QuestionnaireJudged, name: str, target: str, condition: Condition) -> Any:
    from workbench.pipeline.questionnaire_asked import asked

    return asked(store, judged, name, target, condition)
