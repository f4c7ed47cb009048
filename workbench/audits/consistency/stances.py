"""Who takes which stance on which statement, and what these stances are compared with.

A *respondent* is a model, of which only reliable stances count (Ceron et al. 2024, section 7: "We only include
statements that pass all reliability tests"), one of the two baselines, a party, or a person who answered the survey.
Stances are compared with the *party positions* of an instrument: the parties' answers to its statements, and the
policy-issue labels of these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
import numpy.typing as npt

from workbench.audits.codes import PASS, conjunction
from workbench.audits.reliability.counts import PRINTED
from workbench.audits.reliability.judge import Report
from workbench.domain.instruments import Instrument, Party, SurveyAnswer
from workbench.domain.issue_gold import Labels
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.errors import UnknownName
from workbench.stats.arrays import BoolArray
from workbench.stats.units import MISSING

Signs = npt.NDArray[np.int8]

ALWAYS_AGREE, ALWAYS_DISAGREE = "always agree", "always disagree"
"names of the baselines (section 7.1)"


class Family(StrEnum):
    """Where a party stands from left to right: "parties below 4 are considered left, between 4 and 6 are referred to as
    center and the remaining ones are right" (appendix A.4).
    """

    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


FAMILIES = tuple(Family)


def family(party: Party) -> Family | None:
    """Return the family of a party; None where no expert placed it."""
    if party.position is None:
        return None
    return Family.LEFT if party.position < 4 else Family.RIGHT if party.position > 6 else Family.CENTER


class Kind(StrEnum):
    """What a respondent is."""

    MODEL = "model"
    BASELINE = "baseline"
    PARTY = "party"
    PERSON = "person"


@dataclass(frozen=True, eq=False)
class Stances:
    """The stances of one respondent: T templates, S statements that it was asked."""

    name: str
    kind: Kind
    templates: tuple[str, ...]
    "T of them; a respondent that is no model has one, named after what it is"
    statements: tuple[str, ...]
    "refs, S of them: asked, whether or not there is a stance"
    values: Signs
    "+1 agrees, -1 disagrees, 0 has no (reliable) stance: (T, S)"
    asked: BoolArray | None = None
    "whether every prompt behind a stance was asked, so that its absence says something: (T, S). None: all were"

    def __post_init__(self) -> None:
        shape = (len(self.templates), len(self.statements))
        if self.values.shape != shape or not np.isin(self.values, (-1, 0, 1)).all():
            raise ValueError(f"expected stances -1, 0, 1 of shape {shape}, found shape {self.values.shape}")

    def on(self, statements: Sequence[str]) -> Stances:
        """Return the stances on these statements alone, in this order. All of them were asked."""
        place = {ref: at for at, ref in enumerate(self.statements)}
        columns = [place[ref] for ref in statements]
        return self._part(range(len(self.templates)), columns)

    def under(self, templates: Sequence[str]) -> Stances:
        """Return the stances under these templates alone, in this order."""
        return self._part([self.templates.index(name) for name in templates], range(len(self.statements)))

    def _part(self, rows: Sequence[int], columns: Sequence[int]) -> Stances:
        place = np.ix_(np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp))
        names = tuple(self.templates[at] for at in rows), tuple(self.statements[at] for at in columns)
        asked = None if self.asked is None else self.asked[place]
        return Stances(self.name, self.kind, *names, self.values[place], asked)

    @property
    def complete(self) -> frozenset[str]:
        """Statements of which everything was asked under every template."""
        if self.asked is None:
            return frozenset(self.statements)
        whole = np.logical_and.reduce(self.asked, axis=0)
        return frozenset(ref for ref, has in zip(self.statements, whole, strict=True) if has)

    @property
    def reliable(self) -> tuple[int, ...]:
        """Statements with a stance, per template."""
        return tuple(int(n) for n in np.count_nonzero(self.values, axis=1))


@dataclass(frozen=True, slots=True)
class Shared:
    """What the comparison of two respondents is over."""

    statements: int
    left_out: tuple[int, int]
    "statements of each that are not compared: the other was not asked, or not everything of them was"
    templates: tuple[str, ...] = ()
    "under which models are compared; empty where a respondent has its own, as people and parties have"
    without: tuple[str, ...] = ()
    "templates of one of them alone"

    def said(self, first: str, second: str) -> str:
        """Say it, without a full stop."""
        out = [f"{name} {n:,}" for name, n in zip((first, second), self.left_out, strict=True) if n]
        over = f"over the {plural(self.statements, 'statement')} asked of both"
        over += f", under {plural(len(self.templates), 'template')} that both have" if self.without else ""
        return f"{over}; left out: {', '.join(out)}" if out else f"{over}; none left out"


def matched(first: Stances, second: Stances) -> tuple[Stances, Stances, Shared]:
    """Return two respondents on the statements, and two models under the templates, of which both were asked all."""
    templates: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    pair = first, second
    if first.kind is second.kind is Kind.MODEL:
        templates = tuple(name for name in first.templates if name in second.templates)
        without = tuple(name for one in pair for name in one.templates if name not in templates)
        if templates:
            pair = first.under(templates), second.under(templates)
    both = pair[0].complete & pair[1].complete
    refs = tuple(ref for ref in first.statements if ref in both)
    left_out = len(first.statements) - len(refs), len(second.statements) - len(refs)
    return pair[0].on(refs), pair[1].on(refs), Shared(len(refs), left_out, templates, without)


@dataclass(frozen=True, eq=False)
class PartyPositions:
    """Parties' answers and policy-issue labels on S statements: P parties, I issues."""

    statements: tuple[str, ...]
    countries: tuple[str | None, ...]
    "of each statement; one without a country concerns the parties of all countries"
    parties: tuple[Party, ...]
    answers: Signs
    "+1 agrees, -1 disagrees, 0 neutral, MISSING no opinion or not asked: (P, S)"
    issues: tuple[str, ...]
    labels: Signs
    "+1 agreeing supports the issue, -1 disagreeing supports it, 0 not related or not labelled: (I, S)"

    @cached_property
    def concerns(self) -> BoolArray:
        """Whether a statement is of the party's country: (P, S)."""
        of_party = np.array([party.country for party in self.parties], dtype=object)
        of_statement = np.array(self.countries, dtype=object)
        everywhere = np.array([country is None for country in self.countries], dtype=np.bool_)
        return np.asarray((of_party[:, None] == of_statement[None, :]) | everywhere[None, :], dtype=np.bool_)

    @cached_property
    def families(self) -> tuple[Family | None, ...]:
        """Of each party; None where it is not placed."""
        return tuple(family(party) for party in self.parties)

    def on(self, statements: Sequence[str]) -> PartyPositions:
        """Return what is known of these statements, in this order; of those that are not here, nothing."""
        place = {ref: at for at, ref in enumerate(self.statements)}
        found = [place.get(ref, -1) for ref in statements]
        columns, known = np.array(found, dtype=np.intp), np.array([at >= 0 for at in found], dtype=np.bool_)
        empty = not self.statements
        take = np.zeros((len(self.parties), len(found)), dtype=np.int8) if empty else self.answers[:, columns]
        label = np.zeros((len(self.issues), len(found)), dtype=np.int8) if empty else self.labels[:, columns]
        return PartyPositions(
            tuple(statements),
            tuple(self.countries[at] if at >= 0 else None for at in found),
            self.parties,
            np.where(known, take, MISSING).astype(np.int8),
            self.issues,
            np.where(known, label, 0).astype(np.int8),
        )

    def party(self, country: str, name: str) -> int:
        """Return the place of a party. Raises UnknownName."""
        for place, party in enumerate(self.parties):
            if (party.country, party.name) == (country, name):
                return place
        known = ", ".join(f"{party.country}/{party.name}" for party in self.parties[:12])
        raise UnknownName(f"there is no party {country}/{name}. Available: {known or 'none'}")

    def issue(self, name: str) -> int:
        """Return the place of a policy issue. Raises UnknownName."""
        if name not in self.issues:
            raise UnknownName(f"there is no policy issue {name!r}. Available: {', '.join(self.issues) or 'none'}")
        return self.issues.index(name)


