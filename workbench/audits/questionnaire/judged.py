"""Predictions ─judge→ accuracy and bias: which models, whose answers, and what a reader of the figures should know."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.audits.questionnaire.again import asking_again
from workbench.audits.questionnaire.conditions import QM, ZERO_SHOT, expanded, unpredicted
from workbench.audits.questionnaire.figures import Condition, Options
from workbench.audits.questionnaire.rows import AUDIT, Gathered, gather, reasons
from workbench.audits.questionnaire.score import Report, judge
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.questionnaires import Questionnaire, Role
from workbench.domain.readings import USUAL, Readings
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.evidence.answered import Answered, Part, foreign_part
from workbench.evidence.answered import answered as how_much
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.evidence.runs import (
    chosen_of,
    instead,
    matching,
    nothing_answered,
    of_models,
    split,
    template_notes,
    told_apart,
    without_runs,
)

SHOWN = 4
"refs that a note names"
COMPUTED, COUNTED = "probabilities", "counted answers"
"in the names of runs that differ in the measure alone"
MANY = 20_000
"prompts that take so long to read that a part of them is worth judging first"
FEW_PARTS = 4
"conditions of which one is such a part: to read it twice adds no more than a quarter"


@dataclass(frozen=True, slots=True)
class QuestionnaireChoice:
    """Which predictions are judged, and how."""

    instrument: str | None = None
    "None: the only questionnaire of the store that was asked"
    models: tuple[str, ...] = ()
    "none: all that answered"
    dtype: str | None = None
    snapshot: str | None = None
    "of a served model; None: any, each a run of its own"
    fingerprint: str | None = None
    "answers under this `system_fingerprint` alone; `each`: a run for every one; None: all together"
    "None: any"
    templates: TemplateChoice = LATEST
    options: Options = field(default_factory=Options)
    readings: Readings = USUAL


@dataclass(frozen=True, eq=False)
class QuestionnaireJudged:
    """The reports of all models, and what they rest on."""

    choice: QuestionnaireChoice
    instrument: Instrument
    questionnaire: Questionnaire
    runs: Mapping[str, Run]
    "name of a report -> its run; the name is the model's, with as much more as tells several runs of it apart"
    reports: Mapping[str, Report]
    gathered: Mapping[str, Gathered]
    "the prompts behind each report"
    notes: tuple[str, ...]
    "what a reader of the figures should know, in sentences"
    general: tuple[str, ...] = ()
    "the first of these, which are about none of the reports"
    rulings: Told = NOTHING_RULED
    "what rulings change"
    answered: tuple[Answered, ...] = ()
    "how much of each plan was answered, and what came of it"

    def name(self, model: str) -> str:
        """Return the report that a name means: its own, or a model's that has one. Raises UnknownName, AmbiguousRun."""
        if model in self.reports:
            return model
        found = [name for name, run in self.runs.items() if run.model == model]
        if len(found) > 1:
            raise AmbiguousRun(f"{len(found)} runs are by {model!r}; name one: {'; '.join(found)}")
        if not found:
            raise UnknownName(f"there is no run or model {model!r}. Available: {'; '.join(self.reports)}")
        return found[0]

    def condition(self, model: str, name: str) -> Condition:
        """Return a condition of a model by its name. Raises UnknownName, listing those there are."""
        return find_condition(self.reports[self.name(model)], name)


def find_condition(report: Report, name: str) -> Condition:
    """Return a condition of a report as people name it. Raises UnknownName, listing those there are."""
    for condition in report.conditions:
        if name in (str(condition), condition.name):
            return condition
    there = ", ".join(map(str, report.conditions))
    raise UnknownName(f"no model was asked under the condition {name!r}. Available: {there or 'none'}")


