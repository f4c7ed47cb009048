"""The response biases of every model, from stored and imported answers.

A *subject* is one way in which one model was asked: by samples, by exact probabilities, under
another template, or answers that somebody else published. Subjects are never pooled. Each has a
report of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from stores.core.store import Store, at_once
from workbench.audits.chosen_run import run_named
from workbench.audits.response_bias.answers import Place, unnamed
from workbench.audits.response_bias.changes import (
    Representativeness,
    ValidShares,
    dropped,
    representativeness,
    validity,
)
from workbench.audits.response_bias.options import AUDIT, ChangeOptions, Definition
from workbench.audits.response_bias.reading import (
    AskedSubject,
    answered_by,
    imported,
    sampled_subjects,
    subjects_by_name,
    void_questions,
    with_void,
)
from workbench.audits.response_bias.score import (
    ChangeReport,
    ReportsCompared,
    SamplingAgreement,
    compare,
    definition_said,
    judge,
    sampling_agreement,
    test_said,
)
from workbench.domain.choices import AnswerSet, Bias, ChoiceItem, ChoicePair, Perturbation
from workbench.domain.instruments import Instrument, pair_of
from workbench.domain.names import plural
from workbench.domain.questionnaires import named_few
from workbench.errors import UnknownName, UsageError
from workbench.evidence.answered import AnsweredPlan
from workbench.evidence.letters import unnamed_letter_sentences
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import ModelRefusals, refusals_of
from workbench.evidence.rulings import RulingNotes
from workbench.evidence.runs import (
    AnswerSelection,
    matching_runs,
    select_runs,
    split_by_fingerprint,
    version_notes,
)
from workbench.figures.intervals import INTERVALS


@dataclass(frozen=True, slots=True, eq=False)
class ResponseBiasJudged:
    """The reports of all subjects, with their sources."""

    which: AnswerSelection
    options: ChangeOptions
    instrument: Instrument
    pairs: Mapping[tuple[Bias, str, str], ChoicePair]
    "(bias, variant, key) -> the question with its forms; without those whose texts are unknown"
    items: Mapping[str, ChoiceItem]
    refs: Mapping[tuple[Bias, str, str], str]
    "(bias, variant, key) -> ref of the statement, which people may have renamed"
    subjects: Mapping[str, AskedSubject]
    reports: Mapping[str, ChangeReport]
    validity: Mapping[str, ValidShares]
    "by subject: the share of answers with offered letters"
    people: Mapping[str, Representativeness]
    "by subject, if human shares of at least one question are known"
    read_notes: tuple[str, ...]
    "notes for readers of the figures by any definition, in sentences"
    rulings: RulingNotes
    "notes on what rulings change"
    refusals: Mapping[str, ModelRefusals] = field(default_factory=dict)
    """by subject that was asked here; a run that was asked under several templates has those of all
    of them"""
    answered: tuple[AnsweredPlan, ...] = ()
    "the answered part of each plan, and the kinds of its answers"

    @property
    def notes(self) -> tuple[str, ...]:
        """The notes for readers of these figures, in sentences."""
        return (
            *self.rulings.sentences(),
            *self.read_notes,
            *_on_opinion_float(self.subjects, self.options.definition),
        )

    def by(self, options: ChangeOptions) -> ResponseBiasJudged:
        """Return the same answers judged by other options.

        Validity and likeness to people depend on none of them.
        """
        return replace(
            self, options=options, reports=reports_of(self.subjects, self.pairs, options)
        )

    def name(self, model: str) -> str:
        """Return the subject with a name: its own name, or that of a model with one subject.

        Raises UnknownName, AmbiguousRun.
        """
        return run_named(model, {name: subject.model for name, subject in self.subjects.items()})


@at_once
def judge_response_bias(
    store: Store, which: AnswerSelection | None = None, options: ChangeOptions | None = None
) -> ResponseBiasJudged:
    """Return the response biases of the selected subjects.

    These are the subjects of all models, under every family of templates, unless `which` selects
    some. Raises UnknownName for a model or instrument without answers, UsageError if several
    instruments have some and none is named, or if nothing that was asked has an answer.
    """
    which, options = which or AnswerSelection(), options or ChangeOptions()
    instrument = store.instruments.get(which.instrument or _only_answered(store))
    items = store.choices.items(instrument.name)
    subjects = _chosen(
        subjects_by_name(tuple(_subjects(store, instrument.name, items, which))),
        which,
        instrument.name,
    )
    pairs = _pairs(instrument, items)
    shares = {(bias, key): pair.shares for (bias, _, key), pair in pairs.items() if pair.shares}
    judged = {name: subject for name, subject in subjects.items() if subject.tables}
    if not judged:
        raise UsageError(
            f"{named_few(list(subjects))}: no question was answered in both of its forms yet"
        )
    source = source_of(
        store,
        list({subject.run: None for subject in judged.values() if subject.run}),
        which.readings,
    )
    people = (
        {name: representativeness(subject.tables, shares) for name, subject in judged.items()}
        if shares
        else {}
    )
    run_by_subject = {name: subject.run for name, subject in judged.items() if subject.run}
    refusals = {
        name: refusals_of(store, run, name, {}, issues=False)
        for name, run in run_by_subject.items()
    }
    return ResponseBiasJudged(
        which=which,
        options=options,
        instrument=instrument,
        pairs=pairs,
        items=items,
        refs={(item.bias, item.variant, item.key): ref for ref, item in items.items()},
        subjects=judged,
        reports=reports_of(judged, pairs, options),
        validity={name: validity(subject.tables) for name, subject in judged.items()},
        people={name: likeness for name, likeness in people.items() if likeness.alignments},
        read_notes=tuple(_notes(store, subjects, items)),
        rulings=source.ruling_notes(source.touched("question")),
        refusals=refusals,
        answered=answered_by(store, judged, refusals),
    )


def reports_of(
    subjects: Mapping[str, AskedSubject],
    pairs: Mapping[tuple[Bias, str, str], ChoicePair],
    options: ChangeOptions,
) -> dict[str, ChangeReport]:
    """Return the report of each subject. Topics are the current ones of the questions."""
    topics = {(bias, key): pair.topic for (bias, _, key), pair in pairs.items() if pair.topic}
    return {name: judge(subject.tables, options, topics) for name, subject in subjects.items()}


def instruments_with_answers(store: Store) -> tuple[str, ...]:
    """Return the instruments with answers to multiple-choice questions.

    The answers were collected elsewhere or here. The instrument that was answered last here is the
    last one.
    """
    local_instruments = [run.instrument for run in store.predictions.runs(AUDIT)]
    newest_last = tuple(dict.fromkeys(reversed(local_instruments)))[::-1]
    return (
        *(name for name in store.choices.instruments_with_answers() if name not in newest_last),
        *newest_last,
    )


def compared(judged: ResponseBiasJudged, first: str, second: str) -> ReportsCompared:
    """Return the comparison of two subjects, bias by bias, paired over questions."""
    return compare([(judged.reports[judged.name(first)], judged.reports[judged.name(second)])])


def sampling_agreements(
    judged: ResponseBiasJudged, first: str, second: str
) -> dict[Place, SamplingAgreement]:
    """Return, by cell, the agreement of one subject's samples with the other's exact probabilities.

    It is empty unless one of the two is exact and the other sampled. A perturbation is compared in
    its first common draw.
    """
    subjects = [judged.subjects[judged.name(name)] for name in (first, second)]
    exact = next((subject for subject in subjects if subject.way == "exact"), None)
    sampled = next((subject for subject in subjects if subject.way == "samples"), None)
    if exact is None or sampled is None:
        return {}
    exact_tables = {
        (table.bias, table.condition, table.variant, table.draw): table for table in exact.tables
    }
    agreements: dict[Place, SamplingAgreement] = {}
    for table in sampled.tables:
        table_key = (table.bias, table.condition, table.variant, table.draw)
        if table_key in exact_tables and table_key[:3] not in agreements:
            agreements[table_key[:3]] = sampling_agreement(
                table, exact_tables[table_key], judged.options.definition
            )
    return agreements


def _only_answered(store: Store) -> str:
    """Return the only instrument with answers.

    Raises UnknownName without any, UsageError for several.
    """
    instruments = instruments_with_answers(store)
    if not instruments:
        raise UnknownName(
            "the store has no answers to multiple-choice questions. Start with: workbench run "
            f"STORE --audit {AUDIT} "
            "--model NAME, or import some: workbench import STORE --format biasmonkey PATH"
        )
    if len(instruments) > 1:
        raise UsageError(
            f"{len(instruments)} instruments have answers: {', '.join(instruments)}; name one "
            "with --instrument"
        )
    return instruments[0]


def _subjects(
    store: Store, instrument: str, items: Mapping[str, ChoiceItem], which: AnswerSelection
) -> Iterator[AskedSubject]:
    """Yield all ways in which models were asked, imported answers first."""
    by_model: dict[str, list[AnswerSet]] = {}
    for answer_set in store.choices.answer_sets(instrument):
        by_model.setdefault(answer_set.model, []).append(answer_set)
    stored_instrument = store.instruments.get(instrument)
    void = void_questions(stored_instrument, items, stored_instrument.language)
    templates = which.templates
    runs = store.predictions.runs(AUDIT, instrument, versions=dict(templates.versions))
    if not templates.languages or stored_instrument.language in templates.languages:
        for model, sets in by_model.items():
            yield with_void(imported(model, sets, model), void)
    runs_in_language = [
        run for run in runs if not templates.languages or run.language in templates.languages
    ]
    families = templates.families or tuple({run.family for run in runs_in_language})
    chosen = split_by_fingerprint(
        store, select_runs(runs, replace(templates, families=families)), which.fingerprint
    )
    source = source_of(store, chosen, which.readings)
    for run in chosen:
        void = void_questions(store.runs.instrument(run), items, run.language)
        yield from (
            with_void(subject, void)
            for subject in sampled_subjects(store, run, items, source.rulings(run))
        )


def _chosen(
    every: Mapping[str, AskedSubject], which: AnswerSelection, instrument: str
) -> dict[str, AskedSubject]:
    """Return the subjects that names of subjects or of models select. Raises UnknownName."""
    if not every:
        raise UnknownName(
            f"no model has answered the multiple-choice questions of {instrument} yet"
        )
    subjects = {
        name: subject
        for name, subject in every.items()
        if not which.snapshot or _is_of(subject, which.snapshot)
    }
    if not subjects:
        raise UnknownName(
            f"{instrument} has no answers by the snapshot {which.snapshot!r}. Available: "
            f"{'; '.join(every)}"
        )
    if not which.models:
        return dict(subjects)
    unknown = [
        model
        for model in which.models
        if model not in subjects and all(model != subject.model for subject in subjects.values())
    ]
    if unknown:
        raise UnknownName(
            f"{named_few(unknown)}: no model of that name has answers. Available: "
            f"{'; '.join(subjects)}"
        )
    return {
        name: subject
        for name, subject in subjects.items()
        if name in which.models or subject.model in which.models
    }


def _is_of(subject: AskedSubject, snapshot: str) -> bool:
    """Return whether a subject's run has this snapshot."""
    return subject.run is not None and bool(matching_runs([subject.run], snapshot=snapshot))


