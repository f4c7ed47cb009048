"""Predictions ─judge→ accuracy and bias, and from any figure down to the prompts behind it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from stores.core.store import Store, at_once
from stores.runs.predictions import PredictionRow
from stores.runs.run_rows import Run
from workbench.audits.chosen_run import instead, run_named, start_with
from workbench.audits.questionnaire.asking import (
    CONTEXT,
    QM,
    RESPONDENT,
    ZERO_SHOT,
    expanded,
    unpredicted,
)
from workbench.audits.questionnaire.figures import (
    NEVER_ASKED,
    UNREADABLE,
    AskedRow,
    Condition,
    TokenShares,
)
from workbench.audits.questionnaire.options import Masses, PredictionOptions
from workbench.audits.questionnaire.reading import (
    AUDIT,
    Gathered,
    Mark,
    asking_again,
    condition_of,
    counted,
    gather,
    reasons,
    said,
    shares,
    spelled,
    top_masses,
    variant_of,
    vocabulary_masses,
)
from workbench.audits.questionnaire.score import PredictionReport, judge
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.prompts import Prompt
from workbench.domain.questionnaires import Question, Questionnaire, Role, group_fields
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import Answered, Part, foreign_part
from workbench.evidence.answered import answered as how_much
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.rulings import NOTHING_RULED, Told
from workbench.evidence.runs import (
    Which,
    chosen_of,
    matching,
    nothing_answered,
    of_models,
    split,
    template_notes,
    told_apart,
    without_runs,
)
from workbench.readers.verbalizers import PUBLISHED_TOP
from workbench.stats.arrays import BoolArray

SHOWN = 4
"refs that a note names"
COMPUTED, COUNTED = "probabilities", "counted answers"
"in the names of runs that differ in the measure alone"
MANY = 20_000
"prompts that take so long to read that a part of them is worth judging first"
FEW_PARTS = 4
"conditions of which one is such a part: to read it twice adds no more than a quarter"


@dataclass(frozen=True, eq=False)
class QuestionnaireJudged:
    """The reports of all models, and what they rest on."""

    which: Which
    options: PredictionOptions
    instrument: Instrument
    questionnaire: Questionnaire
    runs: Mapping[str, Run]
    """name of a report -> its run; the name is the model's, with as much more as tells several runs
    of it apart"""
    reports: Mapping[str, PredictionReport]
    gathered: Mapping[str, Gathered]
    "the prompts behind each report"
    read_notes: tuple[str, ...]
    "what a reader of the figures should know by any options, in sentences"
    rulings: Told = NOTHING_RULED
    "what rulings change"
    answered: tuple[Answered, ...] = ()
    "how much of each plan was answered, and what came of it"
    going: Mapping[str, str] = field(default_factory=dict)
    "name of a report -> that its job has not come to its end, in a sentence"

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader of these figures should know, in sentences."""
        return (*self.read_notes, *_on_masses(self.gathered, self.options))

    def by(self, options: PredictionOptions) -> QuestionnaireJudged:
        """Return the same predictions judged by other options: nothing is read, and nothing drawn
        that was drawn.
        """
        gathered, reports = self.gathered, self.reports
        if options.draws_as(self.options):
            reports = {name: report.by(options) for name, report in reports.items()}
        else:
            unweighted = options.unweighted
            gathered = {
                name: found.by(options.masses, unweighted=unweighted)
                for name, found in gathered.items()
            }
            reports = {name: judge(found.predictions, options) for name, found in gathered.items()}
        return replace(self, options=options, reports=reports, gathered=gathered)

    def name(self, model: str) -> str:
        """Return the report that a name means: its own, or a model's that has one. Raises
        UnknownName, AmbiguousRun.
        """
        return run_named(model, {name: run.model for name, run in self.runs.items()})