@at_once
def judge_questionnaire(
    store: Store,
    choice: QuestionnaireChoice | None = None,
    first: Callable[[QuestionnaireJudged], None] | None = None,
    asked: Sequence[Run] | None = None,
) -> QuestionnaireJudged:
    """Return accuracy, bias and all that is derived from them, of each of the chosen models.

    Raises UnknownName for a model or dtype that answered nothing, UsageError where the instrument is no questionnaire,
    several were asked and none is named, or everything that was asked failed. `first`: called before with what is soon
    read where the rest takes long: the figures of one condition as they will be, without notes on the runs. `asked`:
    `store.predictions.runs` of this audit, where they are known.
    """
    choice = choice or QuestionnaireChoice()
    versions = dict(choice.templates.versions)
    every = store.predictions.runs(AUDIT, choice.instrument or None, versions=versions) if asked is None else asked
    instrument = store.instruments.get(choice.instrument or _only_asked(store, every))
    people = store.questionnaires.get(instrument.name)
    if people is None or not people.of_role(Role.TARGET):
        raise UsageError(f"{instrument.name} has no target question to predict")
    runs = _runs(store, choice, instrument.name, every)
    answered = {name: run for name, run in runs.items() if run.responses}
    silent = [nothing_answered(run, store.runs.failures(run)) for name, run in runs.items() if name not in answered]
    if not answered:
        raise UsageError("\n".join(silent))
    source = source_of(store, list(answered.values()), choice.readings)
    told = source.told(source.touched("target"))
    general = (*told.sentences(), *_on_people(people), *silent)

    def judged(only: str) -> QuestionnaireJudged:
        masses = choice.options.masses
        gathered = {
            name: gather(store, run, instrument, people, masses, only, rulings=source.rulings(run))
            for name, run in answered.items()
        }
        reports = {name: judge(found.predictions, choice.options) for name, found in gathered.items()}
        return QuestionnaireJudged(choice, instrument, people, answered, reports, gathered, general, general, told)

    if first is not None and _has_more(store, answered):
        first(judged(QM))
    found = judged("")
    return replace(
        found,
        notes=(*general, *notes_of(store, instrument, answered, found.gathered, choice.options)),
        answered=tuple(_came(store, name, run, found.gathered[name]) for name, run in answered.items()),
    )


def _came(store: Store, name: str, run: Run, found: Gathered) -> Answered:
    """Return how much of a plan was answered.

    Unreadable is a prompt with neither yes nor no among its tokens, or a drawn answer that begins with neither; no
    exclusion changes that.
    """
    drawn = found.predictions.answers is not None
    elsewhere = foreign_part(refusals_of(store, run, name, {}, issues=False)) if drawn else None
    return how_much(store, run, name).with_parts(unreadable=Part(*found.silent), foreign=elsewhere)


def _has_more(store: Store, runs: Mapping[str, Run]) -> bool:
    """Return whether there are many prompts, and few of them under `qm` in the original wording."""
    if sum(run.prompts for run in runs.values()) < MANY:
        return False
    designs = [Design.from_json(spec) for run in runs.values() for spec in store.predictions.designs(run)]
    asked = {name for design in designs for name in expanded(design.contexts.conditions)}
    wordings = any(design.variants != (str(ORIGINAL),) for design in designs)
    return QM in asked and (wordings or len(asked - {ZERO_SHOT}) >= FEW_PARTS)


def notes_of(
    store: Store, instrument: Instrument, runs: Mapping[str, Run], gathered: Mapping[str, Gathered], options: Options
) -> Iterator[str]:
    """Yield what is to be said of each run."""
    yield from template_notes(runs.values())
    for name, run in runs.items():
        again = asking_again(store, run, gathered[name], instrument.language)
        yield from _notes(name, gathered[name], tuple(store.runs.outdated(run)), options, again)
        yield from (f"{name}: {sentence}" for sentence in unfinished(store, run))


def _only_asked(store: Store, runs: Iterable[Run]) -> str:
    """Return the only instrument with such a run."""
    asked = sorted({run.instrument for run in runs})
    if not asked:
        raise UnknownName(f"the store has no {AUDIT} answers. {instead(store, AUDIT)}")
    if len(asked) > 1:
        raise UsageError(f"{len(asked)} questionnaires were asked: {', '.join(asked)}; name one with --instrument")
    return asked[0]


def _runs(store: Store, choice: QuestionnaireChoice, instrument: str, asked: Iterable[Run]) -> dict[str, Run]:
    """Return the runs that are meant, under names that tell them apart.

    One in which everything failed is among them where its model was named, or nothing else is there.
    """
    every = chosen_of([run for run in asked if run.instrument == instrument], choice.templates)
    if not every:
        raise UnknownName(
            f"no model was asked {instrument}. Start with: workbench run STORE --audit {AUDIT} --instrument "
            f"{instrument} --model NAME"
        )
    runs = split(store, matching(every, None, choice.dtype, choice.snapshot), choice.fingerprint)
    if not runs:
        there = ", ".join(sorted({f"{run.dtype}, {run.version}" for run in every}))
        wanted_of = " and ".join(filter(None, (choice.dtype, choice.snapshot)))
        raise UnknownName(f"{instrument} has no {AUDIT} answers in {wanted_of}. Available: {there}")
    models = {run.model for run in runs}
    missing = without_runs(store, runs, choice.models)
    if missing:
        raise UnknownName(
            f"{instrument} has no {AUDIT} answers by {', '.join(missing)}. Models with answers: "
            f"{', '.join(sorted(models))}"
        )
    wanted = of_models(store, runs, choice.models)
    answered = {run.model for run in wanted if run.responses}
    shown = [run for run in wanted if run.responses or run.model not in answered]
    return dict(zip(_names(shown, store.predictions.chat_formats(shown)), shown, strict=True))


