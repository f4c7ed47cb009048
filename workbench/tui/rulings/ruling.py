"""Rulings from result screens: `r` finds the object, asks for the ruling, and stores it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen, Screen

from workbench.domain.names import person_name
from workbench.domain.rulings import Ruled
from workbench.errors import ConflictError
from workbench.figures.visible import visible
from workbench.tui.keymap import Keyed
from workbench.tui.kit.base import Background, StoreScreen, app_of, say, worker
from workbench.tui.kit.dialogs import NoteDialog, TextScreen, with_answer
from workbench.tui.kit.person_dialog import PersonDialog, ask_person
from workbench.tui.routes import screen
from workbench.tui.rulings.dialog import Decided, RulingDialog, said
from workbench.tui.rulings.standing import RuledPlace, Standing, standing_in

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.evidence.ruling_subjects import Thing

RULE = Binding(
    "r", "rule", "Rule", tooltip="Rule on this: misread, at fault, excluded, confirmed, look again"
)
LIST = Binding(
    "L",
    "list_rulings",
    "List rulings",
    tooltip="List the rulings of this run and of the store, newest first",
)
NOTHING = "Nothing here can be ruled on: open a statement, wording or answer."
LONGEST = 200
"maximum number of characters of a ruling above a prompt"
WORDING_ALONE = 2
"number of words that name a statement and a wording"
NOTE = "Your rulings are stored under this name."


class RulingKeys(Screen[Any], Keyed, Background):
    """The base of screens whose objects can be ruled on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        RULE,
        Binding("z", "undo_ruling", "Undo ruling", tooltip="Undo your last ruling"),
    ]

    DECIDES: ClassVar[frozenset[str]] = frozenset({"rule", "undo_ruling"})
    UNDOES_SELECTED: ClassVar[bool] = False
    "whether `z` takes back a ruling on the current object, even another's; else one's newest"
    RULED: ClassVar[bool] = True
    "whether rulings are possible here, which they are not where people annotate or adjudicate"
    standing = Standing()
    "rulings in force, as last read"

    def ruled_place(self) -> RuledPlace | None:
        """Return the place of the cursor, or None if it is on nothing that can be ruled on."""
        return None

    def ruled_places(self) -> Sequence[RuledPlace]:
        """Return every place that the screen as a whole is about."""
        place = self.ruled_place()
        return () if place is None else (place,)

    def show_rulings(self, lines: Sequence[str]) -> None:
        """Show the rulings on the object of the whole screen."""

    def show_standing(self) -> None:
        """Show the rulings on the visible objects."""

    def rulings_in_sight(self, thing: Thing, rulings: Sequence[Ruling]) -> Sequence[Ruling]:  # noqa: ARG002
        """Return the rulings on an object that may be shown now."""
        return rulings

    def ruled_here(self) -> Sequence[str]:
        """Return the rulings on the current object, for a screen above that shows all of it."""
        return ()

    def withholds(self) -> bool:
        """Return whether others' rulings on the current object are hidden until one's own."""
        return False

    def hides_reading(self) -> bool:
        """Return whether the reading of the current answer is hidden until the auditor rules."""
        return False

    def take_ruled(self, sentence: str, ruling: Ruling | None = None) -> None:  # noqa: ARG002
        """Show what was ruled. `ruling`: the stored ruling, or None if one was taken back."""
        say(self, sentence)
        self.read_standing()
        self.show_ruled()

    def show_ruled(self) -> None:
        """Show the objects again after a ruling."""

    def action_rule(self) -> None:
        """Ask for a ruling on the current object."""
        places = self.ruled_places() if self.RULED else ()
        if not places:
            say(self, NOTHING, warns=True)
        else:
            self.find_things(places, self.reader_in_sight())

    def reader_in_sight(self) -> str | None:
        """Return the reader of the visible figures, or None for the default one."""
        return None

    def run_in_sight(self) -> Run | None:
        """Return the run that is first in the list of rulings, or None for the whole store."""
        return None

    def runs_of(self, places: Sequence[RuledPlace]) -> Sequence[Run]:
        """Return the runs of the visible answers: those of the places, or of the whole screen."""
        place_runs = dict.fromkeys(run for place in places for run in place.runs)
        run = self.run_in_sight()
        return tuple(place_runs) or (() if run is None else (run,))

    def action_list_rulings(self) -> None:
        """Open the list of rulings."""
        if self.RULED:
            self.app.push_screen(screen("rulings", self.run_in_sight()))

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that work now. Undoing needs the name of an auditor."""
        bindings = super().active_bindings
        if self.RULED and (self.UNDOES_SELECTED or self._auditor is not None):
            return bindings
        return {
            key: active_binding
            for key, active_binding in bindings.items()
            if active_binding.binding.action != "undo_ruling"
        }

    def action_undo_ruling(self) -> None:
        """Take back the user's newest ruling in force, and the one before with the next call."""
        if not self.RULED:
            return
        if self._auditor is None:
            say(self, "Nothing to undo: you have made no ruling in this session.", warns=True)
        else:
            self.take_back_last(self._auditor)

    def ask_to_take_back(self, ruling: Ruling, auditors: Sequence[str] = ()) -> None:
        """Take a ruling back. Ask for a reason if it is another auditor's."""
        if ruling.auditor == self._auditor:
            self.store_ruling(Decided(undo=ruling), ruling.auditor)
            return

        def told(reason: str) -> None:
            if reason.strip():
                self._take_ruling(Decided(reason=reason, undo=ruling), auditors)
            else:
                say(
                    self,
                    f"Taking back {ruling.auditor}'s ruling needs a reason: z, then type one.",
                    warns=True,
                )

        title = visible(f"Why take back {ruling.auditor}'s ruling {ruling.verdict}?")
        with_answer(
            self,
            NoteDialog("", title, hint=visible(f"{ruling.auditor} ruled so: {ruling.reason}")),
            told,
        )

    def ask_for_ruling(
        self,
        things: Sequence[Thing],
        standing: Sequence[Sequence[Ruling]],
        auditors: Sequence[str],
        model: str,
    ) -> None:
        """Ask for a ruling in the dialog.

        `model`: the key of the model that rulings on answers apply to, or empty without a single
        visible model.
        """
        if not things:
            say(self, NOTHING, warns=True)
        elif self.is_current:
            hides_reading = self.hides_reading()
            offered_things = [
                (thing, self.rulings_in_sight(thing, rulings))
                for thing, rulings in zip(things, standing, strict=True)
                if not hides_reading or thing.subject.kind is not Ruled.READING
            ]
            dialog = RulingDialog(
                [offered_thing for offered_thing, _ in offered_things],
                [rulings for _, rulings in offered_things],
                self._auditor,
                withheld=self.withholds(),
                reading_hidden=hides_reading,
                one_model=bool(model),
            )
            with_answer(self, dialog, lambda decided: self._take_ruling(decided, auditors, model))

    def _take_ruling(self, decided: Decided, auditors: Sequence[str], model: str = "") -> None:
        self.as_auditor(auditors, lambda auditor: self.store_ruling(decided, auditor, model))

    def as_auditor(self, known: Sequence[str], then: Callable[[str], object]) -> None:
        """Go on under the auditor's name. Ask for it if it is unknown."""
        if self._auditor is not None:
            then(self._auditor)
        else:
            dialog = PersonDialog(known, note=NOTE, what="auditor")
            dialog.EXPECTED = False
            ask_person(self, dialog, then)

    @property
    def _auditor(self) -> str | None:
        name = app_of(self).annotator
        return person_name(name, "auditor") if name else None

    @worker("ruling", opens=True)
    async def find_things(self, places: Sequence[RuledPlace], by: str | None = None) -> None:
        """Find the objects under the cursor, and ask for a ruling on one."""
        runs = self.runs_of(places)

        def load(
            store: Store,
        ) -> tuple[Sequence[Thing], Sequence[Sequence[Ruling]], Sequence[str], str]:
            from workbench.evidence.ruling_subjects import (
                every_model,
                models_of,
                read_by,
                standing_on,
            )

            read_things = [
                read_by(store, thing, by) for place in places for thing in things(store, place)
            ]
            unique_things = list({thing.subject.key: thing for thing in read_things}.values())
            standing = store.rulings.standing()
            model_keys = {place.model for place in places if place.model}
            model_keys = model_keys or {store.runs.model_key(run).hex() for run in runs}
            if (
                not model_keys and unique_things
            ):  # Without a run, it is the one model that gave the answer or was asked.
                rows = store.data_rows.models()
                model_keys = {
                    rows[model_id]["key"].hex()
                    for model_id in models_of(store, unique_things[0].subject)
                }
            model = model_keys.pop() if len(model_keys) == 1 else ""
            rulings_by_thing = [
                standing_on(standing, thing.subject, [model] if model else every_model(store))
                for thing in unique_things
            ]
            return (
                unique_things,
                rulings_by_thing,
                sorted({event.auditor for event in store.rulings.events()}),
                model,
            )

        self.ask_for_ruling(*await self.with_store(load))

    @worker("rule", newest=False)
    async def store_ruling(self, decided: Decided, auditor: str, model: str = "") -> None:
        def rule(store: Store) -> tuple[str, Ruling | None]:
            from workbench.evidence import ruling_subjects

            if decided.undo is not None:
                return ruling_subjects.take_back(
                    store, decided.undo, auditor=auditor, reason=decided.reason
                ), None
            assert decided.verdict is not None, "a ruling has a verdict"
            assert decided.thing is not None, "and is about something"
            models = [model] if model else ruling_subjects.every_model(store)
            standing = ruling_subjects.standing_on(
                store.rulings.standing(), decided.thing.subject, models
            )
            for ruling in standing:
                if ruling.auditor == auditor and ruling.uid not in decided.seen:
                    raise ConflictError(
                        f"Another session of {auditor} ruled on this meanwhile: "
                        f"{ruling.verdict}. Nothing was stored; "
                        "r shows that ruling."
                    )
            new_ruling = ruling_subjects.rule(
                store,
                decided.thing,
                decided.verdict,
                auditor=auditor,
                reason=decided.reason,
                reading=decided.reading,
                model="" if decided.all_models else model,
            )
            name = ruling_subjects.told(store, decided.thing.subject)
            reading_text = f" ({decided.reading})" if decided.reading else ""
            return f"{decided.verdict}{reading_text}: {name}; z undoes it", new_ruling

        self.take_ruled(*await self.with_store(rule))

    @worker("rulings", beside=True)
    async def read_rulings(self, places: Sequence[RuledPlace]) -> None:
        """Read the rulings on these places and on what contains them, and show them."""
        runs = self.runs_of(places)

        def load(store: Store) -> Sequence[str]:
            from workbench.evidence.ruling_subjects import every_model, spoken, standing_on

            models = [store.runs.model_key(run).hex() for run in runs] or every_model(store)
            standing = store.rulings.standing()
            placed_things = (
                [thing for place in places for thing in things(store, place)] if standing else []
            )
            lines = (
                f"{spoken(thing.name)}: {said(ruling)}"
                for thing in placed_things
                for ruling in reversed(standing_on(standing, thing.subject, models))
            )
            return tuple(dict.fromkeys(lines))

        self.show_rulings(await self.with_store(load))

    @worker("rule", newest=False)
    async def take_back_last(self, auditor: str) -> None:
        def take_back_newest(store: Store) -> str:
            from workbench.evidence.ruling_subjects import take_back

            newest_ruling = store.rulings.newest(auditor)
            if newest_ruling is None:
                return f"Nothing to undo: {auditor} has no ruling in force."
            return take_back(store, newest_ruling, auditor=auditor)

        self.take_ruled(await self.with_store(take_back_newest))

    @worker("standing", beside=True)
    async def read_standing(self) -> None:
        self.standing = await self.with_store(standing_in)
        self.show_standing()


