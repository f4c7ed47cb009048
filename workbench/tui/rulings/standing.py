"""The rulings in force, and which of them are shown beside a visible object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from workbench.domain.keys import text_key
from workbench.domain.statements import VariantKind
from workbench.tui.rulings.dialog import ruling_line

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
class RulingInForce:
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

    rulings: tuple[RulingInForce, ...] = ()

    def on_answer(self, probe: int, text: str, run: Run | None = None) -> tuple[str, ...]:
        """Return the rulings on an answer to a probe, on its prompt, wording and statement.

        With a run, only those that apply to the model of the run.
        """
        answer = text_key(text).hex()[:DIGITS]
        matching = (
            ruling
            for ruling in self.rulings
            if probe in ruling.probes and ruling.answer in ("", answer)
        )
        return tuple(ruling.line for ruling in matching if ruling.applies(run))

    def counts(self, instrument: str) -> Counter[str]:
        """Return the number of rulings in force on each statement of an instrument and below it."""
        return Counter(ruling.ref for ruling in self.rulings if ruling.instrument == instrument)

    def on_place(self, place: RuledPlace) -> tuple[str, ...]:
        """Return the rulings on the statement of a place and below it, or on its answer."""
        concerning = [(ruling, ruling.parts) for ruling in self.rulings if ruling.concerns(place)]
        if place.text is None:
            return tuple(
                _line_of(ruling, name, place.words)
                for ruling, name in concerning
                if _names_object(name, place.words)
            )
        answer = text_key(place.text).hex()[:DIGITS]
        return tuple(
            ruling.line
            for ruling, name in concerning
            if ruling.answer == answer
            and (place.probe in ruling.probes if place.probe else name[0] in place.words)
        )


def _line_of(ruling: RulingInForce, name: Sequence[str], words: Sequence[str]) -> str:
    """Return a ruling in a line, with the name of its object if that is only part of the row."""
    if set(name) <= set(words):
        return ruling.line
    from workbench.evidence.ruling_subjects import display_name

    return f"{ruling.line} · {display_name(ruling.name, ruling.ref)}"


def _names_object(name: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the words of a row name an object, or something that contains it."""
    if name[0] not in words:
        return False
    if len(name) == 1 or name[1] in words:
        return True
    return not any(word.partition("-")[0] in VARIANTS for word in words)


def standing_in(store: Store) -> Standing:
    """Return the rulings in force in an open store."""
    model_ids = {row["key"].hex(): model_id for model_id, row in store.data_rows.models().items()}
    return Standing(
        tuple(
            _in_force(store, ruling, model_ids)
            for rulings in store.rulings.standing().values()
            for ruling in rulings
        )
    )


def _in_force(store: Store, ruling: Ruling, model_ids: Mapping[str, int]) -> RulingInForce:
    """Return a ruling with the place of its object. `model_ids`: rowids of models by key."""
    from stores.annotation.rulings import AnswerSource
    from workbench.evidence.ruling_subjects import locate_subject

    subject, named = ruling.subject, ruling.subject.named
    instrument, name = locate_subject(store, subject, told_apart=False)
    ref = _ref(store, named)
    answer = named.get("text", "")[:DIGITS]
    givers = frozenset[AnswerSource]()
    if answer:
        givers = store.ruled_things.givers(named["prompt"], named["text"])
    return RulingInForce(
        instrument,
        name,
        ruling_line(ruling),
        ref=ref,
        probes=store.ruled_things.probes(named),
        answer=answer,
        givers=givers,
        model_id=model_ids.get(subject.model, 0) if subject.model else None,
    )


def _ref(store: Store, named: Mapping[str, str]) -> str:
    """Return the ref of the statement that a ruling is about, or an empty string if unknown."""
    if "statement" in named:
        return named["statement"]
    prompts = store.ruled_things.prompts(key=named["prompt"])
    return prompts[0].ref if prompts else ""