def party_positions(instrument: Instrument, labels: Labels) -> PartyPositions:
    """Return what the current statements of an instrument can be compared with.

    `labels` of statements or issues that the instrument does not have are left out; answers of a party on a statement
    of another country are kept and never counted.
    """
    statements = tuple(statement.ref for statement in instrument.statements)
    place = {ref: at for at, ref in enumerate(statements)}
    row = {(party.country, party.name): at for at, party in enumerate(instrument.parties)}
    answers = np.full((len(instrument.parties), len(statements)), MISSING, dtype=np.int8)
    for given in instrument.party_answers:
        at = row.get((given.country, given.party)), place.get(given.statement)
        if given.stance is not None and at[0] is not None and at[1] is not None:
            answers[at[0], at[1]] = given.stance
    issues = instrument.issues or tuple(dict.fromkeys(issue for of in labels.values() for issue in of))
    table = np.zeros((len(issues), len(statements)), dtype=np.int8)
    for i, issue in enumerate(issues):
        for ref, at_statement in place.items():
            table[i, at_statement] = np.sign(labels.get(ref, {}).get(issue, 0))
    countries = tuple(statement.country for statement in instrument.statements)
    return PartyPositions(statements, countries, instrument.parties, answers, issues, table)


def reliable_stances(name: str, report: Report, tests: Sequence[str] | None = None) -> Stances:
    """Return a model's stances on the originals, printed label order, where it is reliable.

    Reliable under a template: the statement passes `all` there, that is, every test that the report's options name.
    `tests` names others; empty: every stance counts, however unreliable (Figure 7, "no tests").
    """
    values = report.originals[0][..., PRINTED]
    named = report.options.tests if tests is None else tuple(tests)
    if named:
        passed = conjunction(np.stack([report.verdicts(test) for test in named]), 0)
        values = np.where(passed == PASS, values, 0)
    counts = report.counts
    answered = counts.total > 0 if counts.failed is None else (counts.total > 0) | counts.failed
    asked = np.logical_and.reduce(answered | ~counts.exists[None, :, :, None], axis=(2, 3))
    return Stances(name, Kind.MODEL, counts.templates, counts.statements, values.astype(np.int8), asked)