def ruled_lines(lines: Sequence[str], most: int = 3) -> Content:
    """Return rulings, a line each, at most `most` of them."""
    more_lines = [f"and {len(lines) - most} more rulings: r shows them"] * (len(lines) > most)
    visible_lines = [*(f"ruled: {_beginning(line)}" for line in lines[:most]), *more_lines]
    return Content("\n").join(
        Content.styled(visible(line), "$text-accent") for line in visible_lines
    )


def _beginning(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}… (r shows all of it)"


def below(screen: Screen[Any]) -> RulingKeys | None:
    """Return the screen below if objects can be ruled on there, or None."""
    stack = screen.app.screen_stack
    screen_below = stack[-2] if len(stack) > 1 and stack[-1] is screen else stack[-1]
    return screen_below if isinstance(screen_below, RulingKeys) and screen_below.RULED else None


def rule_below(screen: ModalScreen[None]) -> None:
    """Close a screen and rule on the current object of the screen below."""
    if (screen_below := below(screen)) is not None:
        screen.dismiss(None)
        screen_below.call_later(screen_below.action_rule)


def ruled_by(lines: Sequence[str], most: int = 0) -> list[Content]:
    """Return rulings as a line each, truncated to `most` characters unless that is 0."""
    truncated = [
        f"{line[:most]}… (Enter shows all)" if most and len(line) > most else line for line in lines
    ]
    return [Content.styled(visible(f"ruled by {line}"), "$text-accent") for line in truncated]


