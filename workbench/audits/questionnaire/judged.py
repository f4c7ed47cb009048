"""The accuracy and bias of predictions, with the prompts behind every figure."""

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
    Condition,
    RespondentPrediction,
    TokenShares,
)
from workbench.audits.questionnaire.options import Masses, PredictionOptions
from workbench.audits.questionnaire.reading import (
    AUDIT,
    GatheredPredictions,
    Mark,
    asking_again,
    condition_of,
    count_marks,
    gather,
    mark_of_answer,
    mark_of_token,
    reasons,
    shares,
    top_masses,
    variant_of,
    vocabulary_masses,
)
from workbench.audits.questionnaire.score import PredictionReport, judge
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.prompts import Prompt
from workbench.domain.questionnaires import Question, Questionnaire, QuestionRole, group_fields
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL, VariantId
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import AnswerCount, AnsweredPlan, foreign_part
from workbench.evidence.answered import answered_plan as how_much
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import refusals_of
from workbench.evidence.rulings import NOTHING_RULED, RulingNotes
from workbench.evidence.runs import (
    AnswerSelection,
    matching_runs,
    no_answers_message,
    runs_of_models,
    select_runs,
    split_by_fingerprint,
    template_notes,
    unique_names,
    without_runs,
)
from workbench.readers.verbalizers import PUBLISHED_TOP
from workbench.stats.arrays import BoolArray

SHOWN = 4
"number of refs that a note names"
COMPUTED, COUNTED = "probabilities", "counted answers"
"parts of the names of runs that differ in the measure alone"
MANY = 20_000
"number of prompts from which on a part of them is judged first, since reading them takes long"
FEW_PARTS = 4
"number of conditions from which on one is such a part: reading it twice adds at most a quarter"


