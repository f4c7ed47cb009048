"""Codebooks, the labels that people give by them, adjudications, and descriptions of people."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b

from workbench.domain.keys import content_key
from workbench.domain.readings import STANCES
from workbench.errors import UsageError


class LabelSubject(StrEnum):
    """The kind of thing that is labelled."""

    RESPONSE = "response"
    "a model's answer, beside the statement that it was given"
    STATEMENT = "statement"
    "a wording of a statement by itself"


class Purpose(StrEnum):
    """The use of a queue's labels."""

    TRAINING = "training"
    TEST = "test"
    CHECK = "check"
    "people check labels that a model or a publication gave"


PURPOSES = tuple(purpose.value for purpose in Purpose)


@dataclass(frozen=True, slots=True)
class LabelOption:
    """One label that may be given."""

    label: str
    key: str
    "the one key that gives it: a lower-case letter or a digit"
    meaning: str
    "one sentence for the guideline"


@dataclass(frozen=True, slots=True)
class Codebook:
    """The question, its possible answers, and the guideline for decisions."""

    name: str
    title: str
    question: str
    subject: LabelSubject
    options: tuple[LabelOption, ...]
    guideline: str
    ordinal: tuple[str, ...] = ()
    """labels that have an order, from low to high

    The others stay out of ordinal coefficients.
    """

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(option.label for option in self.options)

    @property
    def key(self) -> bytes:
        return content_key(
            {
                "name": self.name,
                "question": self.question,
                "subject": self.subject.value,
                "options": [[option.label, option.key, option.meaning] for option in self.options],
                "guideline": self.guideline,
                "ordinal": list(self.ordinal),
            }
        )


def change_fault(before: Codebook, after: Codebook) -> str:
    """Return the reason why a codebook cannot become another version.

    It is an empty string if it can.
    """
    if (after.name, after.subject) != (before.name, before.subject):
        return (
            f"found the codebook {after.name!r} of a {after.subject}; this is {before.name!r} "
            f"of a {before.subject}"
        )
    if dropped := [label for label in before.labels if label not in after.labels]:
        return (
            f"the label{'s' if len(dropped) > 1 else ''} {', '.join(dropped)} would be gone, and "
            "labels were given under these names; keep every label, and change its meaning"
        )
    if set(before.labels) == set(STANCES) and len(after.labels) > len(before.labels):
        return (
            f"classifiers and figures know the labels {', '.join(STANCES)} alone: what was "
            "labelled otherwise would "
            "count nowhere; say in the guideline and the meanings which of them a case is"
        )
    return (
        ""
        if after.key != before.key
        else f"nothing differs from the codebook {before.name} as it is"
    )


class DisagreementReason(StrEnum):
    """The reason of a disagreement of annotators, in the opinion of the adjudicator."""

    SLIP = "slip"
    "one of them pressed the wrong key or misread"
    AMBIGUOUS = "ambiguous"
    "the text supports both"
    GUIDELINE = "guideline"
    "the guideline does not say"
    CONTEXT = "context"
    "the statement has to be known to decide"
    HEDGED = "hedged"
    "the response takes both sides before it decides"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class ItemLabels:
    """The current labels of one item, one from each person."""

    item: int
    labels: Mapping[str, str]
    "annotator -> label"
    groups: tuple[tuple[str, str], ...] = ()
    """groups of the item

    Such as ('dimension', 'economic'), ('issue', 'law_and_order'), ('statement', 'eco-01').
    """


class EventKind(StrEnum):
    """The kind of an event in a label file."""

    LABEL = "label"
    ADJUDICATION = "adjudication"
    REMARK = "remark"


