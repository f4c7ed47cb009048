"""People's labels of the statements of a folder and answers to them.

They are those of annotators, parties and respondents.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from workbench.domain.instruments import IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.statements import Statement, VariantId
from workbench.formats.about import IssueNames, note_twin
from workbench.formats.lines import LABELS
from workbench.formats.numbers import finite_number
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, choice, is_new, number, read_rows

STANCES: Mapping[str, int | None] = {"agree": 1, "disagree": -1, "neutral": 0, "no opinion": None}
"the stances that a party's answer can have"
_WORDS = {
    "agree": (
        *(
            "agree",
            "rather agree",
            "somewhat agree",
            "strongly agree",
            "completely agree",
            "yes",
            "rather yes",
        ),
        *(
            "stimme zu",
            "stimme eher zu",
            "stimme voll zu",
            "ja",
            "eher ja",
            "d'accord",
            "plutôt d'accord",
        ),
        *(
            "tout à fait d'accord",
            "oui",
            "plutôt oui",
            "d'accordo",
            "sì",
            "piuttosto sì",
            "eens",
            "helemaal eens",
        ),
        *("de acuerdo", "sí"),
    ),
    "disagree": (
        *(
            "disagree",
            "rather disagree",
            "somewhat disagree",
            "strongly disagree",
            "completely disagree",
            "no",
        ),
        *(
            "rather no",
            "stimme nicht zu",
            "stimme eher nicht zu",
            "stimme gar nicht zu",
            "nein",
            "eher nein",
        ),
        *(
            "pas d'accord",
            "plutôt pas d'accord",
            "pas du tout d'accord",
            "non",
            "plutôt non",
            "non d'accordo",
        ),
        *("piuttosto no", "oneens", "helemaal oneens", "nee", "en desacuerdo"),
    ),
    "neutral": ("neutral", "neither agree nor disagree", "neutre", "neutrale", "neutraal"),
    "no opinion": (
        "no opinion",
        "keine meinung",
        "keine angabe",
        "sans opinion",
        "nessuna opinione",
        "geen mening",
    ),
}
ANSWERS: Mapping[str, int | None] = {
    word: STANCES[stance] for stance, words in _WORDS.items() for word in words
}
STANCE = "stance"
"column of party_answers.csv"
MOST_WORDS = 6
"largest number of words of a stance that a text names"
YES_NO: Mapping[str, int | None] = {"agree": 1, "yes": 1, "1": 1, "disagree": 0, "no": 0, "0": 0}


OF_ISSUE_LABELS = ("ref", "issue", "annotator", "label")
"columns of labels of statements for policy issues"


def read_issue_labels(
    path: Path,
    refs: Collection[str],
    issues: Collection[str],
    taken: Collection[IssueLabel],
    findings: Findings,
) -> list[IssueLabel]:
    """Return the labels of `issue_labels.csv`, in the order of the file.

    Empty cells are not labels.

    `issues` has the allowed names. It is empty if the instrument lists none, so that the file
    decides. `taken` has labels given in `statements.csv`, which the same annotator must not repeat.
    """
    labels = []
    taken_keys = {(label.statement, label.issue, label.annotator) for label in taken}
    seen: dict[Hashable, int] = {}
    names = IssueNames()
    for row in rows_if_there(path, findings, OF_ISSUE_LABELS, may_be_empty=("label",)):
        is_valid, label = choice(row, "label", findings, {"": None, **LABELS})
        twin = None if issues else names.twin(row.get("issue"))
        if twin is not None:
            note_twin(path, row.line, "issue", row.get("issue"), twin, findings)
        is_valid &= _has_valid_value(row, "ref", refs, findings)
        is_valid &= not issues or _has_valid_value(row, "issue", issues, findings)
        key = (row.get("ref"), row.get("issue"), row.get("annotator"))
        if key in taken_keys:
            findings.add(
                path,
                row.line,
                "annotator",
                f"{key[2]!r}",
                "another name: statements.csv has this label",
            )
        elif is_valid & is_new(seen, key, row, "ref", findings) and label is not None:
            labels.append(IssueLabel(*key, label))
    return labels


def read_parties(path: Path, findings: Findings) -> tuple[Party, ...]:
    """Return the parties of `parties.csv`.

    A party may have no country. Its position is from 0 (left) to 10 (right), or empty.
    """
    seen: dict[Hashable, int] = {}
    parties = []
    for row in rows_if_there(path, findings, ("country", "party"), ("position",), ("country",)):
        position = number(row, "position", findings, low=0, high=10)
        key = (row.get("country"), row.get("party"))
        if is_new(seen, key, row, "party", findings):
            parties.append(Party(*key, position))
    return tuple(parties)


@dataclass(frozen=True, slots=True)
class StanceRule:
    """The rule by which the words of party answers become stances."""

    given: Mapping[str, str] = field(default_factory=dict)
    "word -> one of `STANCES`, as the person who imports set it. Other words are in `ANSWERS`."
    middle: float | None = None
    """middle of a scale of numbers: those above it agree, those below it disagree. If it is
    None, a number is a word like any other."""

    def stance(self, word: str) -> tuple[bool, int | None]:
        """Return (whether a word has a stance, the stance)."""
        normalised = plain_word(word)
        if normalised in self.given:
            return True, STANCES[self.given[normalised]]
        value = None if self.middle is None else finite_number(normalised)
        if value is not None and self.middle is not None:
            return True, (value > self.middle) - (value < self.middle)
        return normalised in ANSWERS, ANSWERS.get(normalised)


def plain_word(word: str) -> str:
    """Return a word of an answer as it is looked up.

    Case, outer spaces and the form of an apostrophe do not count.
    """
    return " ".join(word.replace("’", "'").split()).casefold()


def party_answer(
    row: Row, column: str, key: tuple[str, str, str], rule: StanceRule, findings: Findings
) -> PartyAnswer | None:
    """Return a party's answer with its stance.

    `key` is its country, name and statement. Returns None for an empty cell, and, with a note, for
    a word without a stance. A column `stance` of the file takes precedence over the word.
    """
    word, stance_word = row.get(column), row.get(STANCE)
    if stance_word:
        is_valid, stance = choice(row, STANCE, findings, STANCES)
        return PartyAnswer(*key, word, stance) if is_valid and word else None
    is_valid, stance = rule.stance(word)
    if not is_valid and word:
        hint = f'--answers "{word}=agree", or {", ".join(list(STANCES)[1:])}'
        findings.add(
            row.file, row.line, column, repr(word), f"one whose stance is known, or {hint}"
        )
    return PartyAnswer(*key, word, stance) if is_valid else None


def read_party_answers(
    path: Path,
    refs: Collection[str],
    parties: tuple[Party, ...],
    findings: Findings,
    rule: StanceRule,
) -> tuple[PartyAnswer, ...]:
    """Return the answers of `party_answers.csv`. If `parties` is empty, any party may answer."""
    listed_parties = {(party.country, party.name) for party in parties}
    seen: dict[Hashable, int] = {}
    answers = []
    for row in rows_if_there(
        path, findings, ("country", "party", "ref", "answer"), (STANCE,), ("country",)
    ):
        key = (row.get("country"), row.get("party"), row.get("ref"))
        answer = party_answer(row, "answer", key, rule, findings)
        is_known = _has_valid_value(row, "ref", refs, findings)
        if listed_parties and key[:2] not in listed_parties:
            findings.add(
                path, row.line, "party", f"{key[1]!r} of {key[0]!r}", "a party of parties.csv"
            )
        elif (answer is not None) & is_known & is_new(
            seen, key, row, "ref", findings
        ) and answer is not None:
            answers.append(answer)
    return tuple(answers)


def party_answer_rows(
    answers: Sequence[PartyAnswer],
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return the header and the rows of `party_answers.csv`.

    There is a column of stances if the words do not imply them.
    """
    rule, names = StanceRule(), {stance: name for name, stance in STANCES.items()}
    are_implied = all(rule.stance(answer.answer) == (True, answer.stance) for answer in answers)
    header = ("country", "party", "ref", "answer", STANCE)
    rows = [
        (answer.country, answer.party, answer.statement, answer.answer, names[answer.stance])
        for answer in answers
    ]
    width = len(header) - are_implied
    return header[:width], [row[:width] for row in rows]