class RulingScreen(RulingKeys, StoreScreen):
    """A screen of figures or answers whose objects can be ruled on."""

    def show_ruled(self) -> None:
        self.action_refresh()


class RulesAndEdits(RulingKeys):
    """A screen with editable texts, where `z` undoes the user's last ruling or edit."""

    def undo_edit(self, person: str) -> None:
        """Undo the newest edit of a person."""
        raise NotImplementedError

    @worker("rule", newest=False)
    async def undo_newest(self, instrument: str, person: str) -> None:
        def take_back_ruling(store: Store) -> str | None:
            """Return a message on the undone ruling, or None without one or with a newer edit."""
            from workbench.evidence.ruling_subjects import take_back
            from workbench.pipeline.editing import undoable

            ruling, edit = store.rulings.newest(person), undoable(store, instrument, person)
            if ruling is None or (edit is not None and edit.at >= ruling.at):
                return None
            return take_back(store, ruling, auditor=person)

        sentence = await self.with_store(take_back_ruling)
        if sentence is None:
            self.undo_edit(person)
        else:
            self.take_ruled(sentence)


def things(store: Store, place: RuledPlace) -> list[Thing]:
    """Return the possible objects of a ruling at a place, the most specific first."""
    if place.probe or place.prompt:
        return _of_prompt(store, place)
    for instrument in place.instruments:
        if word_things := _of_words(store, instrument, place):
            return word_things
    return []


