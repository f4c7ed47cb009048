"""An instrument: its statements, with everything people have said about them.

Multiple-choice questions are among the statements.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from workbench.domain.choices import (
    AnswerSet,
    Choice,
    ChoiceFault,
    ChoiceItem,
    ChoicePair,
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
    """A party of one country.

    Names repeat between countries, so the key is (country, name). The country is empty if the file
    does not say it.
    """

    country: str
    name: str
    position: float | None = None
    "general left-right position, 0 left to 10 right, or None if no expert placed it"

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
    "the answer as published: `rather agree`"
    stance: int | None
    "+1 agree, -1 disagree, 0 neutral, None no opinion"


@dataclass(frozen=True, slots=True)
class IssueDefinition:
    """The title of a policy issue, and the meaning of support for it."""

    name: str
    "name as in labels: `law_and_order`"
    title: str = ""
    definition: str = ""


@dataclass(frozen=True, slots=True)
class IssueLabel:
    """One annotator's label of one statement for one policy issue."""

    statement: str
    issue: str
    annotator: str
    "name, or `gold` if a source gives only the adjudicated label"
    label: int
    "+1 if agreeing supports the issue, -1 if disagreeing supports it, 0 if it is not related"


@dataclass(frozen=True, slots=True)
class SurveyAnswer:
    """A person's own stance on one wording."""

    respondent: str
    statement: str
    variant: VariantId
    agrees: bool


@dataclass(frozen=True, slots=True)
class BroughtLexicon:
    """The words by which answers to an instrument are read in one language.

    They replace those of workbench.
    """

    language: str
    text: str
    """the lexicon as TOML

    See `workbench.readers.lexicon`.
    """


@dataclass(frozen=True, slots=True)
class Instrument:
    """A set of statements that is administered as one."""

    name: str
    title: str
    statements: tuple[Statement, ...]
    language: str = "en"
    "language of audits, unless told otherwise"
    version: str = "1"
    source: str = ""
    citation: str = ""
    licence: str = ""
    issues: tuple[str, ...] = ()
    "names of the policy issues, in their order"
    definitions: tuple[IssueDefinition, ...] = ()
    "definitions of the issues that it defines itself"
    templates: tuple[Template, ...] = ()
    issue_labels: tuple[IssueLabel, ...] = ()
    parties: tuple[Party, ...] = ()
    party_answers: tuple[PartyAnswer, ...] = ()
    survey: tuple[SurveyAnswer, ...] = ()
    questionnaire: Questionnaire | None = None
    """roles and answers of the questions

    A store keeps them apart, for they may be many.
    """
    choices: tuple[ChoiceItem, ...] = ()
    "the multiple-choice questions among the statements, in their order"
    answer_sets: tuple[AnswerSet, ...] = ()
    "models' answers that came with the questions, without the prompts"
    notes: tuple[str, ...] = ()
    "repairs and omissions of the importer, in sentences for the person who imports"
    lexicons: tuple[BroughtLexicon, ...] = ()
    "lexicons of the instrument, by language"


PLACED = "Left-right positions of parties: "
"beginning of a note on the origin of positions that are not from the instrument's own files"


def placed_as(instrument: Instrument, before: Instrument | None) -> Instrument:
    """Return an instrument with the positions that its parties had before, if it places none.

    The note on them is kept, too.
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
    positions = {(party.country, party.name): party.position for party in before.parties}
    parties = tuple(
        replace(party, position=positions.get((party.country, party.name)))
        for party in instrument.parties
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
    texts = {brought.language: brought.text for brought in lexicons}
    if not texts:
        return tuple(templates)
    return tuple(
        replace(
            template,
            words=texts.get(template.language)
            or texts.get(template.language.partition("-")[0], ""),
        )
        for template in templates
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
    """Return a question as a statement, with the item that marks it as a question.

    Each form of the question is a wording.
    """
    ref = ref_of(pair.bias, pair.key, pair.variant)
    texts = [(ORIGINAL, pair.original), (CHANGED, pair.changed)]
    texts += [
        (VariantId(KIND_OF[kind], number), choice)
        for (kind, number), choice in sorted(pair.perturbed.items())
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


def pair_of(statement: Statement, item: ChoiceItem, language: str) -> ChoicePair | ChoiceFault:
    """Return the question of a statement, or the fault in the text of its original.

    A changed form or typo whose text is no question any more is left out.
    """
    texts = {
        wording.variant: parse_choice(wording.text)
        for wording in statement.wordings
        if wording.language == language
    }
    original = texts.get(
        ORIGINAL,
        ChoiceFault(f"no original wording in {language!r}", "a question with lettered options"),
    )
    if isinstance(original, ChoiceFault):
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


def unreadable_forms(statement: Statement) -> Iterator[tuple[Wording, ChoiceFault]]:
    """Yield the forms of a question that cannot be put to a model.

    Each comes with the fault of its text.
    """
    for wording in statement.wordings:
        parsed = parse_choice(wording.text) if wording.variant.kind in FORMS else None
        if isinstance(parsed, ChoiceFault):
            yield wording, parsed


def with_pairs(
    instrument: Instrument, pairs: Iterable[ChoicePair], answers: Sequence[AnswerSet] = ()
) -> Instrument:
    """Return an instrument with these questions as its statements, in order."""
    pairs_made = [statement_of(pair, instrument.language) for pair in pairs]
    return replace(
        instrument,
        statements=tuple(statement for statement, _ in pairs_made),
        choices=tuple(item for _, item in pairs_made),
        answer_sets=tuple(answers),
    )


GOLD = "gold"
"annotator of labels that a source gives without an annotator"
ADJUDICATION = "adjudication"
"annotator of decisions on labels that differ"

FEWEST = 2
"least number of people for a gold label, unless another is chosen"

Labels = Mapping[str, Mapping[str, int]]
"statement -> issue -> label"


def gold_labels(
    labels: Iterable[IssueLabel], *, source: bool = True, fewest: int = FEWEST
) -> Labels:
    """Return the gold label of each statement and issue.

    A tie, or too few annotators, gives no gold label. An adjudication wins, then, with `source`,
    the source's own label, then the label of more than half of the annotators (Ceron et al. 2024,
    section 4.2: "the final gold annotations are drawn from the majority votes"), if at least
    `fewest` of them labelled it.
    """
    gold: dict[str, dict[str, int]] = defaultdict(dict)
    for (statement, issue), label_by_annotator in by_item(labels).items():
        label = _counting_label(label_by_annotator, source, fewest)
        if label is not None:
            gold[statement][issue] = label
    return dict(gold)


def by_item(labels: Iterable[IssueLabel]) -> dict[tuple[str, str], dict[str, int]]:
    """Return the labels of each statement and issue by annotator."""
    labels_by_item: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    for label in labels:
        labels_by_item[label.statement, label.issue][label.annotator] = label.label
    return dict(labels_by_item)


def majority(labels: Iterable[int]) -> int | None:
    """Return the label of more than half the annotators, or None without such a majority."""
    counts = Counter(labels)
    label, count = counts.most_common(1)[0]
    return label if 2 * count > counts.total() else None


def _counting_label(label_by_annotator: Mapping[str, int], source: bool, fewest: int) -> int | None:
    if ADJUDICATION in label_by_annotator:
        return label_by_annotator[ADJUDICATION]
    if source and GOLD in label_by_annotator:
        return label_by_annotator[GOLD]
    labels_of_people = [
        label for annotator, label in label_by_annotator.items() if annotator != GOLD
    ]
    return (
        majority(labels_of_people) if labels_of_people and len(labels_of_people) >= fewest else None
    )
