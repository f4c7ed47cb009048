"""Stored answers ─subjects→ tables: which answers stand for which form of which question, by model and manner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from stores.core.store import Store
from stores.runs.answers import AskedProbe
from stores.runs.run_rows import Run
from workbench.audits.response_bias.answers import Table, from_probabilities, tabulate
from workbench.audits.response_bias.asking import OPTIONS, condition_of
from workbench.audits.response_bias.options import LETTERED
from workbench.domain.choices import LETTERS, AnsweredPair, AnswerSet, ArmAnswers, Bias, ChoiceItem, Perturbation
from workbench.domain.designs import Design
from workbench.domain.findings import folded
from workbench.domain.instruments import FORMS, Instrument
from workbench.domain.keys import text_key
from workbench.domain.responses import EXACT
from workbench.domain.rulings import NOTHING, Effect
from workbench.domain.statements import ORIGINAL, VariantId, VariantKind
from workbench.evidence.answered import Answered, Part, answered, foreign_part, refused_part
from workbench.evidence.refusals import Refusals
from workbench.evidence.rulings import NO_RULINGS, RunRulings
from workbench.readers.rules import letter_of, spelled

Way = Literal["samples", "exact", "imported"]
Asked = tuple[Bias, Perturbation | None, str, int]
"bias, condition (None: the bias itself), variant and draw"
Masses = Mapping[str, float]
"letter -> probability of all tokens that spell it"


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """One way in which one model was asked."""

    name: str
    "unique: the model's, with as much more as tells several subjects of it apart: `smollm2 · exact`"
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
    "of exact subjects, forms as `ref variant` with an offered letter that is not among the tokens that the backend \
names, and counts as 0 -> the most that its probability can be"
    valid: int = 0
    "answers with an offered letter, of each form no more than it was to have; 0 where nothing was drawn. This and the \
counts below are as given: no exclusion changes them"
    drawn: int = 0
    "all answers that were drawn, those that were drawn again among them"
    invalid: int = 0
    "of them, those that are no offered letter"
    truncated: int = 0
    "of them, those that were cut off in thought"


@dataclass(frozen=True, slots=True)
class Form:
    """One form of one question, as one model was asked it under one template."""

    probe: int
    offered: int
    answers: ArmAnswers | None
    "None: nothing was drawn"
    masses: Masses | None
    unnamed: float = 0.0
    "the most that an offered letter can have that is not among the tokens that the backend names; 0: there is none"
    wanted: int = 0
    "the most valid answers that a job asked for; 0 where that has no meaning"
    most: int = 0
    "the most answers that a job would draw for them"

    @property
    def valid(self) -> int:
        return sum(self.answers.counts.values()) if self.answers is not None else 0

    @property
    def drawn(self) -> int:
        if self.answers is None:
            return 0
        return self.valid + self.answers.invalid + self.answers.truncated


def imported(model: str, sets: Sequence[AnswerSet], name: str) -> Subject:
    """Return the subject of answers that somebody else collected."""
    known = {(one.bias, one.condition, one.variant, one.draw): one for one in sets}
    return Subject(name, model, "imported", "", None, tuple(tabulate(one) for one in sets), known)


def void_questions(
    instrument: Instrument, items: Mapping[str, ChoiceItem], language: str
) -> dict[Asked, frozenset[str]]:
    """Return the keys of questions of which a form reads like the original, case and blanks aside, or has no text."""
    found: dict[Asked, set[str]] = {}
    for statement in instrument.statements:
        item, original = items.get(statement.ref), statement.wording(ORIGINAL, language)
        if item is None or original is None:
            continue
        for wording in statement.wordings:
            if wording.variant.kind in FORMS - {VariantKind.ORIGINAL} and wording.language == language:
                text = folded(wording.text)
                if text == folded(original.text) or not text:
                    kind = wording.variant.kind
                    at = (item.bias, condition_of(kind), item.variant, wording.variant.ordinal or 1)
                    found.setdefault(at, set()).add(item.key)
    return {at: frozenset(keys) for at, keys in found.items()}


def with_void(subject: Subject, void: Mapping[Asked, frozenset[str]]) -> Subject:
    """Return a subject whose tables say which of their questions have one text in both forms."""
    tables = (replace(t, void=void.get((t.bias, t.condition, t.variant, t.draw), frozenset())) for t in subject.tables)
    return replace(subject, tables=tuple(tables))


def asked_here(
    store: Store, run: Run, items: Mapping[str, ChoiceItem], rulings: RunRulings = NO_RULINGS
) -> Iterator[Subject]:
    """Yield a subject for each template of a run; the name is only the model's. `rulings`: see `_drawn_forms`."""
    exact = run.sampling.mode == EXACT
    every = _exact_forms(store, run) if exact else _drawn_forms(store, run, rulings)
    as_given = _drawn_forms(store, run, rulings.as_given) if rulings.leaves_out and not exact else every
    of_template: dict[str, dict[tuple[str, str], Form]] = {}
    given: dict[str, dict[tuple[str, str], Form]] = {}
    for probe in store.raw_answers.probes(run):
        if probe.ref in items and probe.probe in every:
            place = probe.ref, _variant(probe)  # of several the newest counts, which comes last
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
    lacking = {f"{ref} {variant}": form for (ref, variant), form in given.items() if form.valid < form.wanted}
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
        unnamed={f"{ref} {variant}": form.unnamed for (ref, variant), form in forms.items() if form.unnamed},
        valid=sum(min(form.valid, form.wanted or form.valid) for form in given.values()),
        drawn=sum(form.drawn for form in given.values()),
        invalid=sum(form.answers.invalid for form in given.values() if form.answers is not None),
        truncated=sum(form.answers.truncated for form in given.values() if form.answers is not None),
    )