def _pairs(
    instrument: Instrument, items: Mapping[str, ChoiceItem]
) -> dict[tuple[Bias, str, str], ChoicePair]:
    """Return the questions with their forms, by bias, variant and key."""
    pairs: dict[tuple[Bias, str, str], ChoicePair] = {}
    for statement in instrument.statements:
        item = items.get(statement.ref)
        pair = pair_of(statement, item, instrument.language) if item is not None else None
        if item is not None and isinstance(pair, ChoicePair):
            pairs[item.bias, item.variant, item.key] = pair
    return pairs


def _notes(
    store: Store, subjects: Mapping[str, AskedSubject], items: Mapping[str, ChoiceItem]
) -> Iterator[str]:
    """Yield notes on the questions, and on each subject."""
    yield from _on_texts(items.values())
    for name, subject in subjects.items():
        if not subject.tables:
            yield f"{name}: no question was answered in both of its forms yet"
        if subject.short:
            yield (
                f"{name}: {plural(len(subject.short), 'form')} with fewer than {subject.wanted} "
                f"valid answers ({named_few(list(subject.short))}), which count"
            )
        if subject.unfinished:
            yield (
                f"{name}: {plural(len(subject.unfinished), 'form')} unfinished; `workbench "
                "jobs` shows the progress"
            )
        yield from _on_void(name, subject)
        yield from _on_probabilities(name, subject)
        yield from version_notes(subject.run, subject.template)
        if subject.run is not None and (changed := store.runs.outdated(subject.run)):
            yield (
                f"{name}: {plural(len(changed), 'question')} changed since "
                f"({named_few(list(changed))})"
            )
        if subject.run is not None and subject.run.failed:
            failures = store.runs.failures(subject.run)
            if failures.probes:
                yield (
                    f"{name}: {plural(len(failures.probes), 'prompt')} without an answer: "
                    f"{failures.reason}"
                )
        yield from _on_answers(name, subject)