@at_once
def judge_questionnaire(
    store: Store,
    which: Which | None = None,
    options: PredictionOptions | None = None,
    *,
    partly: bool = False,
) -> QuestionnaireJudged:
    """Return accuracy, bias and all that is derived from them, of each of the chosen models.

    partly : only what was asked under `qm`, without notes on the runs

    Raises UnknownName for a model or dtype that answered nothing, UsageError where the instrument
    is no questionnaire, several were asked and none is named, or everything that was asked failed.
    """
    which, options = which or Which(), options or PredictionOptions()
    instrument, runs = _asked(store, which)
    people = store.questionnaires.get(instrument.name)
    if people is None or not people.of_role(Role.TARGET):
        raise UsageError(f"{instrument.name} has no target question to predict")
    answered = {name: run for name, run in runs.items() if run.responses}
    silent = [
        nothing_answered(run, store.runs.failures(run))
        for name, run in runs.items()
        if name not in answered
    ]
    if not answered:
        raise UsageError("\n".join(silent))
    source = source_of(store, list(answered.values()), which.readings)
    told = source.told(source.touched("target"))
    only = QM if partly else ""
    gathered = {
        name: gather(
            *(store, run, instrument, people, options.masses, only),
            rulings=source.rulings(run),
            unweighted=options.unweighted,
        )
        for name, run in answered.items()
    }
    if options.groups:
        check_groups(people, options.groups)
    found = QuestionnaireJudged(
        which=which,
        options=options,
        instrument=instrument,
        questionnaire=people,
        runs=answered,
        reports={name: judge(of.predictions, options) for name, of in gathered.items()},
        gathered=gathered,
        read_notes=(*told.sentences(), *_on_people(people), *silent),
        rulings=told,
    )
    if partly:
        return found
    return replace(
        found,
        read_notes=(*found.read_notes, *_on_runs(store, found)),
        answered=tuple(_came(store, name, run, gathered[name]) for name, run in answered.items()),
        going={
            name: going
            for name, run in answered.items()
            if (going := next(_unfinished(store, run), ""))
        },
    )


def check_groups(people: Questionnaire, groups: Sequence[str]) -> None:
    """Raise UnknownName for a group that nobody is of."""
    there = group_fields(people.respondents)
    odd = [one for one in groups if one not in there]
    if odd:
        raise UnknownName(f"nobody has a group {odd[0]!r}. Available: {', '.join(there) or 'none'}")


def report_within(
    judged: QuestionnaireJudged, name: str, group: str, value: str
) -> PredictionReport:
    """Return the report of a model over the respondents of one group alone. Raises UnknownName."""
    of = judged.gathered[name].predictions
    there = np.array(
        [one.groups.get(group) == value for one in judged.questionnaire.respondents], dtype=np.bool_
    )
    return judge(replace(of, human=np.where(there, of.human, np.nan)), judged.options)


def takes_long(store: Store, which: Which) -> bool:
    """Return whether there are many prompts, and few of them under `qm` in the original wording: to
    judge these before is worth it.
    """
    runs = [run for run in _asked(store, which)[1].values() if run.responses]
    if sum(run.prompts for run in runs) < MANY:
        return False
    designs = [Design.from_json(spec) for run in runs for spec in store.predictions.designs(run)]
    asked = {name for design in designs for name in expanded(design.contexts.conditions)}
    wordings = any(design.variants != (str(ORIGINAL),) for design in designs)
    return QM in asked and (wordings or len(asked - {ZERO_SHOT}) >= FEW_PARTS)


def _asked(store: Store, which: Which) -> tuple[Instrument, dict[str, Run]]:
    """Return the instrument that is meant, and the runs on it."""
    every = store.predictions.runs(AUDIT, which.instrument, versions=dict(which.templates.versions))
    instrument = store.instruments.get(which.instrument or _only_asked(store, every))
    return instrument, _runs(store, which, instrument.name, every)


def _came(store: Store, name: str, run: Run, found: Gathered) -> Answered:
    """Return how much of a plan was answered.

    Unreadable is a prompt with neither yes nor no among its tokens, or a drawn answer that begins
    with neither; no exclusion changes that.
    """
    drawn = found.predictions.answers is not None
    elsewhere = foreign_part(refusals_of(store, run, name, {}, issues=False)) if drawn else None
    return how_much(store, run, name).with_parts(unreadable=Part(*found.silent), foreign=elsewhere)


def _on_runs(store: Store, found: QuestionnaireJudged) -> Iterator[str]:
    """Yield what is to be said of each run."""
    yield from template_notes(found.runs.values())
    for name, run in found.runs.items():
        again = asking_again(store, run, found.gathered[name], found.instrument.language)
        yield from _notes(name, found.gathered[name], tuple(store.runs.outdated(run)), again)
        yield from (f"{name}: {sentence}" for sentence in _unfinished(store, run))


