"""`r` on a screen of results: what can be ruled on there is found, ruled on in a dialog, stored,
and shown.
"""

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
"characters of a ruling that stand above a prompt"
WORDING_ALONE = 2
"words that name a statement and a wording"
NOTE = "Your rulings are stored under this name."


class RulingKeys(Screen[Any], Keyed, Background):
    """What a screen needs from which things can be ruled on."""

    BINDINGS: ClassVar[list[BindingType]] = [
        RULE,
        Binding("z", "undo_ruling", "Undo ruling", tooltip="Undo your last ruling"),
    ]

    DECIDES: ClassVar[frozenset[str]] = frozenset({"rule", "undo_ruling"})
    UNDOES_SELECTED: ClassVar[bool] = False
    """whether `z` takes back a ruling on what the cursor is on, also another auditor's; False:
    one's newest"""
    RULED: ClassVar[bool] = True
    "whether rulings are made and shown here: never where people annotate or adjudicate"
    standing = Standing()
    "what auditors ruled, as of the last look"

    def ruled_place(self) -> RuledPlace | None:
        """Return where the cursor stands; None: nowhere."""
        return None

    def ruled_places(self) -> Sequence[RuledPlace]:
        """Return every place that the screen as a whole is about."""
        place = self.ruled_place()
        return () if place is None else (place,)

    def show_rulings(self, lines: Sequence[str]) -> None:
        """Show what was ruled on what the screen as a whole is about."""

    def show_standing(self) -> None:
        """Show what was ruled on things in sight."""

    def rulings_in_sight(self, thing: Thing, rulings: Sequence[Ruling]) -> Sequence[Ruling]:  # noqa: ARG002
        """Return those of the rulings on a thing that may be shown now."""
        return rulings

    def ruled_here(self) -> Sequence[str]:
        """Return what was ruled on the thing under the cursor, for a screen above that shows it
        whole.
        """
        return ()

    def withholds(self) -> bool:
        """Return whether what others ruled on what the cursor is on is kept from this auditor until
        they ruled.
        """
        return False

    def hides_reading(self) -> bool:
        """Return whether nobody is told how the answer under the cursor was read before they
        ruled.
        """
        return False

    def take_ruled(self, sentence: str, ruling: Ruling | None = None) -> None:  # noqa: ARG002
        """Say what was ruled, and show it; `ruling`: what was stored, None where one was taken
        back.
        """
        say(self, sentence)
        self.read_standing()
        self.show_ruled()

    def show_ruled(self) -> None:
        """Show things anew after a ruling."""

    def action_rule(self) -> None:
        """Ask for a ruling on what the cursor is on."""
        places = self.ruled_places() if self.RULED else ()
        if not places:
            say(self, NOTHING, warns=True)
        else:
            self.find_things(places, self.reader_in_sight())

    def reader_in_sight(self) -> str | None:
        """Return the reader that counts in what is shown; None: the usual one."""
        return None

    def run_in_sight(self) -> Run | None:
        """Return the run whose rulings stand first in the list of rulings; None: of the whole
        store.
        """
        return None

    def runs_of(self, places: Sequence[RuledPlace]) -> Sequence[Run]:
        """Return the runs whose answers are in sight: those of the places under the cursor, or of
        the whole screen.
        """
        found = dict.fromkeys(run for place in places for run in place.runs)
        run = self.run_in_sight()
        return tuple(found) or (() if run is None else (run,))

    def action_list_rulings(self) -> None:
        """Open the list of rulings."""
        if self.RULED:
            self.app.push_screen(screen("rulings", self.run_in_sight()))

    @property
    def active_bindings(self) -> dict[str, ActiveBinding]:
        """The keys that work now: there is something to undo once somebody has a name to rule
        under.
        """
        found = super().active_bindings
        if self.RULED and (self.UNDOES_SELECTED or self._auditor is not None):
            return found
        return {key: one for key, one in found.items() if one.binding.action != "undo_ruling"}

    def action_undo_ruling(self) -> None:
        """Take back the newest ruling that stands of the person who sits here; once more, the one
        before.
        """
        if not self.RULED:
            return
        if self._auditor is None:
            say(self, "Nothing to undo: you have made no ruling in this session.", warns=True)
        else:
            self.take_back_last(self._auditor)

    def ask_to_take_back(self, ruling: Ruling, auditors: Sequence[str] = ()) -> None:
        """Take a ruling back; where it is another auditor's, or nobody said who sits here, ask
        why.
        """
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
        """`model`: the key of the model that rulings on answers apply to; empty: no single one is
        in sight.
        """
        if not things:
            say(self, NOTHING, warns=True)
        elif self.is_current:
            hides = self.hides_reading()
            offered = [
                (thing, self.rulings_in_sight(thing, of))
                for thing, of in zip(things, standing, strict=True)
                if not hides or thing.subject.kind is not Ruled.READING
            ]
            dialog = RulingDialog(
                [thing for thing, _ in offered],
                [of for _, of in offered],
                self._auditor,
                withheld=self.withholds(),
                reading_hidden=hides,
                one_model=bool(model),
            )
            with_answer(self, dialog, lambda decided: self._take_ruling(decided, auditors, model))

    def _take_ruling(self, decided: Decided, auditors: Sequence[str], model: str = "") -> None:
        self.as_auditor(auditors, lambda auditor: self.store_ruling(decided, auditor, model))

    def as_auditor(self, known: Sequence[str], then: Callable[[str], object]) -> None:
        """Go on as the auditor who sits here; ask who that is where nobody said so yet."""
        if self._auditor is not None:
            then(self._auditor)
        else:
            asked = PersonDialog(known, note=NOTE, what="auditor")
            asked.EXPECTED = False
            ask_person(self, asked, then)

    @property
    def _auditor(self) -> str | None:
        name = app_of(self).annotator
        return person_name(name, "auditor") if name else None

    @worker("ruling", opens=True)
    async def find_things(self, places: Sequence[RuledPlace], by: str | None = None) -> None:
        """Find what stands under the cursor, and ask for a ruling on it."""
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

            of = [read_by(store, thing, by) for place in places for thing in things(store, place)]
            found = list({thing.subject.key: thing for thing in of}.values())
            standing = store.rulings.standing()
            meant = {place.model for place in places if place.model}
            meant = meant or {store.runs.model_key(run).hex() for run in runs}
            if not meant and found:  # whoever alone gave the answer, or was asked
                rows = store.data_rows.models()
                meant = {rows[at]["key"].hex() for at in models_of(store, found[0].subject)}
            model = meant.pop() if len(meant) == 1 else ""
            stands = [
                standing_on(standing, one.subject, [model] if model else every_model(store))
                for one in found
            ]
            return found, stands, sorted({event.auditor for event in store.rulings.events()}), model

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
            made = ruling_subjects.rule(
                store,
                decided.thing,
                decided.verdict,
                auditor=auditor,
                reason=decided.reason,
                reading=decided.reading,
                model="" if decided.all_models else model,
            )
            name = ruling_subjects.told(store, decided.thing.subject)
            read = f" ({decided.reading})" if decided.reading else ""
            return f"{decided.verdict}{read}: {name}; z undoes it", made

        self.take_ruled(*await self.with_store(rule))

    @worker("rulings", beside=True)
    async def read_rulings(self, places: Sequence[RuledPlace]) -> None:
        """Read the rulings on these subjects and on what contains them, and show them."""
        runs = self.runs_of(places)

        def load(store: Store) -> Sequence[str]:
            from workbench.evidence.ruling_subjects import every_model, spoken, standing_on

            models = [store.runs.model_key(run).hex() for run in runs] or every_model(store)
            standing = store.rulings.standing()
            found = (
                [thing for place in places for thing in things(store, place)] if standing else []
            )
            lines = (
                f"{spoken(thing.name)}: {said(one)}"
                for thing in found
                for one in reversed(standing_on(standing, thing.subject, models))
            )
            return tuple(dict.fromkeys(lines))

        self.show_rulings(await self.with_store(load))

    @worker("rule", newest=False)
    async def take_back_last(self, auditor: str) -> None:
        def take_back_newest(store: Store) -> str:
            from workbench.evidence.ruling_subjects import take_back

            last = store.rulings.newest(auditor)
            if last is None:
                return f"Nothing to undo: {auditor} has no ruling in force."
            return take_back(store, last, auditor=auditor)

        self.take_ruled(await self.with_store(take_back_newest))

    @worker("standing", beside=True)
    async def read_standing(self) -> None:
        self.standing = await self.with_store(standing_in)
        self.show_standing()


