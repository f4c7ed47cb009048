"""Labels and answers of people to the statements of a folder: annotators, parties and respondents."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping
from pathlib import Path

from workbench.domain.instruments import IssueLabel, Party, PartyAnswer, SurveyAnswer
from workbench.domain.statements import Statement, VariantId
from workbench.formats.about import IssueNames, note_twin
from workbench.formats.lines import LABELS
from workbench.formats.records import Findings
from workbench.formats.tabular import Row, choice, is_new, number, read_rows

ANSWERS: Mapping[str, int | None] = {
    "agree": 1,
    "rather agree": 1,
    "somewhat agree": 1,
    "strongly agree": 1,
    "completely agree": 1,
    "yes": 1,
    "disagree": -1,
    "rather disagree": -1,
    "somewhat disagree": -1,
    "strongly disagree": -1,
    "completely disagree": -1,
    "no": -1,
    "neutral": 0,
    "neither agree nor disagree": 0,
    "no opinion": None,
}
YES_NO: Mapping[str, int | None] = {"agree": 1, "yes": 1, "1": 1, "disagree": 0, "no": 0, "0": 0}


def read_issue_labels(
    path: Path, refs: Collection[str], issues: Collection[str], taken: Collection[IssueLabel], findings: Findings
) -> list[IssueLabel]:
    """Return the labels of `issue_labels.csv`, in the order of the file; empty cells are not labels.

    `issues`: the allowed names; empty if the instrument lists none, so that the file decides.
    `taken`: labels given in `statements.csv`, which the same annotator must not repeat.
    """
    labels = []
    held = {(label.statement, label.issue, label.annotator) for label in taken}
    seen: dict[Hashable, int] = {}
    names = IssueNames()
    for row in rows_if_there(path, findings, ("ref", "issue", "annotator", "label"), may_be_empty=("label",)):
        good, label = choice(row, "label", findings, {"": None, **LABELS})
        twin = None if issues else names.twin(row.get("issue"))
        if twin is not None:
            note_twin(path, row.line, "issue", row.get("issue"), twin, findings)
        good &= _known(row, "ref", refs, findings)
        good &= not issues or _known(row, "issue", issues, findings)
        key = (row.get("ref"), row.get("issue"), row.get("annotator"))
        if key in held:
            findings.add(path, row.line, "annotator", f"{key[2]!r}", "another name: statements.csv has this label")
        elif good & is_new(seen, key, row, "ref", findings) and label is not None:
            labels.append(IssueLabel(*key, label))
    return labels


def read_parties(path: Path, findings: Findings) -> tuple[Party, ...]:
    """Return the parties of `parties.csv`; position is 0 left to 10 right, or empty."""
    seen: dict[Hashable, int] = {}
    parties = []
    for row in rows_if_there(path, findings, ("country", "party"), ("position",)):
        position = number(row, "position", findings, low=0, high=10)
        key = (row.get("country"), row.get("party"))
        if is_new(seen, key, row, "party", findings):
            parties.append(Party(*key, position))
    return tuple(parties)


def read_party_answers(
    path: Path, refs: Collection[str], parties: tuple[Party, ...], findings: Findings
) -> tuple[PartyAnswer, ...]:
    """Return the answers of `party_answers.csv`. If `parties` is empty, any party may answer."""
    listed = {(party.country, party.name) for party in parties}
    seen: dict[Hashable, int] = {}
    answers = []
    for row in rows_if_there(path, findings, ("country", "party", "ref", "answer")):
        key = (row.get("country"), row.get("party"), row.get("ref"))
        good, stance = choice(row, "answer", findings, ANSWERS)
        good &= _known(row, "ref", refs, findings)
        if listed and key[:2] not in listed:
            findings.add(path, row.line, "party", f"{key[1]!r} of {key[0]!r}", "a party of parties.csv")
        elif good & is_new(seen, key, row, "ref", findings):
            answers.append(PartyAnswer(*key, row.get("answer"), stance))
    return tuple(answers)


def read_survey(path: Path, statements: tuple[Statement, ...], findings: Findings) -> tuple[SurveyAnswer, ...]:
    """Return the answers of `survey.csv`: people's answers to single wordings."""
    wordings = {(s.ref, str(w.variant)) for s in statements for w in s.wordings}
    refs = {statement.ref for statement in statements}
    seen: dict[Hashable, int] = {}
    answers = []
    for row in rows_if_there(path, findings, ("respondent", "ref", "variant", "answer")):
        ref, variant = row.get("ref"), row.get("variant")
        good, agrees = choice(row, "answer", findings, YES_NO)
        good &= _known(row, "ref", refs, findings)
        if ref in refs and (ref, variant) not in wordings:
            there = ", ".join(name for of, name in sorted(wordings) if of == ref)
            findings.add(path, row.line, "variant", repr(variant), f"a wording of {ref!r}: {there}")
        elif good & is_new(seen, (row.get("respondent"), ref, variant), row, "variant", findings):
            answers.append(SurveyAnswer(row.get("respondent"), ref, VariantId.parse(variant), bool(agrees)))
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
    return read_rows(path, findings, required=required, optional=more, may_be_empty=may_be_empty, guarded=True)


def _known(row: Row, column: str, known: Collection[str], findings: Findings) -> bool:
    if row.get(column) in known or not row.get(column):  # an empty cell was noted before
        return bool(row.get(column))
    what = "statement" if column == "ref" else column
    findings.add(row.file, row.line, column, repr(row.get(column)), f"a {what} that the instrument has")
    return False
