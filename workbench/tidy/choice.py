"""The choice of rows, and pseudonyms of people."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from stores.core.store import Store
from workbench import registry
from workbench.domain.issue_gold import ADJUDICATION, GOLD
from workbench.domain.people import pseudonym
from workbench.domain.personas import AXIS
from workbench.errors import UnknownName


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen part of a store. Without names: everything."""

    models: tuple[str, ...] = ()
    "as for `--model`: NAME, or NAME@REVISION"
    audits: tuple[str, ...] = ()
    instruments: tuple[str, ...] = ()
    expand: bool = False
    "one row per answer, instead of one row for all equal answers of a draw"
    names: bool = False
    "people by their names instead of pseudonyms"
    rulings: bool = True
    "whether auditors' rulings count in verdicts and figures"
    left_out: list[str] = field(default_factory=list, compare=False)
    "sentences on data left out, added while rows are read"

    def leave_out(self, sentence: str) -> None:
        """Record data left out; equal sentences are recorded once."""
        if sentence not in self.left_out:
            self.left_out.append(sentence.replace("..", "."))

    def check(self, store: Store) -> None:
        """Raise UnknownName for a name that the store lacks."""
        for name in self.audits:
            registry.audit(name)
        there = store.instruments.names()
        for name in self.instruments:
            if name not in there:
                raise UnknownName(
                    f"no instrument is named {name!r} in this store. Available: {', '.join(there) or 'none'}"
                )
        self.chosen(store)

    def chosen(self, store: Store) -> Collection[int]:
        """Return the chosen models (rowids). Raises UnknownName for one without answers."""
        answering = store.data_rows.answering()
        for name in self.models:
            if not store.runs.models([name]) or (name not in answering and name.partition("@")[0] not in answering):
                raise UnknownName(
                    f"the store has no answers by {name}. Models with answers: {', '.join(answering) or 'nobody'}"
                )
        return store.runs.models(self.models) if self.models else set(store.data_rows.models())


class People:
    """The names of people in rows: pseudonyms that are the same in all files of a store, or the names themselves.

    A pseudonym is a keyed hash (BLAKE2) of the name; the key is the store's identity, which no file contains. So the
    files alone do not allow anyone to find a name or test a guess, and the files of two stores cannot be linked.
    """

    def __init__(self, store: Store, *, names: bool):
        self._uid = store.data_rows.uid()
        self._names = names
        self._known: dict[str, str] = {}

    def called(self, name: str) -> str:
        """Return a person's name in files; names of labels that belong to no person are kept."""
        if self._names or name in (GOLD, ADJUDICATION):
            return name
        if name not in self._known:
            self._known[name] = pseudonym(name, self._uid)
        return self._known[name]

    def reader(self, kind: str, name: str) -> str:
        """Return a reader's name in files: rules and classifiers keep their names."""
        return self.called(name) if kind in BY_PEOPLE else name

    def axes(self, axes: Mapping[str, str]) -> tuple[str | None, dict[str, str]]:
        """Return the person that a prompt is about, and the other factors of its design."""
        person = axes.get(PERSON)
        rest = {name: value for name, value in axes.items() if name not in (PERSON, AXIS)}
        return None if person is None else self.called(person), rest


BY_PEOPLE = frozenset({"person", "adjudication", "import"})
PERSON = "respondent"
"axis of a probe: the person whose answers are in the prompt"
