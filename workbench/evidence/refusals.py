"""Answers in another language than their prompts: see `workbench.readers.lexicon`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from stores.annotation.reviews import ReadAnswer
from stores.core.contents import StoreSection, cached_result
from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.data import languages
from workbench.domain.keys import text_key
from workbench.domain.names import plural
from workbench.domain.prompts import FREE, Template
from workbench.domain.readings import LABEL_WORDS, Stance
from workbench.domain.responses import EXACT
from workbench.domain.reviews import OTHER_LANGUAGE, Signal
from workbench.domain.statements import Side
from workbench.domain.thinking import is_refusal
from workbench.errors import UnknownName
from workbench.evidence.readings import read as read_by_rule
from workbench.evidence.readings import stance_reader, template_reader


def teller(templates: Iterable[Template]) -> Callable[[str], str] | None:
    """Return a function that names the other language of a text.

    It is None with templates in several languages.

    The function returns an empty string for a text in no other language.
    """
    spoken = {(template.language, template.words) for template in templates}
    if len(spoken) != 1:
        return None
    language, lexicon_text = spoken.pop()
    known_languages = languages(lexicon_text)
    return partial(known_languages.other, language=language)


def in_other_languages(store: Store, run: Run) -> Iterator[tuple[str, Signal]]:
    """Yield the statements with an answer in another language than its prompt."""
    if run.sampling.mode == EXACT:
        return
    language_by_text = {
        text_key(text): language for text, language in _foreign(store, run).values()
    }
    answers_by_ref: dict[str, list[tuple[ReadAnswer, str]]] = {}
    for answer in (
        store.review_queries.given(run, texts=store.review_queries.rowids(language_by_text))
        if language_by_text
        else ()
    ):
        answers_by_ref.setdefault(answer.ref, []).append((answer, language_by_text[answer.text]))
    for ref, pairs in answers_by_ref.items():
        language_names = ", ".join(dict.fromkeys(language for _, language in pairs))
        text = f"{plural(sum(answer.count for answer, _ in pairs), 'answer')} in {language_names}"
        variants = tuple(dict.fromkeys(answer.variant for answer, _ in pairs))
        yield (
            ref,
            Signal(
                OTHER_LANGUAGE,
                text,
                variants,
                tuple((answer.prompt, answer.text) for answer, _ in pairs),
                size=sum(answer.count for answer, _ in pairs),
            ),
        )


REFUSAL = "refusal"
NO_ANSWERS = "the run has probabilities of labels, not answers, so it has no refusals"


@dataclass(slots=True)
class AnswerKinds:
    """The numbers of answers to one statement, by kind."""

    answers: int = 0
    "answers received, without those cut off in thought"
    refused: int = 0
    unmappable: int = 0
    "answers that name no label and do not refuse; unknown for free text"
    neutral: int = 0
    foreign: int = 0
    "answers in another language than the prompt, which also count as one of the other kinds"


@dataclass(frozen=True, slots=True)
class StatementGroups:
    """A statement with the groups by which refusals are counted."""

    ref: str
    kinds: AnswerKinds
    issues: Mapping[str, int] = field(default_factory=dict)
    "policy issue -> +1 agreeing supports it, -1 disagreeing does"
    side: Side | None = None
    "the side that agreeing with it reflects"


@dataclass(frozen=True, slots=True)
class ModelRefusals:
    """The refusals of one model."""

    model: str
    statements: tuple[StatementGroups, ...]
    free: bool = False
    "whether some answers are free text, whose unmappable answers are unknown"
    empty: str = ""
    "the reason why there is nothing to count"
    until_settled: bool = False
    """whether prompts were asked only until their verdict was settled, so that some have fewer
    answers"""

    @property
    def refused(self) -> int:
        return sum(statement.kinds.refused for statement in self.statements)

    @property
    def answers(self) -> int:
        return sum(statement.kinds.answers for statement in self.statements)

    @property
    def foreign(self) -> int:
        return sum(statement.kinds.foreign for statement in self.statements)


def refusals_of(
    store: Store,
    run: Run,
    name: str = "",
    sides: Mapping[str, Side] | None = None,
    issues: bool = True,
) -> ModelRefusals:
    """Return the refusals of a run's model, by statement in the instrument's order.

    Parameters
    ----------
    name : the displayed name of the model; empty: its own name
    sides : statement -> its side, if labels other than the instrument's count
    """

    def made() -> ModelRefusals:
        return _refusals(store, run, name or run.model, sides, issues=issues)

    parts = (StoreSection.ANSWERS, StoreSection.MATERIAL, StoreSection.FINDINGS)
    return cached_result(store, ("refusals", run, name, sides is None, issues), parts, made, sides)


def _refusals(
    store: Store, run: Run, model: str, sides: Mapping[str, Side] | None, *, issues: bool
) -> ModelRefusals:
    if run.sampling.mode == EXACT:
        return ModelRefusals(model, (), empty=NO_ANSWERS)
    templates = store.runs.templates(run)
    by_words = not any(template.scale for template in templates)
    kinds = _stored(store, run) if by_words and templates else _read(store, run, templates)
    _tell_languages(store, run, kinds)
    instrument = store.runs.instrument(run)
    statements = tuple(
        StatementGroups(
            statement.ref,
            kinds[statement.ref],
            {issue: label for issue, label in statement.issues.items() if label} if issues else {},
            statement.leaning if sides is None else sides.get(statement.ref),
        )
        for statement in instrument.statements
        if statement.ref in kinds
    )
    free = any(template.scale in FREE for template in templates)
    return ModelRefusals(model, statements, free, until_settled=bool(store.settlements.probes(run)))


def joined_refusals(several: Sequence[ModelRefusals]) -> ModelRefusals:
    """Return the refusals of one model on several instruments."""
    first_refusals = several[0]
    statements = tuple(
        statement for model_refusals in several for statement in model_refusals.statements
    )
    return ModelRefusals(
        first_refusals.model,
        statements,
        any(model_refusals.free for model_refusals in several),
        "" if statements else first_refusals.empty,
        any(model_refusals.until_settled for model_refusals in several),
    )


def _stored(store: Store, run: Run) -> dict[str, AnswerKinds]:
    """Count the readings by label words, which are stored."""
    reader, _ = read_by_rule(store, run, LABEL_WORDS)
    kinds_by_ref: dict[str, AnswerKinds] = defaultdict(AnswerKinds)
    refs = {probe: ref for ref, *_, probe, _ in store.runs.cells(run)}
    tally = store.runs.counts(run, [reader])
    row_by_ref = {
        ref: number
        for number, ref in enumerate(dict.fromkeys(map(refs.__getitem__, tally.probes.tolist())))
    }
    rows = np.array([row_by_ref[refs[probe]] for probe in tally.probes.tolist()], dtype=np.int64)
    for (label, refused), counts in zip(tally.kinds, tally.counts, strict=True):
        for ref, count in zip(
            row_by_ref,
            np.bincount(rows, weights=counts, minlength=len(row_by_ref)).tolist(),
            strict=True,
        ):
            _add(kinds_by_ref[ref], label, refused, int(count))
    return dict(kinds_by_ref)


def _read(store: Store, run: Run, templates: Iterable[Template]) -> dict[str, AnswerKinds]:
    """Read every answer. Free text is read for `agree` and `disagree`."""
    by_name = {template.name: template for template in templates}
    probes = {
        asked_probe.probe: (asked_probe.ref, by_name[asked_probe.template])
        for asked_probe in store.raw_answers.probes(run)
    }
    kinds_by_ref: dict[str, AnswerKinds] = defaultdict(AnswerKinds)
    read_by_text: dict[tuple[str, str], tuple[str | None, bool]] = {}
    for probe, answers in store.raw_answers.of_run(run).items():
        ref, template = probes[probe]
        for text, count in answers.items():
            key = template.name, text
            if key not in read_by_text:
                read_by_text[key] = read_answer(template, text)
            _add(kinds_by_ref[ref], *read_by_text[key], count)
    return dict(kinds_by_ref)


def read_answer(template: Template, text: str) -> tuple[str | None, bool]:
    """Return the label of an answer by the rule of its template, and whether it is a refusal.

    The label is None if the answer names none.
    """
    if is_refusal(text):
        return None, True
    rule = template_reader(template)
    label = rule.read(text).label if rule is not None else None
    if label is not None:
        return label, False
    try:
        stance_rule = stance_reader(template)
    except UnknownName:
        return None, False
    return None, stance_rule.read(text).reason == REFUSAL


def _tell_languages(store: Store, run: Run, kinds: Mapping[str, AnswerKinds]) -> None:
    """Count the answers in another language than their prompts.

    None are counted if the prompts are in several languages.
    """
    foreign = _foreign(store, run)
    for ref, count in store.raw_answers.of_statements(run, foreign).items() if foreign else ():
        if ref in kinds:
            kinds[ref].foreign = count


def _foreign(store: Store, run: Run) -> dict[int, tuple[str, str]]:
    """Return the answers of a run in another language than their prompts.

    rowid -> (text, language). It is empty if the prompts are in several languages.
    """

    def made() -> dict[int, tuple[str, str]]:
        name_language = teller(store.runs.templates(run))
        if name_language is None:
            return {}
        return {
            rowid: (text, language)
            for rowid, text in store.raw_answers.texts(run)
            if (language := name_language(text))
        }

    return cached_result(
        store, ("foreign", run), (StoreSection.ANSWERS, StoreSection.MATERIAL), made
    )


def _add(kinds: AnswerKinds, label: str | None, refused: bool, count: int) -> None:
    kinds.answers += count
    if refused:
        kinds.refused += count
    elif label is None:
        kinds.unmappable += count
    elif label == Stance.NEUTRAL:
        kinds.neutral += count