def _only_asked(store: Store, runs: Iterable[Run]) -> str:
    """Return the only instrument with such a run."""
    asked = sorted({run.instrument for run in runs})
    if not asked:
        raise UnknownName(f"the store has no {AUDIT} answers. {instead(store, AUDIT)}")
    if len(asked) > 1:
        raise UsageError(
            f"{len(asked)} questionnaires were asked: {', '.join(asked)}; name one with "
            "--instrument"
        )
    return asked[0]


def _runs(store: Store, which: Which, instrument: str, asked: Iterable[Run]) -> dict[str, Run]:
    """Return the runs that are meant, under names that tell them apart.

    One in which everything failed is among them where its model was named, or nothing else is
    there.
    """
    every = chosen_of([run for run in asked if run.instrument == instrument], which.templates)
    if not every:
        raise UnknownName(
            f"no model was asked {instrument} yet. {start_with(store, AUDIT, instrument)}"
        )
    runs = split(store, matching(every, None, which.dtype, which.snapshot), which.fingerprint)
    if not runs:
        there = ", ".join(sorted({f"{run.dtype}, {run.version}" for run in every}))
        wanted_of = " and ".join(filter(None, (which.dtype, which.snapshot)))
        raise UnknownName(f"{instrument} has no {AUDIT} answers in {wanted_of}. Available: {there}")
    models = {run.model for run in runs}
    missing = without_runs(store, runs, which.models)
    if missing:
        raise UnknownName(
            f"{instrument} has no {AUDIT} answers by {', '.join(missing)}. Models with answers: "
            f"{', '.join(sorted(models))}"
        )
    wanted = of_models(store, runs, which.models)
    answered = {run.model for run in wanted if run.responses}
    shown = [run for run in wanted if run.responses or run.model not in answered]
    return dict(zip(_names(shown, store.predictions.chat_formats(shown)), shown, strict=True))


def _names(runs: Sequence[Run], formats: Mapping[int, str]) -> list[str]:
    """Return the models' names, with as much of the language, revision and so on as tells runs
    apart.
    """
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
    silent = [
        q.ref
        for q in people.of_role(Role.TARGET)
        if not any(m.value in human for m in people.meanings(q))
    ]
    notes = [f"No respondent answered {_some(silent)} with yes or no."] if silent else []
    return [*notes, *(f"{said[0].upper()}{said[1:]}." for said in unpredicted(people))]


def _notes(name: str, found: Gathered, changed: Sequence[str], again: str) -> list[str]:
    """Return what is to be said of one run. `again`: the commands that ask anew what is
    outdated.
    """
    asked, prompts = found.predictions, plural(len(found.probe), "prompt")
    notes = []
    if asked.answers is not None:
        some = asked.answers[asked.answers > 0]
        least, most = (int(some.min()), int(some.max())) if len(some) else (0, 0)
        n = f"{least:,}" if least == most else f"{least:,} to {most:,}"
        notes.append(
            f"{name}: p(yes) is yes / (yes + no) among {n} answers to each prompt, by their "
            "first words: another "
            "measure than probabilities, never pooled with them. Intervals hold the noise of so "
            "many answers; a "
            "prediction is that of their majority, and tells less than a probability where both "
            "are frequent."
        )
    if found.failed:
        notes.append(
            f"{name}: {plural(len(found.failed), 'prompt')} failed and do not count: "
            f"{reasons(found.failed)}."
        )
    if old := int(found.outdated.sum()):
        notes.append(
            f"{name}: {old:,} of {prompts} show answers, questions or instructions that have "
            "changed since "
            f"({_by_condition(found)}). Running again replaces them: {again}"
        )
    if found.left_out:
        notes.append(
            f"{name}: {plural(found.left_out, 'prompt')} left out, about questions that are no "
            "longer targets or "
            "people who are no longer respondents."
        )
    texts = [ref for ref in changed if ref in asked.targets]
    if texts:
        notes.append(
            f"{name} was asked earlier texts of {_some(texts)}; running the audit again asks the "
            "current texts."
        )
    there = set(asked.target.tolist())
    silent = [ref for place, ref in enumerate(asked.targets) if place not in there]
    if silent:
        notes.append(f"{name}: no answer on {_some(silent)}.")
    return notes


def _on_masses(gathered: Mapping[str, Gathered], options: PredictionOptions) -> Iterator[str]:
    """Say of which prompts the masses of yes and no are unknown."""
    for name, found in gathered.items() if options.masses == "vocabulary" else ():
        asked = found.predictions
        if asked.answers is None and (unknown := int(np.isnan(asked.yes).sum())):
            yield (
                f"{name}: the probability of yes and no over the whole vocabulary is unknown for "
                f"{unknown:,} of "
                f"{plural(len(found.probe), 'prompt')}, because the backend does not report it; "
                "the ten likeliest "
                "tokens (--masses top10) are known."
            )


