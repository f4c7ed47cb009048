"""The rulings in force, and which of them are shown beside a visible object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.keys import text_key
from workbench.domain.statements import VariantKind
from workbench.tui.rulings.dialog import said

if TYPE_CHECKING:
    from stores.annotation.rulings import AnswerSource
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling

DIGITS = 8
"number of digits of a key in a name, as in `stores.annotation.rulings`"
VARIANTS = frozenset(kind.value for kind in VariantKind)


@dataclass(frozen=True, slots=True)
class RuledPlace:
    """The place of the cursor, by the names on the screen."""

    instruments: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    "names of a statement, a wording, a template and an order of labels, among others"
    keys: tuple[str, ...] = ()
    "keys of multiple-choice questions, if these are not refs"
    probe: int = 0
    "rowid, or 0 without a probe"
    text: str | None = None
    "text of an answer"
    version: int = 0
    "version of the statement, or 0 for the one that was asked last"
    language: str = ""
    "language of the wording, or empty for any"
    prompt: bytes = b""
    "key of the prompt, or empty without one"
    answer: bytes = b""
    "key of the text of an answer to it"
    runs: tuple[Run, ...] = ()
    "runs of the answers, or empty for all"
    model: str = ""
    "key of the model that answered, or empty for that of `runs`"


@dataclass(frozen=True, slots=True)
class Stands:
    """A ruling in force."""

    instrument: str
    name: str
    "name of its object"
    line: str
    "auditor, verdict and reason"
    ref: str = ""
    "ref of the object's statement; it may contain slashes"
    probes: frozenset[int] = frozenset()
    "rowids of the probes of its object"
    answer: str = ""
    "first digits of the key of the answer, or empty without a single answer"
    givers: frozenset[AnswerSource] = frozenset()
    "models and runs that gave that answer"
    model_id: int | None = None
    "rowid of the only model that it applies to, or None for all models"

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its object, from the statement down."""
        if not self.ref:
            return tuple(self.name.split("/"))
        subpath = self.name.removeprefix(self.ref).strip("/")
        return (self.ref, *subpath.split("/")) if subpath else (self.ref,)

    def concerns(self, place: RuledPlace) -> bool:
        """Return whether it concerns an instrument of a place, and no answer of other runs."""
        if self.instrument not in place.instruments:
            return False
        if place.runs and not any(map(self.applies, place.runs)):
            return False
        return not (self.answer and place.runs) or any(
            giver.is_of(run) for giver in self.givers for run in place.runs
        )

    def applies(self, run: Run | None) -> bool:
        """Return whether it applies to the model of a run. It applies to None in any case."""
        return run is None or self.model_id in (None, run.model_id)


@dataclass(frozen=True, slots=True)
class Standing:
    """The rulings in force in a store."""

    every: tuple[Stands, ...] = ()

    def on_answer(self, probe: int, text: str, run: Run | None = None) -> tuple[str, ...]:
        """Return the rulings on an answer to a probe, on its prompt, wording and statement.

        With a run, only those that apply to the model of the run.
        """
        answer = text_key(text).hex()[:DIGITS]
        matching = (
            ruling
            for ruling in self.every
            if probe in ruling.probes and ruling.answer in ("", answer)
        )
        return tuple(ruling.line for ruling in matching if ruling.applies(run))

    def counts(self, instrument: str) -> Counter[str]:
        """Return the number of rulings in force on each statement of an instrument and below it."""
        return Counter(ruling.ref for ruling in self.every if ruling.instrument == instrument)

    def at(self, place: RuledPlace) -> tuple[str, ...]:
        """Return the rulings on the statement of a place and below it, or on its answer."""
        concerning = [(ruling, ruling.parts) for ruling in self.every if ruling.concerns(place)]
        if place.text is None:
            return tuple(
                _about(ruling, name, place.words)
                for ruling, name in concerning
                if _meant(name, place.words)
            )
        answer = text_key(place.text).hex()[:DIGITS]
        return tuple(
            ruling.line
            for ruling, name in concerning
            if ruling.answer == answer
            and (place.probe in ruling.probes if place.probe else name[0] in place.words)
        )


def _about(one: Stands, name: Sequence[str], words: Sequence[str]) -> str:
    """Return a ruling in a line, with the name of its object if that is only part of the row."""
    if set(name) <= set(words):
        return one.line
    from workbench.evidence.ruling_subjects import spoken

    return f"{one.line} · {spoken(one.name, one.ref)}"


def _meant(name: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the words of a row name an object, or something that contains it."""
    return name[0] in words and (
        len(name) == 1
        or name[1] in words
        or not any(word.partition("-")[0] in VARIANTS for word in words)
    )


def standing_in(store: Store) -> Standing:
    """Return the rulings in force in an open store."""
    from stores.annotation.rulings import AnswerSource
    from workbench.evidence.ruling_subjects import placed

    def stands(ruling: Ruling) -> Stands:
        named = ruling.subject.named
        instrument, name = placed(store, ruling.subject, told_apart=False)
        answer = named.get("text", "")[:DIGITS]
        sent_prompts = (
            () if "statement" in named else store.ruled_things.prompts(key=named["prompt"])
        )
        ref = (
            named["statement"]
            if "statement" in named
            else sent_prompts[0].ref
            if sent_prompts
            else ""
        )
        givers = (
            store.ruled_things.givers(named["prompt"], named["text"])
            if answer
            else frozenset[AnswerSource]()
        )
        model = models.get(ruling.subject.model, 0) if ruling.subject.model else None
        probes = store.ruled_things.probes(named)
        return Stands(instrument, name, said(ruling), ref, probes, answer, givers, model)

    models = {row["key"].hex(): model_id for model_id, row in store.data_rows.models().items()}
    return Standing(
        tuple(stands(ruling) for rulings in store.rulings.standing().values() for ruling in rulings)
    )
