"""Stored answers ─subjects→ tables: which answers stand for which form of which question, by model
and manner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.audits.response_bias.answers import Table, from_probabilities, tabulate
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
from workbench.evidence.answered import Answered
from workbench.evidence.letters import Came, Form, Masses, answered_letters, forms_of, variant_of
from workbench.evidence.refusals import Refusals
from workbench.evidence.rulings import NO_RULINGS, RunRulings

Way = Literal["samples", "exact", "imported"]
Asked = tuple[Bias, Perturbation | None, str, int]
"bias, condition (None: the bias itself), variant and draw"


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One way in which one model was asked."""

    name: str
    """unique: the model's, with as much more as tells several subjects of it apart: `smollm2 ·
    exact`"""
    model: str
    way: Way
    template: str
    "empty for imported answers: nobody says how they were asked"
    run: Run | None
    "None for imported answers"
    tables: tuple[Table, ...]
    "one for each bias, condition and draw"
    sets: Mapping[Asked, AnswerSet] = field(default_factory=dict)
    "the answers by the letters that were offered; of exact subjects none"
    masses: Mapping[int, Masses] = field(default_factory=dict)
    "of exact subjects: rowid of the probe -> probabilities of the letters that it offers"
    probes: Mapping[tuple[str, str], int] = field(default_factory=dict)
    "(ref, variant of the wording) -> rowid of the probe; empty for imported answers"
    short: tuple[str, ...] = ()
    "forms, as `ref variant`, with fewer valid answers than were asked for, after all tries"
    unfinished: tuple[str, ...] = ()
    "forms with fewer of which no job has made all tries yet"
    wanted: int = 0
    "the most valid answers that any prompt was to have; 0 where that has no meaning"
    unnamed: Mapping[str, float] = field(default_factory=dict)
    """of exact subjects, forms as `ref variant` with an offered letter that is not among the tokens
    that the backend names, and counts as 0 -> the most that its probability can be"""
    valid: int = 0
    """answers with an offered letter, of each form no more than it was to have; 0 where nothing was
    drawn. This and the counts below are as given: no exclusion changes them"""
    drawn: int = 0
    "all answers that were drawn, those that were drawn again among them"
    invalid: int = 0
    "of them, those that are no offered letter"
    truncated: int = 0
    "of them, those that were cut off in thought"


def imported(model: str, sets: Sequence[AnswerSet], name: str) -> Subject:
    """Return the subject of answers that somebody else collected."""
    known = {(one.bias, one.condition, one.variant, one.draw): one for one in sets}
    return Subject(name, model, "imported", "", None, tuple(tabulate(one) for one in sets), known)


def void_questions(
    instrument: Instrument, items: Mapping[str, ChoiceItem], language: str
) -> dict[Asked, frozenset[str]]:
    """Return the keys of questions of which a form reads like the original, case and blanks aside,
    or has no text.
    """
    found: dict[Asked, set[str]] = {}
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
                    at = (item.bias, condition_of(kind), item.variant, wording.variant.ordinal or 1)
                    found.setdefault(at, set()).add(item.key)
    return {at: frozenset(keys) for at, keys in found.items()}


def with_void(subject: Subject, void: Mapping[Asked, frozenset[str]]) -> Subject:
    """Return a subject whose tables say which of their questions have one text in both forms."""
    tables = (
        replace(t, void=void.get((t.bias, t.condition, t.variant, t.draw), frozenset()))
        for t in subject.tables
    )
    return replace(subject, tables=tuple(tables))


def asked_here(
    store: Store, run: Run, items: Mapping[str, ChoiceItem], rulings: RunRulings = NO_RULINGS
) -> Iterator[Subject]:
    """Yield a subject for each template of a run; the name is only the model's. `rulings`: see
    `letters`.
    """
    exact = run.sampling.mode == EXACT
    every = forms_of(store, run, rulings)
    as_given = forms_of(store, run, rulings.as_given) if rulings.leaves_out and not exact else every
    of_template: dict[str, dict[tuple[str, str], Form]] = {}
    given: dict[str, dict[tuple[str, str], Form]] = {}
    for probe in store.raw_answers.probes(run):
        if probe.ref in items and probe.probe in every:
            place = probe.ref, variant_of(probe)  # of several the newest counts, which comes last
            given.setdefault(probe.template, {})[place] = as_given[probe.probe]
            if probe.probe not in rulings.probes:
                of_template.setdefault(probe.template, {})[place] = every[probe.probe]
    for template, found in of_template.items():
        yield _subject(run, template, found, given[template], items, exact=exact)


def _subject(
    run: Run,
    template: str,
    forms: Mapping[tuple[str, str], Form],
    given: Mapping[tuple[str, str], Form],
    items: Mapping[str, ChoiceItem],
    *,
    exact: bool,
) -> Subject:
    """`given`: the forms as the model answered them, exclusions aside."""
    asked = _asked(forms, items)
    sets = {} if exact else {at: _answer_set(run.model, at, pairs) for at, pairs in asked.items()}
    tables = (
        [_exact_table(run.model, at, pairs) for at, pairs in asked.items()]
        if exact
        else [tabulate(one, samples=0) for one in sets.values()]
    )
    lacking = {
        f"{ref} {variant}": form
        for (ref, variant), form in given.items()
        if form.valid < form.wanted
    }
    return Subject(
        name=run.model,
        model=run.model,
        way="exact" if exact else "samples",
        template=template,
        run=run,
        tables=tuple(replace(table, asked_once=True) for table in tables),
        sets=sets,
        masses={form.probe: form.masses for form in forms.values() if form.masses is not None},
        probes={at: form.probe for at, form in forms.items()},
        short=tuple(name for name, form in lacking.items() if form.drawn >= form.most),
        unfinished=tuple(name for name, form in lacking.items() if form.drawn < form.most),
        wanted=max((form.wanted for form in forms.values()), default=0),
        unnamed={
            f"{ref} {variant}": form.unnamed
            for (ref, variant), form in forms.items()
            if form.unnamed
        },
        valid=sum(min(form.valid, form.wanted or form.valid) for form in given.values()),
        drawn=sum(form.drawn for form in given.values()),
        invalid=sum(form.answers.invalid for form in given.values() if form.answers is not None),
        truncated=sum(
            form.answers.truncated for form in given.values() if form.answers is not None
        ),
    )