@dataclass(frozen=True, slots=True)
class LabelEvent:
    """A person's label, decision or note on a text, as label files and other stores have it.

    Events are never changed: a changed mind is a later event. By its `uid` a store knows whether it
    has an event already.
    """

    uid: bytes
    kind: EventKind
    codebook: str
    annotator: str
    response: str
    statement: str
    "the wording that was answered"
    instrument: str
    ref: str
    variant: str
    language: str
    label: str | None = None
    "None if it is withdrawn, or a remark"
    reason: str = ""
    note: str = ""
    flagged: bool = False
    confidence: float | None = None
    elapsed_ms: int | None = None
    at: str = ""
    "UTC, or an empty string if nobody knows"
    imported_at: str = ""
    """time of its import into the first store, in UTC

    It orders a label without a time among others.
    """
    basis: bytes | None = None
    "key of the labels that an adjudication decided on"
    attention: bool = False
    "whether it is about an item whose label was known"
    codebook_key: bytes | None = None
    "the version of the codebook of the label, or None for the one that counts at the import"
    line: int = 0
    "line of the file, or 0 if it is not from a file"

    @property
    def ordered_at(self) -> str:
        """The time by which it is ordered among others.

        It is an empty text before its first import.
        """
        return self.at or self.imported_at


FIELDS: Mapping[str, str] = {
    "age_group": "in bands, so that nobody is known by it: 18-29, 30-44",
    "gender": "as the person says it",
    "education": "highest level: bachelor's, master's",
    "field_of_study": "or of work: political science",
    "country": "where the person comes from",
    "residence": "where the person lives",
    "mother_tongue": "first language, or several",
    "political_leaning": "as the person places themselves: left, center, right, or a number of a "
    "scale",
    "experience": "with the task: trained annotator, student, author of the study",
    "recruited": "how the person was found: volunteers, a panel, colleagues",
    "paid": "whether, and how much",
}
"""fields that studies report of their annotators, with their meanings

Ceron et al. 2024, Tables 5 and 6: country, mother tongue, education. Fields of other names may be
added.
"""
LONGEST_NAME, LONGEST = 40, 200
"most characters of a field's name, and of its value"
FEW = 3
"number of people with the same value below which the value may reveal them"


@dataclass(frozen=True, slots=True)
class FieldEvent:
    """A change to the description of a person.

    A value of None withdraws the field.
    """

    uid: bytes
    person: str
    field: str
    value: str | None
    by: str
    at: str


@dataclass(frozen=True, slots=True)
class Described:
    """A person of a store."""

    name: str
    roles: tuple[str, ...]
    "annotator, respondent"
    fields: Mapping[str, str]
    pseudonym: str


def field_name(text: str) -> str:
    """Return a field's name in normal form: `Age group` is `age_group`.

    Raises UsageError.
    """
    name = "_".join(text.strip().casefold().replace("-", " ").split())
    if (
        not name
        or len(name) > LONGEST_NAME
        or not all(character.isalnum() or character == "_" for character in name)
    ):
        raise UsageError(
            f"found the field {text!r}; give letters, digits and _, such as {next(iter(FIELDS))}"
        )
    return name


def field_value(name: str, text: str) -> str | None:
    """Return the content of a field on one line, or None if it is empty.

    Raises UsageError.
    """
    value = " ".join(unicodedata.normalize("NFC", text).split())
    if len(value) > LONGEST:
        raise UsageError(f"{name}: found {len(value)} characters; give at most {LONGEST}")
    hidden = [character for character in value if not character.isprintable()]
    if hidden:
        escaped = hidden[0].encode("unicode_escape").decode("ascii")
        raise UsageError(f"{name}: found {escaped}, which does not show; leave it out")
    return value or None


def pseudonym(person: str, store: bytes) -> str:
    """Return the pseudonym of a name in files.

    It is constant within a store, and different in another store. With the store one can find the
    name behind it, and with the file alone one cannot.

    Examples
    --------
    >>> pseudonym("ana", b"1") == pseudonym("ana", b"1") != pseudonym("ana", b"2")
    True
    """
    return f"p-{blake2b(person.encode(), key=store[:64], digest_size=8).hexdigest()}"