@dataclass(frozen=True, eq=False)
class QuestionnaireJudged:
    """The reports of all models, with their runs and predictions."""

    which: AnswerSelection
    options: PredictionOptions
    instrument: Instrument
    questionnaire: Questionnaire
    runs: Mapping[str, Run]
    """the runs by the name of their report: the model's, with details if it has several runs"""
    reports: Mapping[str, PredictionReport]
    gathered: Mapping[str, GatheredPredictions]
    "the prompts of each report"
    read_notes: tuple[str, ...]
    "notes on the figures that hold under any options, in sentences"
    rulings: RulingNotes = NOTHING_RULED
    "changes by rulings"
    answered: tuple[AnsweredPlan, ...] = ()
    "the answered part of each plan, and the kinds of its answers"
    going: Mapping[str, str] = field(default_factory=dict)
    "sentence on an unfinished job by the name of its report"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on these figures, in sentences."""
        return (*self.read_notes, *_on_masses(self.gathered, self.options))

    def with_options(self, options: PredictionOptions) -> QuestionnaireJudged:
        """Return the same predictions judged by other options.

        Nothing is read again, and draws are reused if the options allow it.
        """
        gathered, reports = self.gathered, self.reports
        if options.draws_as(self.options):
            reports = {name: report.with_options(options) for name, report in reports.items()}
        else:
            unweighted = options.unweighted
            gathered = {
                name: run_predictions.with_options(options.masses, unweighted=unweighted)
                for name, run_predictions in gathered.items()
            }
            reports = {
                name: judge(run_predictions.predictions, options)
                for name, run_predictions in gathered.items()
            }
        return replace(self, options=options, reports=reports, gathered=gathered)

    def count_outdated(
        self, name: str, condition: Condition, target: str | None, wording: VariantId | None
    ) -> int:
        """Return the number of a figure's prompts that would be worded differently now.

        The target None stands for all targets, the wording None for all wordings.
        """
        return self.gathered[name].count_outdated(condition, target, wording)

    def name(self, model: str) -> str:
        """Return the name of a report, given its name or that of a model with one report.

        Raises UnknownName, AmbiguousRun.
        """
        return run_named(model, {name: run.model for name, run in self.runs.items()})


@at_once
def judge_questionnaire(
    store: Store,
    which: AnswerSelection | None = None,
    options: PredictionOptions | None = None,
    *,
    partly: bool = False,
) -> QuestionnaireJudged:
    """Return accuracy, bias and all figures derived from them, for each of the selected models.

    Raises UnknownName for a model or dtype without answers, and UsageError if the instrument is no
    questionnaire, if several were asked and none is named, or if all prompts failed.

    Parameters
    ----------
    partly : whether to judge only the prompts under `qm`, without notes on the runs
    """
    which, options = which or AnswerSelection(), options or PredictionOptions()
    instrument, runs = _asked(store, which)
    questionnaire = store.questionnaires.get(instrument.name)
    if questionnaire is None or not questionnaire.of_role(QuestionRole.TARGET):
        raise UsageError(f"{instrument.name} has no target question to predict")
    answered_runs = {name: run for name, run in runs.items() if run.responses}
    failures = [
        no_answers_message(run, store.runs.failures(run))
        for name, run in runs.items()
        if name not in answered_runs
    ]
    if not answered_runs:
        raise UsageError("\n".join(failures))
    source = source_of(store, list(answered_runs.values()), which.readings)
    ruling_notes = source.ruling_notes(source.touched("target"))
    only = QM if partly else ""
    gathered = {
        name: gather(
            *(store, run, instrument, questionnaire, options.masses, only),
            rulings=source.rulings(run),
            unweighted=options.unweighted,
        )
        for name, run in answered_runs.items()
    }
    if options.groups:
        check_groups(questionnaire, options.groups)
    judged = QuestionnaireJudged(
        which=which,
        options=options,
        instrument=instrument,
        questionnaire=questionnaire,
        runs=answered_runs,
        reports={
            name: judge(run_predictions.predictions, options)
            for name, run_predictions in gathered.items()
        },
        gathered=gathered,
        read_notes=(*ruling_notes.sentences(), *_on_people(questionnaire), *failures),
        rulings=ruling_notes,
    )
    if partly:
        return judged
    return replace(
        judged,
        read_notes=(*judged.read_notes, *_on_runs(store, judged)),
        answered=tuple(
            _came(store, name, run, gathered[name]) for name, run in answered_runs.items()
        ),
        going={
            name: sentence
            for name, run in answered_runs.items()
            if (sentence := next(_unfinished(store, run), ""))
        },
    )


def check_groups(people: Questionnaire, groups: Sequence[str]) -> None:
    """Raise UnknownName for a group to which no respondent belongs."""
    available = group_fields(people.respondents)
    unknown = [group for group in groups if group not in available]
    if unknown:
        raise UnknownName(
            f"nobody has a group {unknown[0]!r}. Available: {', '.join(available) or 'none'}"
        )


def report_within(
    judged: QuestionnaireJudged, name: str, group: str, value: str
) -> PredictionReport:
    """Return the report of a model over the respondents of one group. Raises UnknownName."""
    predictions = judged.gathered[name].predictions
    is_member = np.array(
        [respondent.groups.get(group) == value for respondent in judged.questionnaire.respondents],
        dtype=np.bool_,
    )
    return judge(
        replace(predictions, human=np.where(is_member, predictions.human, np.nan)),
        judged.options,
    )


def takes_long(store: Store, which: AnswerSelection) -> bool:
    """Return whether it pays to judge the prompts under `qm` in the original wording first.

    It does if there are many prompts, and few of them are such prompts.
    """
    runs = [run for run in _asked(store, which)[1].values() if run.responses]
    if sum(run.prompts for run in runs) < MANY:
        return False
    designs = [Design.from_json(spec) for run in runs for spec in store.predictions.designs(run)]
    conditions = {name for design in designs for name in expanded(design.contexts.conditions)}
    has_variants = any(design.variants != (str(ORIGINAL),) for design in designs)
    return QM in conditions and (has_variants or len(conditions - {ZERO_SHOT}) >= FEW_PARTS)


def _asked(store: Store, which: AnswerSelection) -> tuple[Instrument, dict[str, Run]]:
    """Return the selected instrument, and the selected runs on it by name."""
    runs = store.predictions.runs(AUDIT, which.instrument, versions=dict(which.templates.versions))
    instrument = store.instruments.get(which.instrument or _only_asked(store, runs))
    return instrument, _runs(store, which, instrument.name, runs)


def _came(store: Store, name: str, run: Run, found: GatheredPredictions) -> AnsweredPlan:
    """Return the answered part of a plan, and the kinds of its answers.

    Unreadable is a prompt with neither yes nor no among its tokens, or a drawn answer that begins
    with neither. Exclusions do not change this.
    """
    is_drawn = found.predictions.answers is not None
    foreign = foreign_part(refusals_of(store, run, name, {}, issues=False)) if is_drawn else None
    return how_much(store, run, name).with_parts(
        unreadable=AnswerCount(*found.silent), foreign=foreign
    )


def _on_runs(store: Store, found: QuestionnaireJudged) -> Iterator[str]:
    """Yield the notes on each run."""
    yield from template_notes(found.runs.values())
    for name, run in found.runs.items():
        commands = asking_again(store, run, found.gathered[name], found.instrument.language)
        yield from _notes(name, found.gathered[name], tuple(store.runs.outdated(run)), commands)
        yield from (f"{name}: {sentence}" for sentence in _unfinished(store, run))


def _only_asked(store: Store, runs: Iterable[Run]) -> str:
    """Return the instrument of the runs.

    Raises UnknownName without a run, and UsageError if there are several instruments.
    """
    names = sorted({run.instrument for run in runs})
    if not names:
        raise UnknownName(f"the store has no {AUDIT} answers. {instead(store, AUDIT)}")
    if len(names) > 1:
        raise UsageError(
            f"{len(names)} questionnaires were asked: {', '.join(names)}; name one with "
            "--instrument"
        )
    return names[0]


def _runs(
    store: Store, which: AnswerSelection, instrument: str, asked: Iterable[Run]
) -> dict[str, Run]:
    """Return the selected runs, under distinct names.

    A run in which all prompts failed is included if its model has no run with answers: a note, and
    not a report, then says why.
    """
    available = select_runs([run for run in asked if run.instrument == instrument], which.templates)
    if not available:
        raise UnknownName(
            f"no model was asked {instrument} yet. {start_with(store, AUDIT, instrument)}"
        )
    runs = split_by_fingerprint(
        store, matching_runs(available, None, which.dtype, which.snapshot), which.fingerprint
    )
    if not runs:
        formats = ", ".join(sorted({f"{run.dtype}, {run.version}" for run in available}))
        requested = " and ".join(filter(None, (which.dtype, which.snapshot)))
        raise UnknownName(
            f"{instrument} has no {AUDIT} answers in {requested}. Available: {formats}"
        )
    models = {run.model for run in runs}
    missing_names = without_runs(store, runs, which.models)
    if missing_names:
        raise UnknownName(
            f"{instrument} has no {AUDIT} answers by {', '.join(missing_names)}. Models with "
            f"answers: {', '.join(sorted(models))}"
        )
    selected = runs_of_models(store, runs, which.models)
    answered_models = {run.model for run in selected if run.responses}
    shown_runs = [run for run in selected if run.responses or run.model not in answered_models]
    return dict(
        zip(_names(shown_runs, store.predictions.chat_formats(shown_runs)), shown_runs, strict=True)
    )


def _names(runs: Sequence[Run], formats: Mapping[int, str]) -> list[str]:
    """Return distinct names of runs: the models', with language, revision and so on if needed."""
    return unique_names(
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
    """Return notes on targets without human answers, and on respondents in no figure."""
    human = {"yes", "no"}
    unanswered = [
        question.ref
        for question in people.of_role(QuestionRole.TARGET)
        if not any(meaning.value in human for meaning in people.meanings(question))
    ]
    notes = [f"No respondent answered {_some(unanswered)} with yes or no."] if unanswered else []
    return [*notes, *(f"{note[0].upper()}{note[1:]}." for note in unpredicted(people))]


def _notes(name: str, found: GatheredPredictions, changed: Sequence[str], again: str) -> list[str]:
    """Return the notes on one run.

    `changed` are refs whose text has changed, `again` the commands that replace outdated prompts.
    """
    predictions, prompts = found.predictions, plural(len(found.probe), "prompt")
    notes = []
    if predictions.answers is not None:
        counts = predictions.answers[predictions.answers > 0]
        smallest, largest = (int(counts.min()), int(counts.max())) if len(counts) else (0, 0)
        n = f"{smallest:,}" if smallest == largest else f"{smallest:,} to {largest:,}"
        notes.append(
            f"{name}: p(yes) is yes / (yes + no) among {n} answers to each prompt, by their first "
            "words: another measure than probabilities, never pooled with them. Intervals hold the "
            "noise of so many answers; a prediction is that of their majority, and tells less than "
            "a probability where both are frequent."
        )
    if found.failed:
        notes.append(
            f"{name}: {plural(len(found.failed), 'prompt')} failed and do not count: "
            f"{reasons(found.failed)}."
        )
    if old := int(found.outdated.sum()):
        notes.append(
            f"{name}: {old:,} of {prompts} show answers, questions or instructions that have "
            f"changed since ({_by_condition(found)}). Running again replaces them: {again}"
        )
    if found.left_out:
        notes.append(
            f"{name}: {plural(found.left_out, 'prompt')} left out, about questions that are no "
            "longer targets or people who are no longer respondents."
        )
    texts = [ref for ref in changed if ref in predictions.targets]
    if texts:
        notes.append(
            f"{name} was asked earlier texts of {_some(texts)}; running the audit again asks the "
            "current texts."
        )
    indices = set(predictions.target.tolist())
    unanswered = [ref for index, ref in enumerate(predictions.targets) if index not in indices]
    if unanswered:
        notes.append(f"{name}: no answer on {_some(unanswered)}.")
    return notes


def _on_masses(
    gathered: Mapping[str, GatheredPredictions], options: PredictionOptions
) -> Iterator[str]:
    """Yield notes on prompts for which the masses of yes and no are unknown."""
    for name, run_predictions in gathered.items() if options.masses == "vocabulary" else ():
        predictions = run_predictions.predictions
        if predictions.answers is None and (unknown := int(np.isnan(predictions.yes).sum())):
            yield (
                f"{name}: the probability of yes and no over the whole vocabulary is unknown for "
                f"{unknown:,} of {plural(len(run_predictions.probe), 'prompt')}, because the "
                "backend does not report it; the ten likeliest tokens (--masses top10) are known."
            )


def _by_condition(found: GatheredPredictions) -> str:
    """Return the numbers of outdated prompts as text: `qm 12, zero-shot 3`."""
    counts = {
        condition: found.count_outdated(condition, wording=None)
        for condition in found.predictions.conditions
    }
    return ", ".join(f"{condition} {old:,}" for condition, old in counts.items() if old)


def _unfinished(store: Store, run: Run) -> Iterator[str]:
    """Yield a sentence for each unfinished job of a run, since its figures are preliminary."""
    for job in store.jobs.list():
        spec = job.spec
        is_same_run = (spec.get("audit"), spec.get("instrument"), spec.get("model")) == (
            AUDIT,
            run.instrument,
            run.model,
        )
        if is_same_run and job.state != "done" and job.done < job.total:
            total = plural(job.total, "prompt")
            yield f"job {job.id} {job.stands} at {job.done:,} of {total}; figures will change."


def _some(refs: Sequence[str]) -> str:
    """Return the first refs as text, with the number of the others."""
    n_more = len(refs) - SHOWN
    return ", ".join(refs[:SHOWN]) + (f" and {n_more} more" if n_more > 0 else "")


@dataclass(frozen=True, slots=True)
class TokenRow:
    """One of the likeliest next tokens, or one of the drawn answers."""

    text: str
    probability: float
    mark: Mark
    "the answer that it spells, ignoring case and surrounding blanks"
    counted: bool
    "whether it is among the tokens over which the published masses are summed"
    times: int = 0
    "number of times that an answer was drawn, or 0 for a token"


@dataclass(frozen=True, slots=True)
class Provenance:
    """The model, the backend and the job of a prediction."""

    model: str
    version: str
    "version of the model, as text"
    backend: str
    dtype: str
    seed: int
    "seed of the draws for the context, or 0 without draws"
    at: str
    "time of the answer"
    code_version: str
    job: int


@dataclass(frozen=True, slots=True)
class PromptAsked:
    """One prompt as the model was given it, and the distribution of its answers."""

    prompt: Prompt
    "the first `context` messages are the person's answered questions"
    target: str
    variant: VariantId
    condition: Condition
    respondent: str
    "empty if nobody's answers are shown"
    template: str
    context: str
    "key of the context, or empty without one"
    outdated: bool
    "whether it would be worded differently now"
    tokens: tuple[TokenRow, ...]
    "the likeliest tokens or the most frequent answers first"
    rest: float
    "probability of all other tokens"
    yes: float
    no: float
    provenance: Provenance
    answers: int = 0
    "number of drawn answers, whose distinct texts are `tokens`; 0: `tokens` are next tokens"


def predictions_of(
    judged: QuestionnaireJudged,
    model: str,
    target: str,
    condition: Condition,
    variant: VariantId = ORIGINAL,
) -> tuple[RespondentPrediction, ...]:
    """Return the predictions of a target, one for each respondent who answered it with yes or no.

    Respondents that the model was not asked about are excluded, and so are all of them if the
    backend does not report the selected masses. Raises UnknownName for a model or target that does
    not exist.
    """
    run_predictions = judged.gathered[judged.name(model)]
    question, target_index = target_of(judged, target)
    predictions = run_predictions.predictions
    row_by_person: dict[int, int] = {}
    for row in np.flatnonzero(_those(run_predictions, target_index, condition, variant)):
        person = int(predictions.respondent[row])
        is_for_all = person == NEVER_ASKED
        row_by_person |= (
            dict.fromkeys(range(len(predictions.respondents)), int(row))
            if is_for_all
            else {person: int(row)}
        )
    with_masses = {
        person for person, row in row_by_person.items() if not math.isnan(predictions.yes[row])
    }
    people = [
        person
        for person in sorted(with_masses)
        if not math.isnan(predictions.human[target_index, person])
    ]
    return tuple(
        _prediction(judged, run_predictions, question, target_index, person, row_by_person[person])
        for person in people
    )


def target_of(judged: QuestionnaireJudged, ref: str) -> tuple[Question, int]:
    """Return a target and its index. Raises UnknownName with the available ones."""
    targets = judged.questionnaire.of_role(QuestionRole.TARGET)
    for index, question in enumerate(targets):
        if question.ref == ref:
            return question, index
    raise UnknownName(
        f"{judged.instrument.name} has no target {ref!r}. Its targets: "
        f"{', '.join(target.ref for target in targets)}"
    )


def _those(
    found: GatheredPredictions, target: int, condition: Condition, variant: VariantId
) -> BoolArray:
    """Return a mask of the prompts about one wording of one target under one condition."""
    predictions = found.predictions
    if condition not in predictions.conditions or variant not in predictions.wordings:
        return np.zeros(len(found.probe), dtype=bool)
    on_target = (predictions.target == target) & (
        predictions.condition == predictions.conditions.index(condition)
    )
    mask: BoolArray = on_target & (predictions.wording == predictions.wordings.index(variant))
    return mask


def _prediction(
    judged: QuestionnaireJudged,
    found: GatheredPredictions,
    question: Question,
    target: int,
    person: int,
    row: int,
) -> RespondentPrediction:
    """Return the prediction of one respondent's answer, from a row of the predictions."""
    predictions = found.predictions
    respondent, human = (
        judged.questionnaire.respondents[person],
        int(predictions.human[target, person]),
    )
    yes, no = float(predictions.yes[row]), float(predictions.no[row])
    predicted = _predicted(yes, no)
    return RespondentPrediction(
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
    """Return the predicted answer (Haller et al. 2025, section 3.2). A tie is a yes."""
    if not yes + no > 0:
        return UNREADABLE
    return int(not no > yes)


def prompt_asked(store: Store, judged: QuestionnaireJudged, model: str, probe: int) -> PromptAsked:
    """Return one prompt of a run with its context, its tokens and their provenance.

    Raises UnknownName if the run has no such prompt with next tokens.
    """
    name = judged.name(model)
    run, run_predictions = judged.runs[name], judged.gathered[name]
    row = store.predictions.of_probe(run, probe)
    distribution = None if row is None else _distribution(store, run, row, judged.options.masses)
    if row is None or distribution is None:
        raise UnknownName(f"{name} has no next tokens of the prompt {probe}")
    tokens, other_probability, (yes, no), source = distribution
    condition = condition_of(row.axes)
    return PromptAsked(
        prompt=store.runs.prompt(probe),
        target=row.ref,
        variant=variant_of(row),
        condition=condition,
        respondent=row.axes.get(RESPONDENT, ""),
        template=row.template,
        context=row.axes.get(CONTEXT, ""),
        outdated=bool(run_predictions.outdated[run_predictions.probe == probe].any()),
        tokens=tokens,
        rest=other_probability,
        yes=yes,
        no=no,
        provenance=Provenance(
            run.model, run.version, run.backend, run.dtype, condition.seed, *source
        ),
        answers=sum(token.times for token in tokens),
    )


def _distribution(
    store: Store, run: Run, row: PredictionRow, masses: Masses
) -> tuple[tuple[TokenRow, ...], float, tuple[float, float], tuple[str, str, int]] | None:
    """Return the distribution of a prompt's next token, or of its drawn answers, or None.

    Its parts are the tokens or answers, the most frequent first, the probability of all others,
    that of yes and no, and the time, code version and job of the answer.
    """
    if run.sampling.mode != EXACT:
        answers, source = store.predictions.given(run, row.probe)
        n = sum(answers.values())
        answer_rows = tuple(
            TokenRow(text, k / n, mark_of_answer(text, row.labels), True, k)
            for text, k in answers.items()
        )
        return (
            (answer_rows, 0.0, shares(count_marks(answers, row.labels))[:2], source) if n else None
        )
    scores = store.scores.of_probe(run, row.probe)
    if scores is None or not row.tokens:
        return None
    tokens = tuple(
        TokenRow(
            text,
            math.exp(log_probability),
            mark_of_token(text, row.labels),
            counted=index < PUBLISHED_TOP,
        )
        for index, (text, log_probability) in enumerate(row.tokens)
    )
    from_vocabulary = masses == "vocabulary"
    yes, no, *_ = (
        vocabulary_masses(row.words, row.labels)
        if from_vocabulary
        else top_masses(row.tokens, row.labels)
    )
    return tokens, row.rest, (yes, no), (scores.at, scores.code_version, scores.job)


def token_shares(
    judged: QuestionnaireJudged, model: str, target: str, condition: Condition
) -> TokenShares:
    """Return the mean probabilities of the next token after the original wording of a target.

    The mean is over the prompts of the target. It is NaN if no probability is known. Raises
    UnknownName for a model or target that does not exist.
    """
    run_predictions = judged.gathered[judged.name(model)]
    mask = _those(run_predictions, target_of(judged, target)[1], condition, ORIGINAL)
    mask &= ~np.isnan(run_predictions.predictions.yes)
    n = int(mask.sum())
    if not n:
        nan = float("nan")
        return TokenShares(nan, nan, nan, nan, 0)
    yes, no, other = (
        float(values[mask].mean())
        for values in (
            run_predictions.predictions.yes,
            run_predictions.predictions.no,
            run_predictions.other,
        )
    )
    return TokenShares(yes, no, other, max(0.0, 1.0 - yes - no - other), n)