def _by_condition(found: Gathered) -> str:
    counts = {
        condition: found.old(condition, wording=None) for condition in found.predictions.conditions
    }
    return ", ".join(f"{condition} {old:,}" for condition, old in counts.items() if old)


def _unfinished(store: Store, run: Run) -> Iterator[str]:
    """Say which jobs of a run have not come to their end: figures rest on what is there."""
    for job in store.jobs.list():
        spec = job.spec
        same = (spec.get("audit"), spec.get("instrument"), spec.get("model")) == (
            AUDIT,
            run.instrument,
            run.model,
        )
        if same and job.state != "done" and job.done < job.total:
            of = plural(job.total, "prompt")
            yield f"job {job.id} {job.stands} at {job.done:,} of {of}; figures will change."


def _some(refs: Sequence[str]) -> str:
    more = len(refs) - SHOWN
    return ", ".join(refs[:SHOWN]) + (f" and {more} more" if more > 0 else "")


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One of the likeliest next tokens."""

    text: str
    probability: float
    mark: Mark
    "what it spells, blanks around it and case aside"
    counted: bool
    "whether it is among those over which the published masses are summed"
    times: int = 0
    "how often it was drawn, of an answer; 0 of a token"


@dataclass(frozen=True, slots=True)
class Provenance:
    """Who predicted, when and with what."""

    model: str
    version: str
    "of the model, in words"
    backend: str
    dtype: str
    seed: int
    "of what was drawn for the context; 0: nothing was"
    at: str
    code_version: str
    job: int


@dataclass(frozen=True, slots=True)
class PromptAsked:
    """One prompt as the model was given it, and the distribution of its next token."""

    prompt: Prompt
    "its first `context` messages are the person's answered questions"
    target: str
    variant: VariantId
    condition: Condition
    respondent: str
    "empty where nobody's answers are shown"
    template: str
    context: str
    "what tells the context from others; empty where there is none"
    outdated: bool
    "whether it would be put differently now"
    tokens: tuple[TokenRow, ...]
    "the likeliest first"
    rest: float
    "probability of all tokens that are not among them"
    yes: float
    no: float
    provenance: Provenance
    answers: int = 0
    "how many were drawn, of which `tokens` are the distinct ones; 0: they are next tokens"


def asked(
    judged: QuestionnaireJudged,
    model: str,
    target: str,
    condition: Condition,
    variant: VariantId = ORIGINAL,
) -> tuple[AskedRow, ...]:
    """Return what was predicted of each person who answered a target with yes or no and was asked
    about.

    Where the backend does not say the chosen masses, nothing was predicted and nobody's answer was
    missed. Raises UnknownName for a model or target that is not there.
    """
    found = judged.gathered[judged.name(model)]
    question, place = target_of(judged, target)
    of = found.predictions
    rows: dict[int, int] = {}
    for row in np.flatnonzero(_those(found, place, condition, variant)):
        person = int(of.respondent[row])
        everybody = person == NEVER_ASKED
        rows |= (
            dict.fromkeys(range(len(of.respondents)), int(row)) if everybody else {person: int(row)}
        )
    known = {person for person, row in rows.items() if not math.isnan(of.yes[row])}
    answered = [person for person in sorted(known) if not math.isnan(of.human[place, person])]
    return tuple(
        _asked_row(judged, found, question, place, person, rows[person]) for person in answered
    )


def target_of(judged: QuestionnaireJudged, ref: str) -> tuple[Question, int]:
    """Return a target and its place. Raises UnknownName, listing those there are."""
    targets = judged.questionnaire.of_role(Role.TARGET)
    for place, question in enumerate(targets):
        if question.ref == ref:
            return question, place
    raise UnknownName(
        f"{judged.instrument.name} has no target {ref!r}. Its targets: "
        f"{', '.join(q.ref for q in targets)}"
    )


def _those(found: Gathered, target: int, condition: Condition, variant: VariantId) -> BoolArray:
    """Return which prompts are about one wording of one target under one condition."""
    of = found.predictions
    if condition not in of.conditions or variant not in of.wordings:
        return np.zeros(len(found.probe), dtype=bool)
    where = (of.target == target) & (of.condition == of.conditions.index(condition))
    chosen: BoolArray = where & (of.wording == of.wordings.index(variant))
    return chosen


def _asked_row(
    judged: QuestionnaireJudged,
    found: Gathered,
    question: Question,
    target: int,
    person: int,
    row: int,
) -> AskedRow:
    of = found.predictions
    respondent, human = judged.questionnaire.respondents[person], int(of.human[target, person])
    yes, no = float(of.yes[row]), float(of.no[row])
    predicted = _predicted(yes, no)
    return AskedRow(
        respondent=respondent.name,
        value=respondent.answers.get(question.ref, ""),
        human=human,
        yes=yes,
        no=no,
        p_yes=yes / (yes + no) if yes + no > 0 else float("nan"),
        predicted=predicted,
        correct=predicted == human,
        probe=int(found.probe[row]),
        outdated=bool(found.outdated[row]),
        weight=respondent.weight,
    )


def _predicted(yes: float, no: float) -> int:
    """Return the predicted answer (Haller et al. 2025, section 3.2): a tie is a yes."""
    if not yes + no > 0:
        return UNREADABLE
    return int(not no > yes)


def prompt_asked(store: Store, judged: QuestionnaireJudged, model: str, probe: int) -> PromptAsked:
    """Return one prompt of a run with its context, its tokens and where they come from.

    Raises UnknownName where the run has no such prompt with next tokens.
    """
    name = judged.name(model)
    run, found = judged.runs[name], judged.gathered[name]
    row = store.predictions.of_probe(run, probe)
    known = None if row is None else _distribution(store, run, row, judged.options.masses)
    if row is None or known is None:
        raise UnknownName(f"{name} has no next tokens of the prompt {probe}")
    tokens, rest, (yes, no), by = known
    condition = condition_of(row.axes)
    return PromptAsked(
        prompt=store.runs.prompt(probe),
        target=row.ref,
        variant=variant_of(row),
        condition=condition,
        respondent=row.axes.get(RESPONDENT, ""),
        template=row.template,
        context=row.axes.get(CONTEXT, ""),
        outdated=bool(found.outdated[found.probe == probe].any()),
        tokens=tokens,
        rest=rest,
        yes=yes,
        no=no,
        provenance=Provenance(run.model, run.version, run.backend, run.dtype, condition.seed, *by),
        answers=sum(one.times for one in tokens),
    )


def _distribution(
    store: Store, run: Run, row: PredictionRow, masses: Masses
) -> tuple[tuple[TokenRow, ...], float, tuple[float, float], tuple[str, str, int]] | None:
    """Return next tokens, or the answers that were drawn, the most frequent first; the probability
    of all others; that of yes and no; and when this came, by which code and in which job. None
    where there is nothing.
    """
    if run.sampling.mode != EXACT:
        answers, by = store.predictions.given(run, row.probe)
        n = sum(answers.values())
        drawn = tuple(
            TokenRow(text, k / n, said(text, row.labels), True, k) for text, k in answers.items()
        )
        return (drawn, 0.0, shares(counted(answers, row.labels))[:2], by) if n else None
    scores = store.scores.of_probe(run, row.probe)
    if scores is None or not row.tokens:
        return None
    tokens = tuple(
        TokenRow(text, math.exp(log), spelled(text, row.labels), counted=place < PUBLISHED_TOP)
        for place, (text, log) in enumerate(row.tokens)
    )
    whole = masses == "vocabulary"
    yes, no, *_ = (
        vocabulary_masses(row.words, row.labels) if whole else top_masses(row.tokens, row.labels)
    )
    return tokens, row.rest, (yes, no), (scores.at, scores.code_version, scores.job)


def token_shares(
    judged: QuestionnaireJudged, model: str, target: str, condition: Condition
) -> TokenShares:
    """Return where the probability goes after the original wording of a target, on average over its
    prompts.

    NaN where nothing is known. Raises UnknownName for a model or target that is not there.
    """
    found = judged.gathered[judged.name(model)]
    chosen = _those(found, target_of(judged, target)[1], condition, ORIGINAL)
    chosen &= ~np.isnan(found.predictions.yes)
    n = int(chosen.sum())
    if not n:
        nothing = float("nan")
        return TokenShares(nothing, nothing, nothing, nothing, 0)
    yes, no, other = (
        float(of[chosen].mean())
        for of in (found.predictions.yes, found.predictions.no, found.other)
    )
    return TokenShares(yes, no, other, max(0.0, 1.0 - yes - no - other), n)
