"""What auditors ruled, and which of it is shown beside a thing in sight."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.keys import text_key
from workbench.domain.statements import VariantKind
from workbench.tui.rulings.dialog import said

if TYPE_CHECKING:
    from stores.annotation.rulings import Giver
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling

DIGITS = 8
"of a key in a name, as `stores.annotation.rulings` has it"
VARIANTS = frozenset(kind.value for kind in VariantKind)


@dataclass(frozen=True, slots=True)
class RuledPlace:
    """Where the cursor stands, in the words that name it."""

    instruments: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    "names of a statement, a wording, a template and an order of labels among others"
    keys: tuple[str, ...] = ()
    "keys of multiple-choice questions, where these are not refs"
    probe: int = 0
    "rowid; 0: none is meant"
    text: str | None = None
    "of an answer"
    version: int = 0
    "of the statement; 0: the one that was asked last"
    language: str = ""
    "of the wording, where a statement has it in several; empty: any"
    prompt: bytes = b""
    "key; empty: none is meant"
    answer: bytes = b""
    "key of the text of an answer to it"
    runs: tuple[Run, ...] = ()
    "whose answers are meant; empty: anybody's"
    model: str = ""
    "key of the model whose answers are meant; empty: that of `runs`"


@dataclass(frozen=True, slots=True)
class Stands:
    """A ruling that stands."""

    instrument: str
    name: str
    "of what it is about"
    line: str
    "who ruled what, and why"
    ref: str = ""
    "of the statement that it is about, or that what it is about belongs to; it may hold slashes"
    probes: frozenset[int] = frozenset()
    "rowids of the probes that put what it is about"
    answer: str = ""
    "first digits of the key of the answer that it is about; empty: of no single answer"
    givers: frozenset[Giver] = frozenset()
    "who gave that answer"
    model_id: int | None = None
    "rowid of the model that it applies to alone; None: it applies to all models"

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of what it is about, from the statement down."""
        if not self.ref:
            return tuple(self.name.split("/"))
        below = self.name.removeprefix(self.ref).strip("/")
        return (self.ref, *below.split("/")) if below else (self.ref,)

    def concerns(self, place: RuledPlace) -> bool:
        """Return whether it is about one of the instruments of a place, and about no answer that
        others gave.
        """
        if self.instrument not in place.instruments:
            return False
        if place.runs and not any(map(self.applies, place.runs)):
            return False
        return not (self.answer and place.runs) or any(
            one.is_of(run) for one in self.givers for run in place.runs
        )

    def applies(self, run: Run | None) -> bool:
        """Return whether it applies to the model of a run; None: to any model."""
        return run is None or self.model_id in (None, run.model_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """The rulings that stand in a store."""

    every: tuple[Stands, ...] = ()

    def on_answer(self, probe: int, text: str, run: Run | None = None) -> tuple[str, ...]:
        """Return what was ruled on an answer to the prompt of a probe, on the prompt, its wording
        and its statement.

        run : whose answer it is; None: anybody's
        """
        answer = text_key(text).hex()[:DIGITS]
        here = (one for one in self.every if probe in one.probes and one.answer in ("", answer))
        return tuple(one.line for one in here if one.applies(run))

    def counts(self, instrument: str) -> Counter[str]:
        """Return how many rulings stand on each statement of an instrument and on what is below
        it.
        """
        return Counter(one.ref for one in self.every if one.instrument == instrument)

    def at(self, place: RuledPlace) -> tuple[str, ...]:
        """Return what was ruled on the statement that a place names, on what is below it, or on its
        answer.
        """
        here = [(one, one.parts) for one in self.every if one.concerns(place)]
        if place.text is None:
            return tuple(
                _about(one, name, place.words) for one, name in here if _meant(name, place.words)
            )
        answer = text_key(place.text).hex()[:DIGITS]
        return tuple(
            one.line
            for one, name in here
            if one.answer == answer
            and (place.probe in one.probes if place.probe else name[0] in place.words)
        )


def _about(one: Stands, name: Sequence[str], words: Sequence[str]) -> str:
    """Return a ruling in a line, with the name of what it is about where that is only a part of
    what the row shows.
    """
    if set(name) <= set(words):
        return one.line
    from workbench.evidence.ruling_subjects import spoken

    return f"{one.line} · {spoken(one.name, one.ref)}"


def _meant(name: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether a row about these words is about a thing of this name, or about what it is
    part of.
    """
    return name[0] in words and (
        len(name) == 1
        or name[1] in words
        or not any(word.partition("-")[0] in VARIANTS for word in words)
    )


def standing_in(store: Store) -> Standing:
    """Return the rulings that stand in an open store."""
    from stores.annotation.rulings import Giver
    from workbench.evidence.ruling_subjects import placed

    def stands(ruling: Ruling) -> Stands:
        named = ruling.subject.named
        instrument, name = placed(store, ruling.subject, told_apart=False)
        answer = named.get("text", "")[:DIGITS]
        put = () if "statement" in named else store.ruled_things.prompts(key=named["prompt"])
        ref = named["statement"] if "statement" in named else put[0].ref if put else ""
        givers = (
            store.ruled_things.givers(named["prompt"], named["text"])
            if answer
            else frozenset[Giver]()
        )
        model = models.get(ruling.subject.model, 0) if ruling.subject.model else None
        probes = store.ruled_things.probes(named)
        return Stands(instrument, name, said(ruling), ref, probes, answer, givers, model)

    models = {row["key"].hex(): at for at, row in store.data_rows.models().items()}
    return Standing(tuple(stands(one) for of in store.rulings.standing().values() for one in of))