def _on_texts(items: Iterable[ChoiceItem]) -> Iterator[str]:
    """Yield the warnings of the files from which the texts of questions come."""
    n_by_warning: dict[str, int] = {}
    for item in items:
        for warning in item.warnings:
            n_by_warning[warning] = n_by_warning.get(warning, 0) + 1
    yield from (
        f"warning about the texts of {plural(n_questions, 'question')}: {warning}"
        for warning, n_questions in n_by_warning.items()
    )


def _on_void(name: str, subject: AskedSubject) -> Iterator[str]:
    """Yield a note on the questions that are void, and on the definition that decides so."""
    keys = {
        f"{table.name} {key}"
        for table in subject.tables
        for key in sorted(table.void.intersection(table.keys))
    }
    if keys:
        yield (
            f"{name}: {plural(len(keys), 'form')} identical to the original "
            f"({named_few(sorted(keys))}): void by "
            f"the definition `{Definition.CORRECTED}`, counted by the published one"
        )


def _on_opinion_float(
    subjects: Mapping[str, AskedSubject], definition: Definition
) -> Iterator[str]:
    """Yield notes on the answers that the published definition does not count.

    That definition repeats the figures of odd/even.
    """
    for name, subject in subjects.items() if definition is not Definition.CORRECTED else ():
        asked_cells = {
            (table.bias, table.condition) for table in subject.tables if not table.variant
        }
        own_perturbations = [
            perturbation
            for perturbation in Perturbation
            if (Bias.OPINION_FLOAT, perturbation) in asked_cells
        ]
        missing = [
            perturbation
            for perturbation in own_perturbations
            if (Bias.ODD_EVEN, perturbation) not in asked_cells
        ]
        if own_perturbations:
            yield (
                f"{name}: the answers to opinion_float under {', '.join(own_perturbations)} count "
                f"under `corrected` only; `{definition}` repeats the figures of odd_even, as the "
                "published tables do"
            )
        if missing:
            yield (
                f"{name}: odd_even has no answers under {', '.join(missing)}, so opinion_float "
                "has no figures there"
            )