def ruled_lines(lines: Sequence[str], most: int = 3) -> Content:
    """Return what was ruled, a line each, no more than there is room for."""
    more = [f"and {len(lines) - most} more rulings: r shows them"] * (len(lines) > most)
    shown = [*(f"ruled: {_beginning(line)}" for line in lines[:most]), *more]
    return Content("\n").join(Content.styled(visible(line), "$text-accent") for line in shown)


def _beginning(line: str) -> str:
    return line if len(line) <= LONGEST else f"{line[:LONGEST]}… (r shows all of it)"


def below(screen: Screen[Any]) -> RulingKeys | None:
    """Return the screen that one was opened from, where things are ruled on there."""
    stack = screen.app.screen_stack
    found = stack[-2] if len(stack) > 1 and stack[-1] is screen else stack[-1]
    return found if isinstance(found, RulingKeys) and found.RULED else None


def rule_below(screen: ModalScreen[None]) -> None:
    """Leave a screen and rule on what is under the cursor of the one below."""
    if (found := below(screen)) is not None:
        screen.dismiss(None)
        found.call_later(found.action_rule)


def ruled_by(lines: Sequence[str], most: int = 0) -> list[Content]:
    """Return who ruled what on the thing beside which this stands, a line each; of each `most`
    characters, if any.
    """
    cut = [
        f"{line[:most]}… (Enter shows all)" if most and len(line) > most else line for line in lines
    ]
    return [Content.styled(visible(f"ruled by {line}"), "$text-accent") for line in cut]


