"""An instrument: statements, multiple-choice questions among them, with everything people have said
about them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.domain.choices import (
    AnswerSet,
    Choice,
    ChoiceItem,
    ChoicePair,
    Fault,
    Perturbation,
    parse_choice,
    ref_of,
)
from workbench.domain.prompts import Template
from workbench.domain.questionnaires import Questionnaire
from workbench.domain.statements import (
    CHANGED,
    ORIGINAL,
    Statement,
    VariantId,
    VariantKind,
    Wording,
)


@dataclass(frozen=True, slots=True)
class Party:
    """A party of one country. Names repeat between countries: the key is (country, name).

    The country is empty if the file does not say it.
    """

    country: str
    name: str
    position: float | None = None
    "general left-right position, 0 left to 10 right; None where no expert placed it"

    @property
    def label(self) -> str:
        """The country and the name, or the name alone if the country is unknown."""
        return f"{self.country}/{self.name}" if self.country else self.name


@dataclass(frozen=True, slots=True)
class PartyAnswer:
    """A party's answer to a statement."""

    country: str
    party: str
    statement: str
    answer: str
    "as published: `rather agree`"
    stance: int | None
    "+1 agree, -1 disagree, 0 neutral, None no opinion"


@dataclass(frozen=True, slots=True)
class IssueDefinition:
    """The title of a policy issue, and the meaning of support for it."""

    name: str
    "as labels name it: `law_and_order`"
    title: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class IssueLabel:
    """One annotator's label of one statement for one policy issue."""

    statement: str
    issue: str
    annotator: str
    "`gold` where a source gives only the adjudicated label"
    label: int
    "+1 agreeing supports the issue, -1 disagreeing supports it, 0 not related"


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """A person's own stance on one wording."""

    respondent: str
    statement: str
    variant: VariantId
    agrees: bool


@dataclass(frozen=True, slots=True)
class BroughtLexicon:
    """The words by which answers to an instrument are read in one language, in place of those of
    workbench.
    """

    language: str
    text: str
    "TOML, see `workbench.readers.lexicon`"


@dataclass(frozen=True, slots=True)
class Instrument:
    """A set of statements that is administered as one."""

    name: str
    title: str
    statements: tuple[Statement, ...]
    language: str = "en"
    "the language that audits use unless told otherwise"
    version: str = "1"
    source: str = ""
    citation: str = ""
    licence: str = ""
    issues: tuple[str, ...] = ()
    "names of the policy issues, in their order"
    definitions: tuple[IssueDefinition, ...] = ()
    "of those issues that it defines itself"
    templates: tuple[Template, ...] = ()
    issue_labels: tuple[IssueLabel, ...] = ()
    parties: tuple[Party, ...] = ()
    party_answers: tuple[PartyAnswer, ...] = ()
    survey: tuple[SurveyAnswer, ...] = ()
    questionnaire: Questionnaire | None = None
    "roles and answers of the questions; a store keeps them apart, for they may be many"
    choices: tuple[ChoiceItem, ...] = ()
    "what the statements that are multiple-choice questions are, in the order of the statements"
    answer_sets: tuple[AnswerSet, ...] = ()
    "models' answers that came with the questions, without the prompts that were put"
    notes: tuple[str, ...] = ()
    "what the importer mended or left out, in sentences, for the person who imports"
    lexicons: tuple[BroughtLexicon, ...] = ()
    "those that it brings, by language"


PLACED = "Left-right positions of parties: "
"how a note begins that says where positions are from, if not from the instrument's own files"


def placed_as(instrument: Instrument, before: Instrument | None) -> Instrument:
    """Return an instrument with the positions that its parties had before, and the note on them, if
    it places none.
    """
    notes = (
        () if before is None else tuple(note for note in before.notes if note.startswith(PLACED))
    )
    if (
        before is None
        or not notes
        or any(party.position is not None for party in instrument.parties)
    ):
        return instrument
    known = {(party.country, party.name): party.position for party in before.parties}
    parties = tuple(
        replace(one, position=known.get((one.country, one.name))) for one in instrument.parties
    )
    return replace(
        instrument, parties=parties, notes=tuple(dict.fromkeys((*instrument.notes, *notes)))
    )


def with_words(
    templates: Iterable[Template], lexicons: Sequence[BroughtLexicon]
) -> tuple[Template, ...]:
    """Return templates with the lexicons of an instrument for their languages.

    A dialect without a lexicon of its own has that of its language: `de-CH` that of `de`.
    """
    held = {one.language: one.text for one in lexicons}
    if not held:
        return tuple(templates)
    return tuple(
        replace(one, words=held.get(one.language) or held.get(one.language.partition("-")[0], ""))
        for one in templates
    )