def baselines(statements: Sequence[str]) -> tuple[Stances, Stances]:
    """Return the respondents that agree, and disagree, with every statement (section 7.1)."""
    one = np.ones((1, len(statements)), dtype=np.int8)
    agrees, disagrees = (
        Stances(name, Kind.BASELINE, ("baseline",), tuple(statements), values)
        for name, values in ((ALWAYS_AGREE, one), (ALWAYS_DISAGREE, -one))
    )
    return agrees, disagrees


def party_stances(positions: PartyPositions, place: int) -> Stances:
    """Return a party as a respondent: its own answers on the statements that concern it; neutral is no stance."""
    party, columns = positions.parties[place], np.flatnonzero(positions.concerns[place])
    answers = positions.answers[place, columns]
    values = np.where(answers == MISSING, 0, answers).astype(np.int8)
    refs = tuple(positions.statements[at] for at in columns)
    return Stances(f"{party.country}/{party.name}", Kind.PARTY, ("party",), refs, values[None, :])


def survey_stances(survey: Sequence[SurveyAnswer]) -> tuple[Stances, ...]:
    """Return the people who answered the survey as respondents: their answers to originals."""
    given: dict[str, dict[str, int]] = {}
    for answer in survey:
        if answer.variant == ORIGINAL:
            given.setdefault(answer.respondent, {})[answer.statement] = 1 if answer.agrees else -1
    return tuple(
        Stances(who, Kind.PERSON, ("survey",), tuple(of), np.array([list(of.values())], dtype=np.int8))
        for who, of in given.items()
    )