class RulingScreen(RulingKeys, StoreScreen):
    """A screen of figures or answers from which things can be ruled on."""

    def show_ruled(self) -> None:
        self.action_refresh()


class RulesAndEdits(RulingKeys):
    """A screen where texts are changed, too: `z` takes back what its person did last, a ruling or a
    change.
    """

    def undo_edit(self, person: str) -> None:
        """Undo the newest change of a person."""
        raise NotImplementedError

    @worker("rule", newest=False)
    async def undo_newest(self, instrument: str, person: str) -> None:
        def take_back_ruling(store: Store) -> str | None:
            """Return what was taken back; None: what the person did last, if anything, is a change
            of a statement.
            """
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
    """Return what can be ruled on at a place, the most specific first."""
    if place.probe or place.prompt:
        return _of_prompt(store, place)
    for instrument in place.instruments:
        if found := _of_words(store, instrument, place):
            return found
    return []


def _of_prompt(store: Store, place: RuledPlace) -> list[Thing]:
    from workbench.evidence import ruling_subjects as subjects

    if place.probe:
        puts = store.ruled_things.prompts(probe=place.probe)
    else:
        every = store.ruled_things.prompts(key=place.prompt.hex())
        puts = (
            tuple(
                one
                for one in every
                if one.instrument in place.instruments and one.ref in place.words
            )
            or every
        )
    if not puts:
        return []
    put = puts[0]
    statement = subjects.statement_version(store, put.instrument, put.ref, put.version)
    put_as = {"language": put.language, "variant": put.variant}
    wording = [
        one
        for one in subjects.wordings(store, statement)
        if put_as.items() <= one.subject.named.items()
    ]
    prompt = subjects.prompt(put, subjects.called(store, subjects.prompt(put).subject))
    meant = place.text is not None or bool(place.answer)
    given = [
        subjects.answer(store, put, one, prompt.name)
        for one in (store.ruled_things.answers(put.key) if meant else ())
        if one.text == place.text or one.key == place.answer
    ]
    read = [one for answer in given for one in subjects.below(store, answer)]
    return [*given, *read, prompt, *wording, statement]


def _of_words(store: Store, instrument: str, place: RuledPlace) -> list[Thing]:
    """Return the statement, wording and prompt that words name, as far as they do."""
    from workbench.evidence import ruling_subjects as subjects

    words = [
        *place.words,
        *(word.partition("/")[2] for word in place.words if word.startswith(f"{instrument}/")),
    ]
    items = store.choices.items(instrument) if place.keys else {}
    words += [ref for ref, item in items.items() if item.key in place.keys]
    ref = next(
        (word for word in words if word and store.ruled_things.versions(instrument, word)), None
    )
    if ref is None:
        return []
    version = place.version
    found = [
        subjects.statement_version(store, instrument, ref, version)
        if version
        else subjects.statement(store, instrument, ref)
    ]
    of_wordings = [
        one for one in subjects.below(store, found[0]) if one.subject.named["variant"] in words
    ]
    in_language = [one for one in of_wordings if one.subject.named["language"] == place.language]
    wording = next(iter(in_language or of_wordings), None)
    if wording is None:
        return found
    found.insert(0, wording)
    swapped = subjects.SWAPPED in words
    prompts = subjects.below(store, wording)
    for prompt in prompts:
        tail = prompt.name.removeprefix(f"{wording.name}/").split("/")
        if tail[0] in words and (subjects.SWAPPED in tail) == swapped:
            return [*_with_text(store, prompt, place.text), prompt, *found]
    # No template is named: the first prompt that got this answer.
    if len(place.words) == WORDING_ALONE:
        for prompt in prompts:
            if given := _with_text(store, prompt, place.text):
                return [*given, prompt, *found]
    return found


def _with_text(store: Store, prompt: Thing, text: str | None) -> list[Thing]:
    from workbench.evidence.ruling_subjects import below

    return [one for one in below(store, prompt) if one.words == text] if text is not None else []


class RuledText(TextScreen):
    """The text of what is under the cursor of the screen below."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "rule", "Rule", tooltip="Rule on this")]

    def __init__(
        self, title: str, text: str | Content, *, wide: bool = False, rulings: Sequence[str] = ()
    ) -> None:
        """`rulings`: what was ruled on it, as far as it may be seen."""
        whole = text if isinstance(text, Content) else Content(visible(text, lines=True))
        super().__init__(title, Content("\n").join([*ruled_by(rulings), whole]), wide=wide)

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
