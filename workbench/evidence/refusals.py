"""How often a model refuses: per statement, whoever reads its answers.

Four kinds of answers are told apart. A *refusal* declines to answer; an *unmappable* answer says something that names
no label; a *neutral* one takes the middle of a scale; an *unrelated* one is about something else, which only people and
classifiers say. Here the first two are counted, and of numbered scales the third.

A rule of words tells refusals, the same for every audit: nothing in the answer is asserted that the template asks for,
and it has one of the phrases of the lexicon (`data/lexicons`, `[refusal]`: "as an ai", "cannot answer", ...). Where a
template asks for free text, the labels are taken to be *agree* and *disagree*, so "I cannot take sides, but I agree" is
no refusal. The rule is blind to refusals in other words, and in languages that have no lexicon. Auditors' rulings and
the reader that was chosen for the figures do not count. Thoughts are not read.

Answers in another language than their prompts are counted beside these, whatever they say (see `readers.languages`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from stores.core.store import Store
from stores.runs.run_rows import Run
from workbench.domain.prompts import FREE_TEXT, LETTER, LIKERT, Template
from workbench.domain.readings import LABEL_WORDS, Stance
from workbench.domain.responses import EXACT
from workbench.domain.statements import Side
from workbench.errors import UnknownName
from workbench.evidence.kept import Part, kept
from workbench.evidence.other_language import teller
from workbench.evidence.rule_reading import read as read_by_rule
from workbench.evidence.rule_reading import stance_reader, template_reader

REFUSAL = "refusal"
NO_ANSWERS = "the run has probabilities of labels, not answers, so it has no refusals"


@dataclass(slots=True)
class Kinds:
    """Answers to one statement."""

    answers: int = 0
    "that came; answers cut off in thought are none"
    refused: int = 0
    unmappable: int = 0
    "no label is named, and it is no refusal; of free text nobody knows by rule"
    neutral: int = 0
    foreign: int = 0
    "in another language than the prompt, whatever they say: they count among the others, too"


@dataclass(frozen=True, slots=True)
class Asked:
    """A statement with what refusals are counted by."""

    ref: str
    kinds: Kinds
    issues: Mapping[str, int] = field(default_factory=dict)
    "policy issue -> +1 agreeing supports it, -1 disagreeing does"
    side: Side | None = None
    "the side that agreeing with it reflects"


@dataclass(frozen=True, slots=True)
class Refusals:
    """What one model refused."""

    model: str
    statements: tuple[Asked, ...]
    free: bool = False
    "whether some answers are free text, of which nobody knows by rule what is unmappable"
    empty: str = ""
    "why there is nothing to count"
    until_settled: bool = False
    "whether prompts were asked only until their verdict was settled, so that some have fewer answers"

    @property
    def refused(self) -> int:
        return sum(one.kinds.refused for one in self.statements)

    @property
    def answers(self) -> int:
        return sum(one.kinds.answers for one in self.statements)

    @property
    def foreign(self) -> int:
        return sum(one.kinds.foreign for one in self.statements)


def refusals_of(
    store: Store, run: Run, name: str = "", sides: Mapping[str, Side] | None = None, issues: bool = True
) -> Refusals:
    """Return what the model of a run refused, by statement in the instrument's order.

    name : what the model is called; empty: as it is
    sides : statement -> its side, where other labels than the instrument's count
    """

    def made() -> Refusals:
        return _refusals(store, run, name or run.model, sides, issues=issues)

    parts = (Part.ANSWERS, Part.MATERIAL, Part.FINDINGS)
    return kept(store, ("refusals", run, name, sides is None, issues), parts, made, sides)


def _refusals(store: Store, run: Run, model: str, sides: Mapping[str, Side] | None, *, issues: bool) -> Refusals:
    if run.sampling.mode == EXACT:
        return Refusals(model, (), empty=NO_ANSWERS)
    templates = store.runs.templates(run)
    by_words = all(template.scale not in (FREE_TEXT, LIKERT, LETTER) for template in templates)
    kinds = _stored(store, run) if by_words and templates else _read(store, run, templates)
    _tell_languages(store, run, templates, kinds)
    instrument = store.runs.instrument(run)
    asked = tuple(
        Asked(
            one.ref,
            kinds[one.ref],
            {issue: label for issue, label in one.issues.items() if label} if issues else {},
            one.leaning if sides is None else sides.get(one.ref),
        )
        for one in instrument.statements
        if one.ref in kinds
    )
    free = any(template.scale == FREE_TEXT for template in templates)
    return Refusals(model, asked, free, until_settled=bool(store.settlements.probes(run)))


def joined(several: Sequence[Refusals]) -> Refusals:
    """Return what one model refused on several instruments."""
    first = several[0]
    statements = tuple(one for of in several for one in of.statements)
    return Refusals(
        first.model,
        statements,
        any(of.free for of in several),
        "" if statements else first.empty,
        any(of.until_settled for of in several),
    )


def _stored(store: Store, run: Run) -> dict[str, Kinds]:
    """Count the readings by label words, which are stored."""
    reader, _ = read_by_rule(store, run, LABEL_WORDS)
    found: dict[str, Kinds] = defaultdict(Kinds)
    refs = {probe: ref for ref, *_, probe, _ in store.runs.cells(run)}
    for probe, label, refused, count in store.runs.counts(run, [reader]):
        _add(found[refs[probe]], label, bool(refused), count)
    return dict(found)


def _read(store: Store, run: Run, templates: Iterable[Template]) -> dict[str, Kinds]:
    """Read every answer; free text is read for `agree` and `disagree`."""
    by_name = {template.name: template for template in templates}
    probes = {one.probe: (one.ref, by_name[one.template]) for one in store.raw_answers.probes(run)}
    found: dict[str, Kinds] = defaultdict(Kinds)
    seen: dict[tuple[str, str], tuple[str | None, bool]] = {}
    for probe, answers in store.raw_answers.of_run(run).items():
        ref, template = probes[probe]
        for text, count in answers.items():
            key = template.name, text
            if key not in seen:
                seen[key] = read_answer(template, text)
            _add(found[ref], *seen[key], count)
    return dict(found)


def read_answer(template: Template, text: str) -> tuple[str | None, bool]:
    """Return the label of an answer by the rule of its template, None where it names none; and whether it refuses."""
    rule = template_reader(template)
    label = rule.read(text).label if rule is not None else None
    if label is not None:
        return label, False
    try:
        words = stance_reader(template)
    except UnknownName:
        return None, False
    return None, words.read(text).reason == REFUSAL


def _tell_languages(store: Store, run: Run, templates: Iterable[Template], kinds: Mapping[str, Kinds]) -> None:
    """Count the answers that are in another language than their prompts, where these are all in one."""
    tell = teller(templates)
    if tell is None:
        return
    for ref, answers in store.raw_answers.of_statements(run).items():
        if ref in kinds:
            kinds[ref].foreign = sum(count for text, count in answers.items() if tell(text))


def _add(kinds: Kinds, label: str | None, refused: bool, count: int) -> None:
    kinds.answers += count
    if refused:
        kinds.refused += count
    elif label is None:
        kinds.unmappable += count
    elif label == Stance.NEUTRAL:
        kinds.neutral += count