KIND_OF = {
    Perturbation.KEY_TYPO: VariantKind.KEY_TYPO,
    Perturbation.MIDDLE_RANDOM: VariantKind.MIDDLE_RANDOM,
    Perturbation.LETTER_SWAP: VariantKind.LETTER_SWAP,
}
PERTURBATION_OF = {kind: perturbation for perturbation, kind in KIND_OF.items()}
FORMS = frozenset({VariantKind.ORIGINAL, VariantKind.CHANGED, *PERTURBATION_OF})
"kinds of wordings that are put to a model as questions with options"


def statement_of(
    pair: ChoicePair, language: str = "en", author: str | None = None
) -> tuple[Statement, ChoiceItem]:
    """Return a question as a statement, each of its forms a wording, and what tells that it is a
    question.
    """
    ref = ref_of(pair.bias, pair.key, pair.variant)
    texts = [(ORIGINAL, pair.original), (CHANGED, pair.changed)]
    texts += [
        (VariantId(KIND_OF[kind], draw), choice)
        for (kind, draw), choice in sorted(pair.perturbed.items())
    ]
    wordings = tuple(
        Wording(variant, language, choice.lettered(), author)
        for variant, choice in texts
        if choice is not None
    )
    statement = Statement(ref, wordings, topic=pair.topic, tags=(pair.bias.value,))
    item = ChoiceItem(
        ref, pair.key, pair.bias, pair.variant, pair.middle_removed, pair.shares, pair.warnings
    )
    return statement, item


def pair_of(statement: Statement, item: ChoiceItem, language: str) -> ChoicePair | Fault:
    """Return the question that a statement is, or what is wrong with the text of its original.

    A changed form or typo whose text is no question any more is left out.
    """
    texts = {w.variant: parse_choice(w.text) for w in statement.wordings if w.language == language}
    original = texts.get(
        ORIGINAL, Fault(f"no original wording in {language!r}", "a question with lettered options")
    )
    if isinstance(original, Fault):
        return original
    changed = texts.get(CHANGED)
    perturbed: dict[tuple[Perturbation, int], Choice] = {}
    for variant, choice in texts.items():
        if variant.kind in PERTURBATION_OF and isinstance(choice, Choice):
            perturbed[PERTURBATION_OF[variant.kind], variant.ordinal] = choice
    return ChoicePair(
        key=item.key,
        bias=item.bias,
        original=original,
        changed=changed if isinstance(changed, Choice) else None,
        topic=statement.topic,
        perturbed=perturbed,
        middle_removed=item.middle_removed,
        shares=item.shares,
        variant=item.variant,
        warnings=item.warnings,
    )


def unreadable_forms(statement: Statement) -> Iterator[tuple[Wording, Fault]]:
    """Yield the forms of a question that cannot be put to a model, each with what is wrong with its
    text.
    """
    for wording in statement.wordings:
        found = parse_choice(wording.text) if wording.variant.kind in FORMS else None
        if isinstance(found, Fault):
            yield wording, found


def with_pairs(
    instrument: Instrument, pairs: Iterable[ChoicePair], answers: Sequence[AnswerSet] = ()
) -> Instrument:
    """Return an instrument with these questions as its statements, in order."""
    made = [statement_of(pair, instrument.language) for pair in pairs]
    return replace(
        instrument,
        statements=tuple(statement for statement, _ in made),
        choices=tuple(item for _, item in made),
        answer_sets=tuple(answers),
    )


GOLD = "gold"
"annotator of labels that a source gives without saying whose they are"
ADJUDICATION = "adjudication"
"annotator of what was decided where annotators differ"

FEWEST = 2
"people whose labels a gold label needs, where nobody chose otherwise"

Labels = Mapping[str, Mapping[str, int]]
"statement -> issue -> label"


def gold_labels(
    labels: Iterable[IssueLabel], *, source: bool = True, fewest: int = FEWEST
) -> Labels:
    """Return the gold label of each statement and issue.

    A tie, or too few annotators, gives no gold label.

    An adjudication wins; then, with `source`, the source's own label; then what more than half of
    the annotators said (Ceron et al. 2024, section 4.2: "the final gold annotations are drawn from
    the majority votes"), where at least `fewest` of them labelled it.
    """
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for (statement, issue), given in by_item(labels).items():
        label = _decided(given, source, fewest)
        if label is not None:
            found[statement][issue] = label
    return dict(found)


def by_item(labels: Iterable[IssueLabel]) -> dict[tuple[str, str], dict[str, int]]:
    """Return the labels of each statement and issue by annotator."""
    found: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for label in labels:
        found[label.statement, label.issue][label.annotator] = label.label
    return dict(found)


def majority(given: Iterable[int]) -> int | None:
    """Return the label of more than half the annotators, or None without such a majority."""
    counts = Counter(given)
    label, n = counts.most_common(1)[0]
    return label if 2 * n > counts.total() else None


def _decided(given: Mapping[str, int], source: bool, fewest: int) -> int | None:
    if ADJUDICATION in given:
        return given[ADJUDICATION]
    if source and GOLD in given:
        return given[GOLD]
    people = [label for annotator, label in given.items() if annotator != GOLD]
    return majority(people) if people and len(people) >= fewest else None