def _of_prompt(store: Store, place: RuledPlace) -> list[Thing]:
    from workbench.evidence import ruling_subjects as subjects

    if place.probe:
        sent_prompts = store.ruled_things.prompts(probe=place.probe)
    else:
        candidates = store.ruled_things.prompts(key=place.prompt.hex())
        sent_prompts = (
            tuple(
                candidate
                for candidate in candidates
                if candidate.instrument in place.instruments and candidate.ref in place.words
            )
            or candidates
        )
    if not sent_prompts:
        return []
    sent_prompt = sent_prompts[0]
    statement = subjects.statement_version(
        store, sent_prompt.instrument, sent_prompt.ref, sent_prompt.version
    )
    wording_names = {"language": sent_prompt.language, "variant": sent_prompt.variant}
    wordings = [
        candidate
        for candidate in subjects.wordings(store, statement)
        if wording_names.items() <= candidate.subject.named.items()
    ]
    prompt = subjects.prompt(
        sent_prompt, subjects.called(store, subjects.prompt(sent_prompt).subject)
    )
    has_answer = place.text is not None or bool(place.answer)
    answers = [
        subjects.answer(store, sent_prompt, stored_answer, prompt.name)
        for stored_answer in (store.ruled_things.answers(sent_prompt.key) if has_answer else ())
        if stored_answer.text == place.text or stored_answer.key == place.answer
    ]
    readings = [
        answer_reading for answer in answers for answer_reading in subjects.below(store, answer)
    ]
    return [*answers, *readings, prompt, *wordings, statement]