def _names(runs: Sequence[Run], formats: Mapping[int, str]) -> list[str]:
    """Return the models' names, with as much of the language, revision and so on as tells runs apart."""
    return told_apart(
        [run.named for run in runs],
        [run.family for run in runs],
        [run.language for run in runs],
        [run.dtype for run in runs],
        [COMPUTED if run.sampling.mode == EXACT else COUNTED for run in runs],
        [str(run.sampling) for run in runs],
        [run.short_version for run in runs],
        [f"chat format {formats[run.model_id][:8]}" for run in runs],
        [run.encoded for run in runs],
        [run.backend for run in runs],
        [f"run {run.model_id}.{run.sampling_id}" for run in runs],
    )


def _on_people(people: Questionnaire) -> list[str]:
    """Say of which targets no person's answer is known, and of which people none to a target."""
    human = {"yes", "no"}
    silent = [q.ref for q in people.of_role(Role.TARGET) if not any(m.value in human for m in people.meanings(q))]
    notes = [f"No respondent answered {_some(silent)} with yes or no."] if silent else []
    return [*notes, *(f"{said[0].upper()}{said[1:]}." for said in unpredicted(people))]


def _notes(name: str, found: Gathered, changed: Sequence[str], options: Options, again: str) -> list[str]:
    """Return what is to be said of one run. `again`: the commands that ask anew what is outdated."""
    asked, prompts = found.predictions, plural(len(found.probe), "prompt")
    notes = []
    if asked.answers is not None:
        some = asked.answers[asked.answers > 0]
        least, most = (int(some.min()), int(some.max())) if len(some) else (0, 0)
        n = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        notes.append(
            f"{name}: p(yes) is yes / (yes + no) among {n} answers to each prompt, by their first words: another "
            "measure than probabilities, never pooled with them. Intervals hold the noise of so many answers; a "
            "prediction is that of their majority, and tells less than a probability where both are frequent."
        )
    if found.failed:
        notes.append(f"{name}: {plural(len(found.failed), 'prompt')} failed and do not count: {reasons(found.failed)}.")
    if asked.answers is None and options.masses == "vocabulary" and (unknown := int(np.isnan(asked.yes).sum())):
        notes.append(
            f"{name}: the probability of yes and no over the whole vocabulary is unknown for {unknown:,} of "
            f"{prompts}, because the backend does not report it; the ten likeliest tokens (--masses top10) are known."
        )
    if old := int(found.outdated.sum()):
        notes.append(
            f"{name}: {old:,} of {prompts} show answers, questions or instructions that have changed since "
            f"({_by_condition(found)}). Running again replaces them: {again}"
        )
    if found.left_out:
        notes.append(
            f"{name}: {plural(found.left_out, 'prompt')} left out, about questions that are no longer targets or "
            "people who are no longer respondents."
        )
    texts = [ref for ref in changed if ref in asked.targets]
    if texts:
        notes.append(
            f"{name} was asked earlier texts of {_some(texts)}; running the audit again asks the current texts."
        )
    there = set(asked.target.tolist())
    silent = [ref for place, ref in enumerate(asked.targets) if place not in there]
    if silent:
        notes.append(f"{name}: no answer on {_some(silent)}.")
    return notes


def _by_condition(found: Gathered) -> str:
    counts = {condition: found.old(condition, wording=None) for condition in found.predictions.conditions}
    return ", ".join(f"{condition} {old:,}" for condition, old in counts.items() if old)


def unfinished(store: Store, run: Run) -> Iterator[str]:
    """Say which jobs of a run have not come to their end: figures rest on what is there."""
    for job in store.jobs.list():
        spec = job.spec
        same = (spec.get("audit"), spec.get("instrument"), spec.get("model")) == (AUDIT, run.instrument, run.model)
        if same and job.state != "done" and job.done < job.total:
            of = plural(job.total, "prompt")
            yield f"job {job.id} {job.stands} at {job.done:,} of {of}; figures will change."


def _some(refs: Sequence[str]) -> str:
    more = len(refs) - SHOWN
    return ", ".join(refs[:SHOWN]) + (f" and {more} more" if more > 0 else "")


__all__ = [
    "QuestionnaireChoice",
    "QuestionnaireJudged",
    "find_condition",
    "judge_questionnaire",
    "notes_of",
]