def _on_probabilities(name: str, subject: AskedSubject) -> Iterator[str]:
    """Yield notes on exact probabilities that are unknown, and on prompts without any."""
    yield from unnamed_letter_sentences(name, subject.unnamed, "form")
    n_silent = sum(1 for masses in subject.masses.values() if not sum(masses.values()))
    if n_silent:
        yield (
            f"{name}: {plural(n_silent, 'prompt')} give no offered letter any probability; they "
            "do not count"
        )


def _on_answers(name: str, subject: AskedSubject) -> Iterator[str]:
    """Yield notes on imported answers that a definition has to change, set by set."""
    for table in subject.tables if subject.way == "imported" else ():
        uncounted = dropped([table])
        problems = (
            [f"{uncounted.not_offered:,} letters that were not offered"]
            if uncounted.not_offered
            else []
        )
        problems += (
            [f"{plural(uncounted.blank, 'answer')} without a letter"] if uncounted.blank else []
        )
        yield from (f"{name}, {table.name}: warning: {warning}" for warning in table.warnings)
        if problems:
            yield (
                f"{name}, {table.name}: {' and '.join(problems)} in "
                f"{plural(uncounted.questions, 'question')}"
            )
        if n_renamed := int(unnamed(table).sum()):
            yield (
                f"{name}, {table.name}: {plural(n_renamed, 'question')} without the middle option "
                "answered by the letters of that form; `corrected` names them as the original does"
            )


READ = {
    "samples": "a rule read the letter of each answer, and answers without an offered letter "
    "were drawn again",
    "exact": "the probabilities of the offered letters as the next token were computed, without "
    "sampling",
    "imported": "answers that others collected were used as published",
}


def methods(judged: ResponseBiasJudged) -> str:
    """Return one paragraph with every choice behind the figures."""
    options, subjects = judged.options, judged.subjects
    runs = [(name, subject.run) for name, subject in subjects.items() if subject.run is not None]
    return " ".join(
        [
            "Response biases were measured as by Tjuatja et al. (2024): the change of the "
            "answers to a question in two "
            "forms, for changes that move people and for typos that people overlook.",
            f"{plural(len(judged.refs), 'question')} of {judged.instrument.name} count.",
            definition_said(options.definition),
            f"{test_said(options).partition(' [ ]')[0]} Intervals are 95 %: "
            f"{INTERVALS['mean over questions'].method}.",
            *(
                f"Of {name}, {READ[subject.way]}{_wanted(subject)}."
                for name, subject in subjects.items()
            ),
            *asked_sentences(runs, judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _wanted(subject: AskedSubject) -> str:
    """Return the phrase on the number of valid answers that each form was to have."""
    return (
        f", until a form had {subject.wanted} valid ones"
        if subject.way == "samples" and subject.wanted
        else ""
    )