def _of_words(store: Store, instrument: str, place: RuledPlace) -> list[Thing]:
    """Return the statement, wording and prompt that words name, as far as they do."""
    from workbench.evidence import ruling_subjects as subjects

    names = [
        *place.words,
        *(word.partition("/")[2] for word in place.words if word.startswith(f"{instrument}/")),
    ]
    items = store.choices.items(instrument) if place.keys else {}
    names += [ref for ref, item in items.items() if item.key in place.keys]
    ref = next(
        (name for name in names if name and store.ruled_things.versions(instrument, name)), None
    )
    if ref is None:
        return []
    version = place.version
    statement_things = [
        subjects.statement_version(store, instrument, ref, version)
        if version
        else subjects.statement(store, instrument, ref)
    ]
    matching_wordings = [
        candidate
        for candidate in subjects.below(store, statement_things[0])
        if candidate.subject.named["variant"] in names
    ]
    wordings_in_language = [
        candidate
        for candidate in matching_wordings
        if candidate.subject.named["language"] == place.language
    ]
    wording = next(iter(wordings_in_language or matching_wordings), None)
    if wording is None:
        return statement_things
    statement_things.insert(0, wording)
    is_swapped = subjects.SWAPPED in names
    prompts = subjects.below(store, wording)
    for prompt in prompts:
        tail = prompt.name.removeprefix(f"{wording.name}/").split("/")
        if tail[0] in names and (subjects.SWAPPED in tail) == is_swapped:
            return [*_with_text(store, prompt, place.text), prompt, *statement_things]
    # No template is named: the first prompt that got this answer.
    if len(place.words) == WORDING_ALONE:
        for prompt in prompts:
            if answer_things := _with_text(store, prompt, place.text):
                return [*answer_things, prompt, *statement_things]
    return statement_things


def _with_text(store: Store, prompt: Thing, text: str | None) -> list[Thing]:
    from workbench.evidence.ruling_subjects import below

    return (
        [answer for answer in below(store, prompt) if answer.words == text]
        if text is not None
        else []
    )


class RuledText(TextScreen):
    """The text of the current object of the screen below, with the rulings on it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "rule", "Rule", tooltip="Rule on this")]

    def __init__(
        self, title: str, text: str | Content, *, wide: bool = False, rulings: Sequence[str] = ()
    ) -> None:
        """Create the dialog. `rulings`: the rulings on the text that may be seen."""
        content = text if isinstance(text, Content) else Content(visible(text, lines=True))
        super().__init__(title, Content("\n").join([*ruled_by(rulings), content]), wide=wide)

    def on_mount(self) -> None:
        if below(self) is not None:
            self.query_one(".dialog", Vertical).border_subtitle = "r rule · Esc back"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        return (
            below(self) is not None
            if action == "rule"
            else super().check_action(action, parameters)
        )

    def action_rule(self) -> None:
        rule_below(self)
