"""Who annotates and who answers: fields that a person may fill in, all optional, and what stands for a name."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

from workbench.errors import UsageError

FIELDS: Mapping[str, str] = {
    "age_group": "in bands, so that nobody is known by it: 18-29, 30-44",
    "gender": "as the person says it",
    "education": "highest level: bachelor's, master's",
    "field_of_study": "or of work: political science",
    "country": "where the person comes from",
    "residence": "where the person lives",
    "mother_tongue": "first language, or several",
    "political_leaning": "as the person places themselves: left, center, right, or a number of a scale",
    "experience": "with the task: trained annotator, student, author of the study",
    "recruited": "how the person was found: volunteers, a panel, colleagues",
    "paid": "whether, and how much",
}
"""What studies report of their annotators (Ceron et al. 2024, Tables 5 and 6: country, mother tongue, education), with
what each means. Fields of other names may be added."""
LONGEST_NAME, LONGEST = 40, 200
"characters of a field's name, and of what it holds"
FEW = 3
"people who share a value: where there are fewer, it may tell who they are"


@dataclass(frozen=True, slots=True)
class FieldEvent:
    """What somebody said of a person; a value that is None takes the field back."""

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
    """Return a field's name in normal form: `Age group` is `age_group`. Raises UsageError."""
    name = "_".join(text.strip().casefold().replace("-", " ").split())
    if not name or len(name) > LONGEST_NAME or not all(c.isalnum() or c == "_" for c in name):
        raise UsageError(f"found the field {text!r}; give letters, digits and _, such as {next(iter(FIELDS))}")
    return name


def field_value(name: str, text: str) -> str | None:
    """Return the content of a field on one line; None if it is empty. Raises UsageError."""
    value = " ".join(unicodedata.normalize("NFC", text).split())
    if len(value) > LONGEST:
        raise UsageError(f"{name}: found {len(value)} characters; give at most {LONGEST}")
    hidden = [character for character in value if not character.isprintable()]
    if hidden:
        shown = hidden[0].encode("unicode_escape").decode("ascii")
        raise UsageError(f"{name}: found {shown}, which does not show; leave it out")
    return value or None


def pseudonym(person: str, store: bytes) -> str:
    """Return the pseudonym of a name in files: constant within a store, different in another store.

    Whoever has the store can find the name behind it; whoever has the file alone cannot.

    Examples
    --------
    >>> pseudonym("ana", b"1") == pseudonym("ana", b"1") != pseudonym("ana", b"2")
    True
    """
    return f"p-{blake2b(person.encode(), key=store[:64], digest_size=8).hexdigest()}"
