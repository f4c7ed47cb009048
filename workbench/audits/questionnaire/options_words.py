"""The same predictions judged by other options: who compares them waits for no reading of a million prompts."""

from __future__ import annotations

from dataclasses import replace

from stores.core.store import Store
from workbench.audits.questionnaire.figures import Options
from workbench.audits.questionnaire.judged import QuestionnaireJudged, notes_of
from workbench.audits.questionnaire.rows import Gathered
from workbench.audits.questionnaire.score import Report, judge


def rejudged(store: Store, judged: QuestionnaireJudged, options: Options) -> QuestionnaireJudged:
    """Return what was judged by other options; of what changed in the store since only the notes tell."""
    gathered = {name: found.by(options.masses) for name, found in judged.gathered.items()}
    reports = {name: _report(judged.reports[name], gathered[name], options) for name in gathered}
    notes = (*judged.general, *notes_of(store, judged.instrument, judged.runs, gathered, options))
    choice = replace(judged.choice, options=options)
    return replace(judged, choice=choice, reports=reports, gathered=gathered, notes=notes)


def _report(before: Report, found: Gathered, options: Options) -> Report:
    """Return the report by other options; where only the standard error is another, nothing is drawn again."""
    if replace(before.options, error=options.error) == options:
        return before.with_error(options.error)
    return judge(found.predictions, options)