Pairs = list[tuple[str, Form, Form]]
"(key, original, changed) in the order of the questions"


def _asked(forms: Mapping[tuple[str, str], Form], items: Mapping[str, ChoiceItem]) -> dict[Asked, Pairs]:
    """Return the forms that are compared with each other; an original without the other form is compared with none."""
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
    masses = np.array([[(form.masses or {}).get(letter, 0.0) for letter in LETTERS] for form in forms])
    offered = np.array([form.offered for form in forms]).reshape(-1, 2)
    keys = [key for key, _, _ in pairs]
    return from_probabilities(model, bias, condition, keys, masses.reshape(-1, 2, len(LETTERS)), offered, draw, variant)


def _drawn_forms(store: Store, run: Run, rulings: RunRulings) -> dict[int, Form]:
    """Return the answers to each probe as letters: those that are not offered were drawn again. Answers that an auditor
    read anew have the auditor's letter; those that a ruling leaves out have none.
    """
    counts, truncated = store.raw_answers.of_run(run), store.runs.truncated(run)
    designs = [Design.from_json(spec) for spec in store.predictions.designs(run)]
    found: dict[int, Form] = {}
    for probe in store.raw_answers.probes(run):
        if offered := int(probe.axes.get(OPTIONS, 0)):
            wanted, most = _asked_for(designs, probe, run.language)
            ruled = rulings.answers.get(probe.probe, {})
            arm = _arm(counts.get(probe.probe, {}), offered, truncated.get(probe.probe, 0), ruled)
            found[probe.probe] = Form(probe.probe, offered, arm, None, wanted=wanted, most=most)
    return found


def _arm(counts: Mapping[str, int], offered: int, truncated: int, ruled: Mapping[bytes, Effect]) -> ArmAnswers:
    """Return the answers by letters, without those that rulings leave out; `ruled`: key of a text -> its effect."""
    letters: Counter[str] = Counter()
    for text, n in counts.items():
        effect = ruled.get(text_key(text), NOTHING) if ruled else NOTHING
        if not effect.left_out:
            letters[(effect.label or "") if effect.read else letter_of(text)] += n
    valid = {letter: n for letter, n in sorted(letters.items()) if letter and letter in LETTERS[:offered]}
    return ArmAnswers(valid, offered, offered, letters.total() - sum(valid.values()), truncated)


