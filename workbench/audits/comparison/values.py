"""What an audit says of each run that is compared: its verdicts, item by item, and how the run was made.

An audit makes a `Side` of every run. Everything else (which items count, what changed, tests, tables) follows from it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from workbench.domain.names import plural
from workbench.domain.prompts import NONE
from workbench.domain.verdicts import Estimate
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.figures.table import AnyTable, Kind

if TYPE_CHECKING:
    from stores.runs.run_rows import Run

Item = str
"what one verdict is about, under the same name in every run: a statement's ref, a target, a person"
MODEL, VERSION, LANGUAGE, TEMPLATES, SAMPLING, NUMBERS, ENCODING = (
    *("model", "version", "language", "templates", "sampling", "numbers", "encoding"),
)
PERSONA = "persona"
"what runs are told apart by"
OF_THE_MODEL = frozenset({VERSION, NUMBERS, ENCODING})
"what belongs to a model: two models differ in it anyway"


@dataclass(frozen=True, slots=True)
class VerdictKind:
    """One kind of verdict, which every compared run has on every item."""

    name: str
    "for programs: `label_order`"
    title: str
    yes: str
    "the verdict whose share is compared: `pass`"
    no: str
    "the one that it is told from: `fail`. Any other verdict decides nothing"
    unit: str = "statement"
    "what an item is"
    tested: bool = True
    """whether items are a sample of what a claim is about, one answer each, so that pairs of verdicts can be tested.
    Cells of a matrix are not"""
    listed: bool = True
    "whether single items may be shown: what single people answered is not"

    @property
    def units(self) -> str:
        """Items, in the plural."""
        return plural(2, self.unit).partition(" ")[2]


@dataclass(frozen=True, slots=True)
class Judged:
    """A verdict on one item."""

    verdict: str
    asked: Hashable = None
    "what the model was asked about the item, its template and the language aside; equal where it can be compared"


@dataclass(frozen=True, slots=True)
class Side:
    """One run of a comparison."""

    name: str
    "tells it from all others of its audit"
    model: str
    factors: Mapping[str, str]
    "how it was made: model, version, language, templates, sampling, numbers, encoding"
    found: Mapping[str, Mapping[Item, Judged]]
    "name of a kind of verdict -> item -> verdict"
    last: str = ""
    "when it was answered last (UTC)"
    main: Estimate | None = None
    "the figure of the whole run that the audit is known for"


@dataclass(frozen=True, eq=False, slots=True)
class Compared:
    """All that a comparison is made of."""

    title: str
    kinds: Sequence[VerdictKind]
    sides: Sequence[Side]
    texts: Mapping[Item, str] = field(default_factory=dict)
    "item -> its original wording"
    main: str = ""
    "what `Side.main` is: `total bias`; empty: nothing"
    main_kind: Kind = Kind.SHARE
    differences: Sequence[Callable[[str, str], AnyTable]] = ()
    "what makes the audit's own tables of differences of estimates, second minus first or as they say, of two runs"
    left_out: Sequence[str] = ()
    "what of a run counts in no verdict here, in sentences: templates that another run was not asked"

    def __post_init__(self) -> None:
        if len(self.sides) < 2:
            raise UsageError("found one run to compare; give two or more")

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(side.name for side in self.sides)

    def side(self, name: str) -> Side:
        """Return a run by its name. Raises UnknownName."""
        for one in self.sides:
            if one.name == name:
                return one
        raise UnknownName(f"there is no compared run {name!r}. Available: {'; '.join(self.names)}")

    def kind(self, name: str) -> VerdictKind:
        """Return a kind of verdict by its name. Raises UnknownName."""
        for one in self.kinds:
            if one.name == name:
                return one
        raise UnknownName(f"there is no verdict {name!r}. Available: {', '.join(one.name for one in self.kinds)}")


def factors_of(run: Run) -> dict[str, str]:
    """Return what a run is told apart by, in words."""
    versions = (f"{one.name} version {one.version}" for one in run.versions if one.version and one.edited)
    return {
        MODEL: run.model,
        VERSION: run.version,
        LANGUAGE: run.language,
        TEMPLATES: ", ".join((run.family, *versions)),
        SAMPLING: str(run.sampling),
        NUMBERS: run.dtype,
        ENCODING: run.encoded,
        **({PERSONA: run.persona_name or NONE} if run.personas else {}),
    }


def differing(sides: Sequence[Side]) -> tuple[str, ...]:
    """Return in what runs differ, as far as is known; what belongs to a model is left out where the models differ."""
    factors = dict.fromkeys(name for side in sides for name in side.factors)
    found = [name for name in factors if len({side.factors.get(name, "") for side in sides} - {""}) > 1]
    return tuple(name for name in found if MODEL not in found or name not in OF_THE_MODEL)


def meant(names: Sequence[str], there: Mapping[str, str]) -> tuple[str, ...]:
    """Return the runs that a person names: each by its own name, or by its model's where that has one run alone.

    there : name of a run -> its model. Raises UsageError for fewer than two runs or one given twice, UnknownName and
    AmbiguousRun for a name that means none or several.
    """
    found = tuple(_meant(name, there) for name in names)
    if len(found) < 2:
        listed = "; ".join(there) or "none"
        raise UsageError(f"--compare was given {'; '.join(names) or 'nothing'}; give two or more runs from: {listed}")
    twice = [name for name in dict.fromkeys(found) if found.count(name) > 1]
    if twice:
        raise UsageError(
            f"--compare was given {twice[0]} twice; give two models, or two settings of one model, from: "
            f"{'; '.join(there)}"
        )
    return found


def _meant(name: str, there: Mapping[str, str]) -> str:
    if name in there:
        return name
    of = [run for run, model in there.items() if model == name]
    if len(of) > 1:
        raise AmbiguousRun(f"{name!r} was asked in {len(of)} ways; name one: {'; '.join(of)}")
    if not of:
        raise UnknownName(f"there is no run or model {name!r}. Available: {'; '.join(there) or 'none'}")
    return of[0]