def stance_words(answers: Iterable[PartyAnswer]) -> str:
    """Return the words that were read as each stance, with their counts.

    For example `agree from ja, eher ja (12); neutral from …`.
    """
    counts_by_stance = {
        stance: Counter(plain_word(answer.answer) for answer in answers if answer.stance == stance)
        for stance in STANCES.values()
    }
    phrases = []
    for name, stance in STANCES.items():
        if counts := counts_by_stance[stance]:
            remainder = (
                f" and {len(counts) - MOST_WORDS:,} more" if len(counts) > MOST_WORDS else ""
            )
            words = ", ".join(word for word, _ in counts.most_common(MOST_WORDS))
            phrases.append(f"{name} from {words}{remainder} ({counts.total():,})")
    return "; ".join(phrases)


def read_survey(
    path: Path, statements: tuple[Statement, ...], findings: Findings
) -> tuple[SurveyAnswer, ...]:
    """Return the answers of `survey.csv`: people's answers to single wordings."""
    wordings = {
        (statement.ref, str(wording.variant))
        for statement in statements
        for wording in statement.wordings
    }
    refs = {statement.ref for statement in statements}
    seen: dict[Hashable, int] = {}
    answers = []
    for row in rows_if_there(path, findings, ("respondent", "ref", "variant", "answer")):
        ref, variant = row.get("ref"), row.get("variant")
        is_valid, agrees = choice(row, "answer", findings, YES_NO)
        is_valid &= _has_valid_value(row, "ref", refs, findings)
        if ref in refs and (ref, variant) not in wordings:
            available = ", ".join(
                name for wording_ref, name in sorted(wordings) if wording_ref == ref
            )
            findings.add(
                path, row.line, "variant", repr(variant), f"a wording of {ref!r}: {available}"
            )
        elif is_valid & is_new(
            seen, (row.get("respondent"), ref, variant), row, "variant", findings
        ):
            answers.append(
                SurveyAnswer(row.get("respondent"), ref, VariantId.parse(variant), bool(agrees))
            )
    return tuple(answers)


def rows_if_there(
    path: Path,
    findings: Findings,
    required: tuple[str, ...],
    more: tuple[str, ...] = (),
    may_be_empty: tuple[str, ...] = (),
) -> list[Row]:
    """Return the rows of an optional file of an instrument."""
    if not path.exists():
        return []
    return read_rows(
        path, findings, required=required, optional=more, may_be_empty=may_be_empty, guarded=True
    )


def _has_valid_value(
    row: Row, column: str, valid_values: Collection[str], findings: Findings
) -> bool:
    """Return whether a cell has one of the valid values. Others are noted."""
    if row.get(column) in valid_values or not row.get(column):  # an empty cell was noted before
        return bool(row.get(column))
    subject = "statement" if column == "ref" else column
    findings.add(
        row.file,
        row.line,
        column,
        repr(row.get(column)),
        f"the {subject} as the instrument names it",
    )
    return False