def _exact_forms(store: Store, run: Run) -> dict[int, Form]:
    """Return the probabilities of the letters, of probes that have them: over the vocabulary where the backend says
    so, else of those among the likeliest tokens.
    """
    tables = store.scores.tables_of_run(run)
    found: dict[int, Form] = {}
    for probe in store.raw_answers.probes(run):
        offered, table = int(probe.axes.get(OPTIONS, 0)), tables.get(probe.probe)
        if offered and table is not None:
            words = table.words if table.words is not None else _words(table.tokens)
            letters = {letter: float(words.get(letter, 0.0)) for letter in LETTERS[:offered]}
            whole = table.words is not None or all(letter in words for letter in letters)
            most = 0.0 if whole else min(_least(table.tokens), table.rest)
            found[probe.probe] = Form(probe.probe, offered, None, letters, most)
    return found


def _words(tokens: Iterable[tuple[str, float]]) -> Masses:
    found: Counter[str] = Counter()
    for text, log in tokens:
        found[spelled(text)] += np.exp(log)
    return found


def _least(tokens: Iterable[tuple[str, float]]) -> float:
    """Return the probability of the least likely of the likeliest tokens: no other token has more."""
    return float(np.exp(min((log for _, log in tokens), default=0.0)))


def _variant(probe: AskedProbe) -> str:
    return str(VariantId(VariantKind(probe.kind), probe.ordinal))


def _asked_for(designs: Sequence[Design], probe: AskedProbe, language: str) -> tuple[int, int]:
    """Return the most valid answers that a job asked for to a probe, and the most answers that it would draw."""
    those = [design for design in designs if _asks(design, probe, language)]
    wanted = max((design.samples for design in those), default=0)
    return wanted, max((design.samples * design.tries for design in those), default=0)


def _asks(design: Design, probe: AskedProbe, language: str) -> bool:
    named = ((design.statements, probe.ref), (design.variants, _variant(probe)), (design.templates, probe.template))
    whole = design.family == probe.family and design.language in ("", language)
    return whole and all(not chosen or name in chosen for chosen, name in named)


def named(subjects: Sequence[Subject]) -> dict[str, Subject]:
    """Return subjects by names that tell them apart: the model's, and what else is needed."""
    found: dict[str, Subject] = {}
    for subject in subjects:
        alike = [one for one in subjects if one.model == subject.model]
        served = subject.run is not None and bool(subject.run.served_as or subject.run.occasion or subject.run.persona)
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
    """Return a model's name with every way in which it is not like the other subjects of that model."""
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
        parts += [subject.run.revision[:8]] if not subject.run.served_as and len({r.revision for r in runs}) > 1 else []
        parts += [subject.run.language] if len({run.language for run in runs}) > 1 else []
    return " · ".join(parts)


def _shared(subjects: Sequence[Subject]) -> set[str]:
    """Return the templates whose names several families of these subjects have."""
    families: dict[str, set[str]] = {}
    for one in subjects:
        if one.run is not None:
            families.setdefault(one.template, set()).add(one.run.family)
    return {name for name, of in families.items() if len(of) > 1}


TRIED = "no more valid answers in any try"


def answered_by(
    store: Store, subjects: Mapping[str, Subject], refusals: Mapping[str, Refusals]
) -> tuple[Answered, ...]:
    """Return how much of each plan was answered with a offered letter; templates of one run have one plan.

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
    found = answered(store, run, names[0] if len(names) == 1 else run.named)
    if run.sampling.mode == EXACT:
        return found
    mine = [subjects[name] for name in names]
    came, drawn = min(found.planned, sum(one.valid for one in mine)), sum(one.drawn for one in mine)
    missing = came < found.planned
    tried = missing and not found.job and not any(one.unfinished for one in mine)
    return replace(found, answered=came, unit="valid answers", job=TRIED if tried else found.job).with_parts(
        invalid=Part(sum(one.invalid for one in mine), drawn),
        refused=refused_part(next(_of(names, refusals), None)),
        foreign=foreign_part(next(_of(names, refusals), None)),
        truncated=Part(sum(one.truncated for one in mine), drawn),
    )


def _of(names: Sequence[str], refusals: Mapping[str, Refusals]) -> Iterator[Refusals]:
    return (refusals[name] for name in names if name in refusals)