Pairs = list[tuple[str, Form, Form]]
"(key, original, changed) in the order of the questions"


def _asked(
    forms: Mapping[tuple[str, str], Form], items: Mapping[str, ChoiceItem]
) -> dict[Asked, Pairs]:
    """Return the forms that are compared with each other; an original without the other form is
    compared with none.
    """
    found: dict[Asked, Pairs] = {}
    for (ref, variant), changed in forms.items():
        original = forms.get((ref, str(ORIGINAL)))
        if variant != str(ORIGINAL) and original is not None:
            item, wording = items[ref], VariantId.parse(variant)
            condition = condition_of(wording.kind)
            at = (item.bias, condition, item.variant, wording.ordinal or 1)
            found.setdefault(at, []).append((item.key, original, changed))
    return found


def _answer_set(model: str, at: Asked, pairs: Pairs) -> AnswerSet:
    bias, condition, variant, draw = at
    answered = tuple(
        AnsweredPair(key, original.answers, changed.answers)
        for key, original, changed in pairs
        if original.answers is not None and changed.answers is not None
    )
    return AnswerSet(model, bias, condition, answered, draw, mapped_back=False, variant=variant)


def _exact_table(model: str, at: Asked, pairs: Pairs) -> Table:
    bias, condition, variant, draw = at
    forms = [form for _, original, changed in pairs for form in (original, changed)]
    masses = np.array(
        [[(form.masses or {}).get(letter, 0.0) for letter in LETTERS] for form in forms]
    )
    offered = np.array([form.offered for form in forms]).reshape(-1, 2)
    keys = [key for key, _, _ in pairs]
    return from_probabilities(
        model, bias, condition, keys, masses.reshape(-1, 2, len(LETTERS)), offered, draw, variant
    )


def named(subjects: Sequence[Subject]) -> dict[str, Subject]:
    """Return subjects by names that tell them apart: the model's, and what else is needed."""
    found: dict[str, Subject] = {}
    for subject in subjects:
        alike = [one for one in subjects if one.model == subject.model]
        served = subject.run is not None and bool(
            subject.run.served_as or subject.run.occasion or subject.run.persona
        )
        name = (
            subject.model
            if not served and len(alike) == 1 and subject.template in ("", LETTERED)
            else _full(subject, alike)
        )
        while name in found:
            name += " (again)"
        found[name] = replace(subject, name=name)
    return found


def _full(subject: Subject, alike: Sequence[Subject]) -> str:
    """Return a model's name with every way in which it is not like the other subjects of that
    model.
    """
    parts = [subject.model if subject.run is None else subject.run.named]
    if subject.template not in ("", LETTERED):
        parts.append(subject.template)
    if subject.run is not None and subject.template in _shared(alike):
        parts.append(f"family {subject.run.family}")
    if len({one.way for one in alike}) > 1 or subject.way == "exact":
        parts.append(subject.way)
    if subject.run is not None:
        runs = [one.run for one in alike if one.run is not None and one.way == subject.way]
        parts += [subject.run.dtype] if len({run.dtype for run in runs}) > 1 else []
        parts += [subject.run.encoded] if len({run.encoded for run in runs}) > 1 else []
        parts += [str(subject.run.sampling)] if len({run.sampling for run in runs}) > 1 else []
        parts += (
            [subject.run.revision[:8]]
            if not subject.run.served_as and len({r.revision for r in runs}) > 1
            else []
        )
        parts += [subject.run.language] if len({run.language for run in runs}) > 1 else []
    return " · ".join(parts)


def _shared(subjects: Sequence[Subject]) -> set[str]:
    """Return the templates whose names several families of these subjects have."""
    families: dict[str, set[str]] = {}
    for one in subjects:
        if one.run is not None:
            families.setdefault(one.template, set()).add(one.run.family)
    return {name for name, of in families.items() if len(of) > 1}


def answered_by(
    store: Store, subjects: Mapping[str, Subject], refusals: Mapping[str, Refusals]
) -> tuple[Answered, ...]:
    """Return how much of each plan was answered with a offered letter; templates of one run have
    one plan.

    Answers that somebody else collected have no plan here.
    """
    of: dict[Run, list[str]] = {}
    for name, subject in subjects.items():
        if subject.run is not None:
            of.setdefault(subject.run, []).append(name)
    return tuple(_of_run(store, run, names, subjects, refusals) for run, names in of.items())


def _of_run(
    store: Store,
    run: Run,
    names: Sequence[str],
    subjects: Mapping[str, Subject],
    refusals: Mapping[str, Refusals],
) -> Answered:
    mine = [subjects[name] for name in names]
    return answered_letters(
        store,
        run,
        names[0] if len(names) == 1 else run.named,
        Came(
            sum(one.valid for one in mine),
            sum(one.drawn for one in mine),
            sum(one.invalid for one in mine),
            sum(one.truncated for one in mine),
            unfinished=any(one.unfinished for one in mine),
        ),
        next(_of(names, refusals), None),
    )


def _of(names: Sequence[str], refusals: Mapping[str, Refusals]) -> Iterator[Refusals]:
    return (refusals[name] for name in names if name in refusals)
