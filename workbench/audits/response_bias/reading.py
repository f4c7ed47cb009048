"""Stored answers as tables, by model and way of asking.

The module decides which answers belong to which form of which question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.response_bias.answers import ChoiceTable, from_probabilities, tabulate
from workbench.audits.response_bias.asking import condition_of
from workbench.audits.response_bias.options import LETTERED
from workbench.domain.choices import (
    LETTERS,
    AnsweredPair,
    AnswerSet,
    Bias,
    ChoiceItem,
    Perturbation,
)
from workbench.domain.findings import folded
from workbench.domain.instruments import FORMS, Instrument
from workbench.domain.responses import EXACT
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.evidence.answered import AnsweredPlan
from workbench.evidence.letters import (
    AskedForm,
    LetterAnswers,
    Masses,
    answered_letters,
    asked_forms,
    variant_of,
)
from workbench.evidence.refusals import ModelRefusals
from workbench.evidence.rulings import NO_RULINGS, RunRulings

Way = Literal["samples", "exact", "imported"]
FormPlace = tuple[Bias, Perturbation | None, str, int]
"bias, condition (None: the bias itself), variant and draw"


@dataclass(frozen=True, slots=True, eq=False)
class AskedSubject:
    """One way in which one model was asked."""

    name: str
    """unique: the model's name, with as many additions as distinguish its subjects, as in `smollm2
    · exact`"""
    model: str
    way: Way
    template: str
    "empty for imported answers, whose prompts are unknown"
    run: Run | None
    "None for imported answers"
    tables: tuple[ChoiceTable, ...]
    "one for each bias, condition and draw"
    sets: Mapping[FormPlace, AnswerSet] = field(default_factory=dict)
    "the answers by the letters that were offered; empty for exact subjects"
    masses: Mapping[int, Masses] = field(default_factory=dict)
    "for exact subjects: rowid of the probe -> probabilities of the letters that it offers"
    probes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    "(ref, variant of the wording) -> rowid of the probe; empty for imported answers"
    short: tuple[str, ...] = ()
    "forms, as `ref variant`, with fewer valid answers than requested, after all tries"
    unfinished: tuple[str, ...] = ()
    "forms with fewer valid answers than requested, with tries left"
    wanted: int = 0
    "the largest number of valid answers requested for a prompt; 0 if that has no meaning"
    unnamed: Mapping[str, float] = field(default_factory=dict)
    """for exact subjects: forms as `ref variant` with an offered letter that is not among the
    tokens that the backend names, and counts as 0 -> the largest probability that it can have"""
    valid: int = 0
    """number of answers with an offered letter, of each form at most the requested number; 0 if
    nothing was drawn. This and the counts below are as given: no exclusion changes them"""
    drawn: int = 0
    "number of all answers that were drawn, including those that were drawn again"
    invalid: int = 0
    "number of those that are no offered letter"
    truncated: int = 0
    "number of those that were cut off in thought"


def imported(model: str, sets: Sequence[AnswerSet], name: str) -> AskedSubject:
    """Return the subject of answers that somebody else collected."""
    set_by_place = {
        (answer_set.bias, answer_set.condition, answer_set.variant, answer_set.draw): answer_set
        for answer_set in sets
    }
    return AskedSubject(
        name,
        model,
        "imported",
        "",
        None,
        tuple(tabulate(answer_set) for answer_set in sets),
        set_by_place,
    )


def void_questions(
    instrument: Instrument, items: Mapping[str, ChoiceItem], language: str
) -> dict[FormPlace, frozenset[str]]:
    """Return the keys of questions with a form that reads like the original, or has no text.

    Forms are compared without case and blanks.
    """
    void_keys: dict[FormPlace, set[str]] = {}
    for statement in instrument.statements:
        item, original = items.get(statement.ref), statement.wording(ORIGINAL, language)
        if item is None or original is None:
            continue
        for wording in statement.wordings:
            if (
                wording.variant.kind in FORMS - {VariantKind.ORIGINAL}
                and wording.language == language
            ):
                text = folded(wording.text)
                if text == folded(original.text) or not text:
                    kind = wording.variant.kind
                    form_place = (
                        item.bias,
                        condition_of(kind),
                        item.variant,
                        wording.variant.ordinal or 1,
                    )
                    void_keys.setdefault(form_place, set()).add(item.key)
    return {form_place: frozenset(keys) for form_place, keys in void_keys.items()}


def with_void(subject: AskedSubject, void: Mapping[FormPlace, frozenset[str]]) -> AskedSubject:
    """Return a subject whose tables know which of their questions have one text in both forms."""
    tables = (
        replace(
            table,
            void=void.get((table.bias, table.condition, table.variant, table.draw), frozenset()),
        )
        for table in subject.tables
    )
    return replace(subject, tables=tuple(tables))


def sampled_subjects(
    store: Store, run: Run, items: Mapping[str, ChoiceItem], rulings: RunRulings = NO_RULINGS
) -> Iterator[AskedSubject]:
    """Yield a subject for each template of a run. Its name is only the model's.

    Parameters
    ----------
    rulings : see `letters`
    """
    exact = run.sampling.mode == EXACT
    all_forms = asked_forms(store, run, rulings)
    as_given = (
        asked_forms(store, run, rulings.as_given) if rulings.leaves_out and not exact else all_forms
    )
    forms_by_template: dict[str, dict[tuple[str, str], AskedForm]] = {}
    given_by_template: dict[str, dict[tuple[str, str], AskedForm]] = {}
    for probe in store.raw_answers.probes(run):
        if probe.ref in items and probe.probe in all_forms:
            form_key = (
                probe.ref,
                variant_of(probe),
            )  # of several the newest counts, which comes last
            given_by_template.setdefault(probe.template, {})[form_key] = as_given[probe.probe]
            if probe.probe not in rulings.probes:
                forms_by_template.setdefault(probe.template, {})[form_key] = all_forms[probe.probe]
    for template, template_forms in forms_by_template.items():
        yield _subject(
            run, template, template_forms, given_by_template[template], items, exact=exact
        )


def _subject(
    run: Run,
    template: str,
    forms: Mapping[tuple[str, str], AskedForm],
    given: Mapping[tuple[str, str], AskedForm],
    items: Mapping[str, ChoiceItem],
    *,
    exact: bool,
) -> AskedSubject:
    """Return the subject of one template.

    Parameters
    ----------
    given : the forms as the model answered them, before exclusions
    """
    pairs_by_place = _asked(forms, items)
    sets: dict[FormPlace, AnswerSet] = {}
    if exact:
        tables = [_exact_table(run.model, *entry) for entry in pairs_by_place.items()]
    else:
        sets = {
            form_place: _answer_set(run.model, form_place, pairs)
            for form_place, pairs in pairs_by_place.items()
        }
        tables = [tabulate(answer_set, samples=0) for answer_set in sets.values()]
    short, unfinished = _incomplete_forms(given)
    drawn_answers = [form.answers for form in given.values() if form.answers is not None]
    return AskedSubject(
        name=run.model,
        model=run.model,
        way="exact" if exact else "samples",
        template=template,
        run=run,
        tables=tuple(replace(table, asked_once=True) for table in tables),
        sets=sets,
        masses={form.probe: form.masses for form in forms.values() if form.masses is not None},
        probes={form_key: form.probe for form_key, form in forms.items()},
        short=short,
        unfinished=unfinished,
        wanted=max((form.wanted for form in forms.values()), default=0),
        unnamed={
            _form_name(*form_key): form.unnamed for form_key, form in forms.items() if form.unnamed
        },
        valid=sum(min(form.valid, form.wanted or form.valid) for form in given.values()),
        drawn=sum(form.drawn for form in given.values()),
        invalid=sum(answers.invalid for answers in drawn_answers),
        truncated=sum(answers.truncated for answers in drawn_answers),
    )


def _form_name(ref: str, variant: str) -> str:
    return f"{ref} {variant}"


def _incomplete_forms(
    given: Mapping[tuple[str, str], AskedForm],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of forms without enough valid answers: those that were drawn as often as
    allowed, and those that were not.
    """
    short: list[str] = []
    unfinished: list[str] = []
    for form_key, form in given.items():
        if form.valid < form.wanted:
            names = short if form.drawn >= form.most else unfinished
            names.append(_form_name(*form_key))
    return tuple(short), tuple(unfinished)


Pairs = list[tuple[str, AskedForm, AskedForm]]
"(key, original, changed) in the order of the questions"


def _asked(
    forms: Mapping[tuple[str, str], AskedForm], items: Mapping[str, ChoiceItem]
) -> dict[FormPlace, Pairs]:
    """Return the pairs of forms that are compared. An original without another form has no pair."""
    pairs_by_place: dict[FormPlace, Pairs] = {}
    for (ref, variant), changed in forms.items():
        original = forms.get((ref, str(ORIGINAL)))
        if variant != str(ORIGINAL) and original is not None:
            item, wording = items[ref], VariantId.parse(variant)
            condition = condition_of(wording.kind)
            form_place = (item.bias, condition, item.variant, wording.ordinal or 1)
            pairs_by_place.setdefault(form_place, []).append((item.key, original, changed))
    return pairs_by_place


def _answer_set(model: str, form_place: FormPlace, pairs: Pairs) -> AnswerSet:
    """Return the answers to some pairs of forms."""
    bias, condition, variant, draw = form_place
    answered_pairs = tuple(
        AnsweredPair(key, original.answers, changed.answers)
        for key, original, changed in pairs
        if original.answers is not None and changed.answers is not None
    )
    return AnswerSet(
        model, bias, condition, answered_pairs, draw, mapped_back=False, variant=variant
    )


def _exact_table(model: str, form_place: FormPlace, pairs: Pairs) -> ChoiceTable:
    """Return the table of the probabilities of some pairs of forms."""
    bias, condition, variant, draw = form_place
    forms = [form for _, original, changed in pairs for form in (original, changed)]
    masses = np.array(
        [[(form.masses or {}).get(letter, 0.0) for letter in LETTERS] for form in forms]
    )
    offered = np.array([form.offered for form in forms]).reshape(-1, 2)
    keys = [key for key, _, _ in pairs]
    return from_probabilities(
        model, bias, condition, keys, masses.reshape(-1, 2, len(LETTERS)), offered, draw, variant
    )


def subjects_by_name(subjects: Sequence[AskedSubject]) -> dict[str, AskedSubject]:
    """Return subjects by distinct names: the model's, with additions if needed."""
    subject_by_name: dict[str, AskedSubject] = {}
    for subject in subjects:
        same_model = [
            other_subject for other_subject in subjects if other_subject.model == subject.model
        ]
        has_own_name = subject.run is not None and bool(
            subject.run.served_as or subject.run.occasion or subject.run.persona
        )
        name = (
            subject.model
            if not has_own_name and len(same_model) == 1 and subject.template in ("", LETTERED)
            else _full(subject, same_model)
        )
        while name in subject_by_name:
            name += " (again)"
        subject_by_name[name] = replace(subject, name=name)
    return subject_by_name


def _full(subject: AskedSubject, alike: Sequence[AskedSubject]) -> str:
    """Return a model's name with every way in which it differs from the model's other subjects."""
    name_parts = [subject.model if subject.run is None else subject.run.named]
    if subject.template not in ("", LETTERED):
        name_parts.append(subject.template)
    if subject.run is not None and subject.template in _shared(alike):
        name_parts.append(f"family {subject.run.family}")
    if len({other_subject.way for other_subject in alike}) > 1 or subject.way == "exact":
        name_parts.append(subject.way)
    if subject.run is not None:
        runs = [other.run for other in alike if other.run is not None and other.way == subject.way]
        name_parts += _differences(subject.run, runs, with_revision=not subject.run.served_as)
    return " · ".join(name_parts)


def _differences(run: Run, runs: Sequence[Run], *, with_revision: bool) -> list[str]:
    """Return the settings of a run that are not those of all the runs."""
    settings: list[tuple[str, Callable[[Run], object]]] = [
        (run.dtype, lambda other: other.dtype),
        (run.encoded, lambda other: other.encoded),
        (str(run.sampling), lambda other: other.sampling),
    ]
    if with_revision:
        settings.append((run.revision[:8], lambda other: other.revision))
    settings.append((run.language, lambda other: other.language))
    return [text for text, value in settings if len({value(other) for other in runs}) > 1]


def _shared(subjects: Sequence[AskedSubject]) -> set[str]:
    """Return the templates whose names are shared by several families of these subjects."""
    families: dict[str, set[str]] = {}
    for subject in subjects:
        if subject.run is not None:
            families.setdefault(subject.template, set()).add(subject.run.family)
    return {name for name, template_families in families.items() if len(template_families) > 1}


def answered_by(
    store: Store, subjects: Mapping[str, AskedSubject], refusals: Mapping[str, ModelRefusals]
) -> tuple[AnsweredPlan, ...]:
    """Return the answered part of each plan, counting offered letters.

    The templates of one run share one plan. Answers that somebody else collected have no plan here.
    """
    names_by_run: dict[Run, list[str]] = {}
    for name, subject in subjects.items():
        if subject.run is not None:
            names_by_run.setdefault(subject.run, []).append(name)
    return tuple(
        _of_run(store, run, names, subjects, refusals) for run, names in names_by_run.items()
    )


def _of_run(
    store: Store,
    run: Run,
    names: Sequence[str],
    subjects: Mapping[str, AskedSubject],
    refusals: Mapping[str, ModelRefusals],
) -> AnsweredPlan:
    """Return the answered part of the plan of one run."""
    run_subjects = [subjects[name] for name in names]
    return answered_letters(
        store,
        run,
        names[0] if len(names) == 1 else run.named,
        LetterAnswers(
            sum(subject.valid for subject in run_subjects),
            sum(subject.drawn for subject in run_subjects),
            sum(subject.invalid for subject in run_subjects),
            sum(subject.truncated for subject in run_subjects),
            unfinished=any(subject.unfinished for subject in run_subjects),
        ),
        next(_of(names, refusals), None),
    )


def _of(names: Sequence[str], refusals: Mapping[str, ModelRefusals]) -> Iterator[ModelRefusals]:
    """Return the refusals of the named subjects that have any."""
    return (refusals[name] for name in names if name in refusals)
