"""The screen of annotators and respondents with their own descriptions, and a form for these."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Input

from workbench.domain.annotations import FIELDS, Described, field_value
from workbench.errors import UsageError
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.base import app_of
from workbench.tui.kit.edit_form import EditForm, row
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded, Opened

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

NOBODY = """Nobody has annotated or answered yet.

Here you can describe annotators and respondents: country, education and other fields, all optional."""  # noqa: E501
EXPLAIN = f"{section('screens-annotation', 'People')}\n\n" + "\n".join(
    f"{name.replace('_', ' '):<18} {about}" for name, about in FIELDS.items()
)
NO_CHOICE = ()
"settings of a screen without choices"
GONE = "This person is no longer in the store."


class PeopleScreen(BookScreen):
    """The screen of all annotators and respondents. Enter opens the form of a person."""

    RULED = False
    PLACE = "annotate › people"
    EXPLAIN = EXPLAIN
    COUNTING = "Reading the annotators and respondents …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "leave", "Leave", tooltip="Go back to the queues")
    ]

    def __init__(self) -> None:
        super().__init__(NO_CHOICE)
        self.routes = {"person": self._form_of}

    def judge(self, store: Store, settings: object, known: Loaded | None) -> Loaded:  # noqa: ARG002
        return load(store, known)

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back to the queues."

    def on_screen_resume(self) -> None:
        """Read the people again, as a form may have changed them."""
        self.action_refresh()

    def _form_of(self, path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG002
        person = next(
            (candidate for candidate in loaded.judged if candidate.name == subject[0]), None
        )
        return GONE if person is None else partial(PersonForm, person)  # type: ignore[return-value]  # a modal screen


class PersonForm(EditForm):
    """The form of a person's own description. A field that is emptied is removed."""

    SAVE = "Save"
    EXPLAIN = EXPLAIN
    FIRST = f"#{next(iter(FIELDS))}"

    def __init__(self, person: Described) -> None:
        super().__init__("")
        self._person = person
        self.HEADING = f"{person.name}: {' and '.join(person.roles) or 'no role here'}"
        self._names = (*FIELDS, *(name for name in person.fields if name not in FIELDS))

    def compose_fields(self) -> ComposeResult:
        for name in self._names:
            value = visible(self._person.fields.get(name, ""))
            yield row(
                name.replace("_", " "),
                Input(value, id=name, compact=True, placeholder=FIELDS.get(name, "")),
            )

    def values(self) -> dict[str, str]:
        return {name: self.typed(name).strip() for name in self._names}

    def input_fault(self) -> str:
        try:
            for name, text in self.values().items():
                field_value(name, text)
        except UsageError as error:
            return str(error)
        return ""

    def action_save(self) -> None:
        """Save as the current annotator, or else as the described person."""
        if fault := self.input_fault():
            self.say(f"✗ {fault}", wrong=True)
        elif not self._saving:
            self._save_as(app_of(self).annotator or self._person.name)

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import Done

        person_description = store.people.describe(self._person.name, values, recorded_by=person)
        return Done(
            f"{person_description.name}: {len(person_description.fields)} fields are filled in.",
            (person_description.name,),
        )


def load(store: Store, known: Loaded | None = None) -> Loaded:
    """Return all annotators and respondents, or `known` itself if nothing has changed."""
    from workbench.annotation.tables import people_counts, people_table

    people = store.people.list()
    if known is not None and known.rests_on == [people]:
        return known
    if not people:
        return Loaded(NO_CHOICE, empty=NOBODY, rests_on=[people])
    book = Book(
        "Annotators and respondents",
        [
            Entry("people", "people", partial(people_table, people, names=True)),
            Entry("people_counts", "counts", partial(people_counts, people)),
        ],
    )
    return Loaded(NO_CHOICE, book=book, judged=people, rests_on=[people])
