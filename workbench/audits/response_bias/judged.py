"""Stored and imported answers to multiple-choice questions ─judge→ response biases of every model.

A *subject* is one way in which one model was asked: by samples, by exact probabilities, under
another template, or answers that somebody else published. Subjects are never pooled; each has a
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
    Subject,
    answered_by,
    asked_here,
    imported,
    named,
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
from workbench.evidence.answered import Answered
from workbench.evidence.letters import said_of_unnamed
from workbench.evidence.methods import asked_sentences, plan_sentences, ruling_sentences
from workbench.evidence.readings import source_of
from workbench.evidence.refusals import Refusals, refusals_of
from workbench.evidence.rulings import Told
from workbench.evidence.runs import Which, chosen_of, matching, split, version_notes
from workbench.figures.intervals import INTERVALS


@dataclass(frozen=True, slots=True, eq=False)
class ResponseBiasJudged:
    """The reports of all subjects, and what they rest on."""

    which: Which
    options: ChangeOptions
    instrument: Instrument
    pairs: Mapping[tuple[Bias, str, str], ChoicePair]
    "(bias, variant, key) -> the question with its forms; without those whose texts are not known"
    items: Mapping[str, ChoiceItem]
    refs: Mapping[tuple[Bias, str, str], str]
    "(bias, variant, key) -> ref of the statement, which people may have renamed"
    subjects: Mapping[str, Subject]
    reports: Mapping[str, ChangeReport]
    validity: Mapping[str, ValidShares]
    "by subject: how often answers were offered letters"
    people: Mapping[str, Representativeness]
    "by subject, where human shares are known of at least one question"
    read_notes: tuple[str, ...]
    "what a reader of the figures should know by any definition, in sentences"
    rulings: Told
    "what rulings change"
    refusals: Mapping[str, Refusals] = field(default_factory=dict)
    """by subject that was asked here; of a run that was asked under several templates, those of all
    of them"""
    answered: tuple[Answered, ...] = ()
    "how much of each plan was answered, and what came of it"

    @property
    def notes(self) -> tuple[str, ...]:
        """Return what a reader of these figures should know, in sentences."""
        return (
            *self.rulings.sentences(),
            *self.read_notes,
            *_on_opinion_float(self.subjects, self.options.definition),
        )

    def by(self, options: ChangeOptions) -> ResponseBiasJudged:
        """Return the same answers judged by other options. Validity and likeness to people rest on
        none of them.
        """
        return replace(
            self, options=options, reports=reports_of(self.subjects, self.pairs, options)
        )

    def name(self, model: str) -> str:
        """Return the subject that a name means: its own, or a model's that has one.

        Raises UnknownName, AmbiguousRun.
        """
        return run_named(model, {name: subject.model for name, subject in self.subjects.items()})


@at_once
def judge_response_bias(
    store: Store, which: Which | None = None, options: ChangeOptions | None = None
) -> ResponseBiasJudged:
    """Return the response biases of the chosen subjects: those of all models, under every family of
    templates, unless `which` says otherwise.

    Raises UnknownName for a model or instrument without answers, UsageError where several
    instruments have some and none is named, or nothing that was asked has an answer.
    """
    which, options = which or Which(), options or ChangeOptions()
    instrument = store.instruments.get(which.instrument or _only_answered(store))
    items = store.choices.items(instrument.name)
    subjects = _chosen(
        named(tuple(_subjects(store, instrument.name, items, which))), which, instrument.name
    )
    pairs = _pairs(instrument, items)
    shares = {(bias, key): pair.shares for (bias, _, key), pair in pairs.items() if pair.shares}
    judged = {name: subject for name, subject in subjects.items() if subject.tables}
    if not judged:
        raise UsageError(
            f"{named_few(list(subjects))}: no question was answered in both of its forms yet"
        )
    source = source_of(
        store, list({one.run: None for one in judged.values() if one.run}), which.readings
    )
    people = (
        {name: representativeness(subject.tables, shares) for name, subject in judged.items()}
        if shares
        else {}
    )
    asked = {name: one.run for name, one in judged.items() if one.run}
    refusals = {
        name: refusals_of(store, run, name, {}, issues=False) for name, run in asked.items()
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
        people={name: found for name, found in people.items() if found.alignments},
        read_notes=tuple(_notes(store, subjects, items)),
        rulings=source.told(source.touched("question")),
        refusals=refusals,
        answered=answered_by(store, judged, refusals),
    )


def reports_of(
    subjects: Mapping[str, Subject],
    pairs: Mapping[tuple[Bias, str, str], ChoicePair],
    options: ChangeOptions,
) -> dict[str, ChangeReport]:
    """Return the report of each subject; topics are those that the questions have now."""
    topics = {(bias, key): pair.topic for (bias, _, key), pair in pairs.items() if pair.topic}
    return {name: judge(subject.tables, options, topics) for name, subject in subjects.items()}


def instruments_with_answers(store: Store) -> tuple[str, ...]:
    """Return the instruments of which models answered multiple-choice questions, elsewhere or here;
    the one that was answered last here at the end.
    """
    here = [run.instrument for run in store.predictions.runs(AUDIT)]
    last = tuple(dict.fromkeys(reversed(here)))[::-1]
    return (*(name for name in store.choices.instruments_with_answers() if name not in last), *last)


def compared(judged: ResponseBiasJudged, first: str, second: str) -> ReportsCompared:
    """Return how two subjects compare, bias by bias, paired over questions."""
    return compare([(judged.reports[judged.name(first)], judged.reports[judged.name(second)])])


def sampling_agreements(
    judged: ResponseBiasJudged, first: str, second: str
) -> dict[Place, SamplingAgreement]:
    """Return, cell by cell, whether one subject's samples are what the other's exact probabilities
    lead one to expect.

    Empty unless one of the two is exact and the other sampled; a perturbation by its first common
    draw.
    """
    both = [judged.subjects[judged.name(name)] for name in (first, second)]
    exact = next((one for one in both if one.way == "exact"), None)
    sampled = next((one for one in both if one.way == "samples"), None)
    if exact is None or sampled is None:
        return {}
    truth = {(t.bias, t.condition, t.variant, t.draw): t for t in exact.tables}
    found: dict[Place, SamplingAgreement] = {}
    for table in sampled.tables:
        at = (table.bias, table.condition, table.variant, table.draw)
        if at in truth and at[:3] not in found:
            found[at[:3]] = sampling_agreement(table, truth[at], judged.options.definition)
    return found


def _only_answered(store: Store) -> str:
    found = instruments_with_answers(store)
    if not found:
        raise UnknownName(
            "the store has no answers to multiple-choice questions. Start with: workbench run "
            f"STORE --audit {AUDIT} "
            "--model NAME, or import some: workbench import STORE --format biasmonkey PATH"
        )
    if len(found) > 1:
        raise UsageError(
            f"{len(found)} instruments have answers: {', '.join(found)}; name one with --instrument"
        )
    return found[0]


def _subjects(
    store: Store, instrument: str, items: Mapping[str, ChoiceItem], which: Which
) -> Iterator[Subject]:
    """Yield all ways in which models were asked, imported answers first."""
    by_model: dict[str, list[AnswerSet]] = {}
    for one in store.choices.answer_sets(instrument):
        by_model.setdefault(one.model, []).append(one)
    made = store.instruments.get(instrument)
    void = void_questions(made, items, made.language)
    templates = which.templates
    runs = store.predictions.runs(AUDIT, instrument, versions=dict(templates.versions))
    if not templates.languages or made.language in templates.languages:
        for model, sets in by_model.items():
            yield with_void(imported(model, sets, model), void)
    spoken = [run for run in runs if not templates.languages or run.language in templates.languages]
    families = templates.families or tuple({run.family for run in spoken})
    chosen = split(store, chosen_of(runs, replace(templates, families=families)), which.fingerprint)
    source = source_of(store, chosen, which.readings)
    for run in chosen:
        void = void_questions(store.runs.instrument(run), items, run.language)
        yield from (
            with_void(subject, void)
            for subject in asked_here(store, run, items, source.rulings(run))
        )


def _chosen(every: Mapping[str, Subject], which: Which, instrument: str) -> dict[str, Subject]:
    """Return the subjects that names of subjects or of models mean. Raises UnknownName."""
    if not every:
        raise UnknownName(
            f"no model has answered the multiple-choice questions of {instrument} yet"
        )
    subjects = {
        name: one
        for name, one in every.items()
        if not which.snapshot or _is_of(one, which.snapshot)
    }
    if not subjects:
        raise UnknownName(
            f"{instrument} has no answers by the snapshot {which.snapshot!r}. Available: "
            f"{'; '.join(every)}"
        )
    if not which.models:
        return dict(subjects)
    unknown = [
        m
        for m in which.models
        if m not in subjects and all(m != s.model for s in subjects.values())
    ]
    if unknown:
        raise UnknownName(
            f"{named_few(unknown)}: no model of that name has answers. Available: "
            f"{'; '.join(subjects)}"
        )
    return {
        name: one
        for name, one in subjects.items()
        if name in which.models or one.model in which.models
    }


def _is_of(subject: Subject, snapshot: str) -> bool:
    return subject.run is not None and bool(matching([subject.run], snapshot=snapshot))


def _pairs(
    instrument: Instrument, items: Mapping[str, ChoiceItem]
) -> dict[tuple[Bias, str, str], ChoicePair]:
    found: dict[tuple[Bias, str, str], ChoicePair] = {}
    for statement in instrument.statements:
        item = items.get(statement.ref)
        pair = pair_of(statement, item, instrument.language) if item is not None else None
        if item is not None and isinstance(pair, ChoicePair):
            found[item.bias, item.variant, item.key] = pair
    return found


def _notes(
    store: Store, subjects: Mapping[str, Subject], items: Mapping[str, ChoiceItem]
) -> Iterator[str]:
    """Say what a reader of the figures should know of the questions, and of each subject."""
    yield from _on_texts(items.values())
    for name, subject in subjects.items():
        if not subject.tables:
            yield f"{name}: no question was answered in both of its forms yet"
        if subject.short:
            yield (
                f"{name}: {plural(len(subject.short), 'form')} with fewer than {subject.wanted} "
                "valid answers "
                f"({named_few(list(subject.short))}), which count"
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
    """Repeat the warnings of the files that the texts of questions came from."""
    of: dict[str, int] = {}
    for item in items:
        for warning in item.warnings:
            of[warning] = of.get(warning, 0) + 1
    yield from (
        f"warning about the texts of {plural(n, 'question')}: {warning}"
        for warning, n in of.items()
    )


def _on_void(name: str, subject: Subject) -> Iterator[str]:
    """Say which questions are void, and by which definition."""
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


def _on_opinion_float(subjects: Mapping[str, Subject], definition: Definition) -> Iterator[str]:
    """Say which answers the published definition does not count, because it repeats odd/even's
    figures.
    """
    for name, subject in subjects.items() if definition is not Definition.CORRECTED else ():
        asked = {(table.bias, table.condition) for table in subject.tables if not table.variant}
        own = [each for each in Perturbation if (Bias.OPINION_FLOAT, each) in asked]
        lacking = [each for each in own if (Bias.ODD_EVEN, each) not in asked]
        if own:
            yield (
                f"{name}: the answers to opinion_float under {', '.join(own)} count under "
                "`corrected` only; "
                f"`{definition}` repeats the figures of odd_even, as the published tables do"
            )
        if lacking:
            yield (
                f"{name}: odd_even has no answers under {', '.join(lacking)}, so opinion_float "
                "has no figures there"
            )


def _on_probabilities(name: str, subject: Subject) -> Iterator[str]:
    """Say of exact probabilities which are not known, and where no letter has any."""
    yield from said_of_unnamed(name, subject.unnamed, "form")
    silent = sum(1 for masses in subject.masses.values() if not sum(masses.values()))
    if silent:
        yield (
            f"{name}: {plural(silent, 'prompt')} give no offered letter any probability; they "
            "do not count"
        )


def _on_answers(name: str, subject: Subject) -> Iterator[str]:
    """Say of imported answers what a definition has to do about them, set by set."""
    for table in subject.tables if subject.way == "imported" else ():
        found = dropped([table])
        said = [f"{found.not_offered:,} letters that were not offered"] if found.not_offered else []
        said += [f"{plural(found.blank, 'answer')} without a letter"] if found.blank else []
        yield from (f"{name}, {table.name}: warning: {warning}" for warning in table.warnings)
        if said:
            yield (
                f"{name}, {table.name}: {' and '.join(said)} in "
                f"{plural(found.questions, 'question')}"
            )
        if renamed := int(unnamed(table).sum()):
            yield (
                f"{name}, {table.name}: {plural(renamed, 'question')} without the middle option "
                "answered by the "
                "letters of that form; `corrected` names them as the original does"
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
    runs = [(name, one.run) for name, one in subjects.items() if one.run is not None]
    return " ".join(
        [
            "Response biases were measured as by Tjuatja et al. (2024): the change of the "
            "answers to a question in two "
            "forms, for changes that move people and for typos that people overlook.",
            f"{plural(len(judged.refs), 'question')} of {judged.instrument.name} count.",
            definition_said(options.definition),
            f"{test_said(options).partition(' [ ]')[0]} Intervals are 95 %: "
            f"{INTERVALS['mean over questions'].method}.",
            *(f"Of {name}, {READ[one.way]}{_wanted(one)}." for name, one in subjects.items()),
            *asked_sentences(runs, judged.answered),
            *plan_sentences(judged.answered),
            *ruling_sentences(judged.rulings),
        ]
    )


def _wanted(one: Subject) -> str:
    return (
        f", until a form had {one.wanted} valid ones" if one.way == "samples" and one.wanted else ""
    )
