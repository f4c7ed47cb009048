"""Forms of multiple-choice questions that are not written yet: what is wanted, what was made, and what cannot be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from workbench.domain.choices import Bias, ChoiceItem, Perturbation
from workbench.domain.counting import plural
from workbench.domain.seeds import SEED
from workbench.domain.statements import Statement, VariantId
from workbench.workshop.choice_forms import DONT_KNOW


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be made of questions."""

    bias: Bias | None = None
    "the changed form under this bias: a pair of its own for a question that stands under another"
    own: bool = False
    "the changed form under the bias that each question stands under, whichever that is"
    perturbations: tuple[Perturbation, ...] = ()
    draws: int = 1
    "of each perturbation, numbered from 1"
    seed: int = SEED
    middle: str | None = None
    "odd/even: the middle option of a scale of four"
    dont_know: str = DONT_KNOW
    "opinion float: the option that is added"
    language: str = ""
    "empty: the instrument's"

    @property
    def act(self) -> str:
        """What the history calls it: `made response_order, key_typo (3 draws, seed 7)`."""
        form = [self.bias.value] if self.bias is not None else ["changed form"] if self.own else []
        draws = f"{self.draws} draw{'' if self.draws == 1 else 's'}, seed {self.seed}"
        errors = [f"{', '.join(self.perturbations)} ({draws})"] if self.perturbations else []
        return f"made {', '.join([*form, *errors])}"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A wording that is not written yet."""

    ref: str
    "of the statement that it is a wording of"
    variant: VariantId
    before: str
    "the text that it was made from"
    text: str
    author: str | None
    "how it came about: `workbench key_typo, seed 7, draw 2`; of an original that is taken over, who wrote that"
    words: tuple[tuple[str, str], ...] = ()
    "(before, after) of each word with a typo"
    remarks: tuple[str, ...] = ()
    "what is worth a look, in sentences"
    held: str | None = None
    "what stands there now, in other words"
    of: str = ""
    "ref of the question that it was made of, where that is another statement"


@dataclass(frozen=True, slots=True)
class Refused:
    """What cannot be made of a question."""

    ref: str
    what: str
    "`response_order`, `key_typo`"
    why: str


@dataclass(frozen=True, slots=True)
class Proposals:
    """What was made of the questions of an instrument; nothing of it is written yet."""

    instrument: str
    language: str
    wanted: Wanted
    made: tuple[Proposal, ...]
    refused: tuple[Refused, ...]
    there: int
    "forms that stand there already: in these words, or written by somebody where none can be made"
    seen: Mapping[str, Statement]
    "the statements that were looked at"
    new: Mapping[str, tuple[Statement, ChoiceItem]] = field(default_factory=dict)
    "ref -> a pair that is no statement yet, without its wordings"
    under: Mapping[str, ChoiceItem] = field(default_factory=dict)
    "ref -> what a statement becomes that is there and stands under no bias yet"

    @property
    def replacing(self) -> tuple[Proposal, ...]:
        """Those that another text would go for."""
        return tuple(one for one in self.made if one.held is not None)

    def describe(self) -> str:
        """Return a summary of what was made and what was left out."""
        refs = len({one.ref for one in self.made})
        forms = f"{plural(len(self.made), 'form')} of {plural(refs, 'question')}"
        parts = [forms if self.made else "no new form"]
        if self.new:
            parts.append(f"{plural(len(self.new), 'question')} would be new")
        parts += [f"{ref} would get the bias {item.bias}" for ref, item in self.under.items()]
        if self.replacing:
            parts.append(f"{len(self.replacing):,} would replace an existing text")
        if self.there:
            parts.append(f"{self.there:,} {'exists' if self.there == 1 else 'exist'} already")
        lines = ["; ".join(parts)]
        whys = Counter((one.what, one.why) for one in self.refused)
        lines += [f"{what}, {plural(n, 'question')} left out: {why}" for (what, why), n in whys.most_common()]
        return "\n".join(lines)
