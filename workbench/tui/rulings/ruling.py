"""Rulings from result screens: `r` finds the object, asks for the ruling, and stores it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
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
from workbench.tui.rulings.dialog import RulingDialog, RulingRequest, ruling_line
from workbench.tui.rulings.standing import RuledPlace, Standing, standing_in

if TYPE_CHECKING:
    from stores.annotation.rulings import PutPrompt
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.evidence.ruling_subjects import RulingSubject

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

    def rulings_in_sight(self, thing: RulingSubject, rulings: Sequence[Ruling]) -> Sequence[Ruling]:  # noqa: ARG002
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
            self.store_ruling(RulingRequest(undo=ruling), ruling.auditor)
            return

        def told(reason: str) -> None:
            if reason.strip():
                self._take_ruling(RulingRequest(reason=reason, undo=ruling), auditors)
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

    def ask_for_ruling(self, rulable: Rulable) -> None:
        """Ask for a ruling in the dialog."""
        if not rulable.things:
            say(self, NOTHING, warns=True)
            return
        if not self.is_current:
            return
        hides_reading = self.hides_reading()
        things, rulings_by_thing = [], []
        for thing, rulings in zip(rulable.things, rulable.rulings, strict=True):
            if hides_reading and thing.subject.kind is Ruled.READING:
                continue
            things.append(thing)
            rulings_by_thing.append(self.rulings_in_sight(thing, rulings))
        dialog = RulingDialog(
            things,
            rulings_by_thing,
            self._auditor,
            withheld=self.withholds(),
            reading_hidden=hides_reading,
            one_model=bool(rulable.model),
        )
        with_answer(
            self,
            dialog,
            lambda request: self._take_ruling(request, rulable.auditors, rulable.model),
        )

    def _take_ruling(
        self, decided: RulingRequest, auditors: Sequence[str], model: str = ""
    ) -> None:
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
        rulable = await self.with_store(lambda store: find_rulable(store, places, runs, by))
        self.ask_for_ruling(rulable)

    @worker("rule", newest=False)
    async def store_ruling(self, request: RulingRequest, auditor: str, model: str = "") -> None:
        sentence, ruling = await self.with_store(
            lambda store: carry_out(store, request, auditor, model)
        )
        self.take_ruled(sentence, ruling)

    @worker("rulings", beside=True)
    async def read_rulings(self, places: Sequence[RuledPlace]) -> None:
        """Read the rulings on these places and on what contains them, and show them."""
        runs = self.runs_of(places)
        self.show_rulings(await self.with_store(lambda store: lines_on(store, places, runs)))

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


def carry_out(
    store: Store, request: RulingRequest, auditor: str, model: str
) -> tuple[str, Ruling | None]:
    """Store a ruling or take one back. Return a message, and any new ruling.

    Raises ConflictError if the auditor has a ruling on the object that was not visible.
    """
    from workbench.evidence import ruling_subjects

    if request.undo is not None:
        message = ruling_subjects.take_back(
            store, request.undo, auditor=auditor, reason=request.reason
        )
        return message, None
    assert request.verdict is not None, "a ruling has a verdict"
    assert request.thing is not None, "and is about something"
    subject = request.thing.subject
    models = [model] if model else ruling_subjects.every_model(store)
    for ruling in ruling_subjects.rulings_in_force_on(store.rulings.standing(), subject, models):
        if ruling.auditor == auditor and ruling.uid not in request.seen:
            raise ConflictError(
                f"Another session of {auditor} ruled on this meanwhile: {ruling.verdict}. Nothing "
                "was stored; r shows that ruling."
            )
    new_ruling = ruling_subjects.add_ruling(
        store,
        request.thing,
        request.verdict,
        auditor=auditor,
        reason=request.reason,
        reading=request.reading,
        model="" if request.all_models else model,
    )
    name = ruling_subjects.subject_phrase(store, subject)
    reading_text = f" ({request.reading})" if request.reading else ""
    return f"{request.verdict}{reading_text}: {name}; z undoes it", new_ruling


def lines_on(store: Store, places: Sequence[RuledPlace], runs: Sequence[Run]) -> tuple[str, ...]:
    """Return a line for each ruling on the objects at places, for the models of runs or all."""
    from workbench.evidence.ruling_subjects import display_name, every_model, rulings_in_force_on

    models = [store.runs.model_key(run).hex() for run in runs] or every_model(store)
    standing = store.rulings.standing()
    if not standing:
        return ()
    lines = []
    for place in places:
        for thing in rulable_things(store, place):
            rulings = rulings_in_force_on(standing, thing.subject, models)
            name = display_name(thing.name)
            lines += [f"{name}: {ruling_line(ruling)}" for ruling in reversed(rulings)]
    return tuple(dict.fromkeys(lines))


def ruled_lines(lines: Sequence[str], most: int = 3) -> Content:
    """Return rulings, a line each, at most `most` of them."""
    visible_lines = [f"ruled: {_beginning(line)}" for line in lines[:most]]
    if len(lines) > most:
        visible_lines.append(f"and {len(lines) - most} more rulings: r shows them")
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


def ruling_lines(lines: Sequence[str], most: int = 0) -> list[Content]:
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


@dataclass(frozen=True, slots=True)
class Rulable:
    """The objects that can be ruled on at the cursor."""

    things: Sequence[RulingSubject]
    "possible objects of the ruling, the most specific first"
    rulings: Sequence[Sequence[Ruling]]
    "rulings in force on each object"
    auditors: Sequence[str]
    "auditors who have ruled in this store"
    model: str
    "key of the model that rulings on answers apply to, or empty without a single visible model"


def find_rulable(
    store: Store, places: Sequence[RuledPlace], runs: Sequence[Run], reader: str | None
) -> Rulable:
    """Return the possible objects of a ruling at places, with the rulings on them.

    `runs`: the runs of the visible answers, or none. `reader`: the reader of the visible figures,
    or None for the default one.
    """
    from workbench.evidence.ruling_subjects import every_model, rulings_in_force_on, with_reading_of

    thing_by_key = {}
    for place in places:
        for thing in rulable_things(store, place):
            read_thing = with_reading_of(store, thing, reader)
            thing_by_key[read_thing.subject.key] = read_thing
    things = list(thing_by_key.values())
    standing = store.rulings.standing()
    model = _model_in_sight(store, places, runs, things)
    models = [model] if model else every_model(store)
    return Rulable(
        things,
        [rulings_in_force_on(standing, thing.subject, models) for thing in things],
        sorted({event.auditor for event in store.rulings.events()}),
        model,
    )


def _model_in_sight(
    store: Store, places: Sequence[RuledPlace], runs: Sequence[Run], things: Sequence[RulingSubject]
) -> str:
    """Return the key of the only visible model, or an empty string without a single one.

    Without a run, it is the one model that gave the answer or was asked.
    """
    from workbench.evidence.ruling_subjects import models_of

    model_keys = {place.model for place in places if place.model}
    if not model_keys:
        model_keys = {store.runs.model_key(run).hex() for run in runs}
    if not model_keys and things:
        rows = store.data_rows.models()
        model_ids = models_of(store, things[0].subject)
        model_keys = {rows[model_id]["key"].hex() for model_id in model_ids}
    return model_keys.pop() if len(model_keys) == 1 else ""


def rulable_things(store: Store, place: RuledPlace) -> list[RulingSubject]:
    """Return the possible objects of a ruling at a place, the most specific first."""
    if place.probe or place.prompt:
        return _things_of_prompt(store, place)
    for instrument in place.instruments:
        if word_things := _things_of_words(store, instrument, place):
            return word_things
    return []


def _things_of_prompt(store: Store, place: RuledPlace) -> list[RulingSubject]:
    """Return the answers, readings, prompt, wordings and statement of a prompt, in this order."""
    from workbench.evidence import ruling_subjects as subjects

    sent_prompt = _sent_prompt(store, place)
    if sent_prompt is None:
        return []
    statement = subjects.statement_version(
        store, sent_prompt.instrument, sent_prompt.ref, sent_prompt.version
    )
    wording_names = {"language": sent_prompt.language, "variant": sent_prompt.variant}
    wordings = [
        wording
        for wording in subjects.wording_subjects(store, statement)
        if wording_names.items() <= wording.subject.named.items()
    ]
    prompt_name = subjects.typed_name(store, subjects.prompt_subject(sent_prompt).subject)
    prompt = subjects.prompt_subject(sent_prompt, prompt_name)
    answers = _answers_at(store, place, sent_prompt, prompt)
    readings = [reading for answer in answers for reading in subjects.subjects_below(store, answer)]
    return [*answers, *readings, prompt, *wordings, statement]


def _sent_prompt(store: Store, place: RuledPlace) -> PutPrompt | None:
    """Return the prompt of a place as it was sent, or None if the store lacks it.

    Several statements may have led to the same prompt; that of the place comes first.
    """
    if place.probe:
        candidates = store.ruled_things.prompts(probe=place.probe)
    else:
        candidates = store.ruled_things.prompts(key=place.prompt.hex())
        for candidate in candidates:
            if candidate.instrument in place.instruments and candidate.ref in place.words:
                return candidate
    return candidates[0] if candidates else None


def _answers_at(
    store: Store, place: RuledPlace, sent_prompt: PutPrompt, prompt: RulingSubject
) -> list[RulingSubject]:
    """Return the answer of a place as an object of rulings, or nothing without an answer."""
    from workbench.evidence import ruling_subjects as subjects

    if place.text is None and not place.answer:
        return []
    return [
        subjects.answer_subject(store, sent_prompt, stored_answer, prompt.name)
        for stored_answer in store.ruled_things.answers(sent_prompt.key)
        if stored_answer.text == place.text or stored_answer.key == place.answer
    ]


def _things_of_words(store: Store, instrument: str, place: RuledPlace) -> list[RulingSubject]:
    """Return the statement, wording and prompt that words name, as far as they do."""
    names = _names_at(store, instrument, place)
    statement = _named_statement(store, instrument, names, place.version)
    if statement is None:
        return []
    wording = _named_wording(store, statement, names, place.language)
    if wording is None:
        return [statement]
    return [*_named_prompt(store, wording, names, place), wording, statement]


def _names_at(store: Store, instrument: str, place: RuledPlace) -> list[str]:
    """Return the words of a place, also without the instrument's name, and refs of its keys."""
    prefix = f"{instrument}/"
    names = [*place.words]
    names += [word.partition("/")[2] for word in place.words if word.startswith(prefix)]
    if place.keys:
        items = store.choices.items(instrument)
        names += [ref for ref, item in items.items() if item.key in place.keys]
    return names


def _named_statement(
    store: Store, instrument: str, names: Sequence[str], version: int
) -> RulingSubject | None:
    """Return the first statement of an instrument among names, or None without any."""
    from workbench.evidence import ruling_subjects as subjects

    for name in names:
        if name and store.ruled_things.versions(instrument, name):
            if version:
                return subjects.statement_version(store, instrument, name, version)
            return subjects.statement_subject(store, instrument, name)
    return None


def _named_wording(
    store: Store, statement: RulingSubject, names: Sequence[str], language: str
) -> RulingSubject | None:
    """Return the wording of a statement that names have, first in a language, or None."""
    from workbench.evidence import ruling_subjects as subjects

    wordings = [
        wording
        for wording in subjects.subjects_below(store, statement)
        if wording.subject.named["variant"] in names
    ]
    for wording in wordings:
        if wording.subject.named["language"] == language:
            return wording
    return wordings[0] if wordings else None


def _named_prompt(
    store: Store, wording: RulingSubject, names: Sequence[str], place: RuledPlace
) -> list[RulingSubject]:
    """Return the prompt of a wording that names have, after the answer of the place, if any.

    If no template is named, it is the first prompt that got the answer of the place.
    """
    from workbench.evidence import ruling_subjects as subjects

    is_swapped = subjects.SWAPPED in names
    prompts = subjects.subjects_below(store, wording)
    for prompt in prompts:
        tail = prompt.name.removeprefix(f"{wording.name}/").split("/")
        if tail[0] in names and (subjects.SWAPPED in tail) == is_swapped:
            return [*_with_text(store, prompt, place.text), prompt]
    if len(place.words) == WORDING_ALONE:
        for prompt in prompts:
            if answers := _with_text(store, prompt, place.text):
                return [*answers, prompt]
    return []


def _with_text(store: Store, prompt: RulingSubject, text: str | None) -> list[RulingSubject]:
    """Return the answers to a prompt with a text, or nothing without a text."""
    from workbench.evidence.ruling_subjects import subjects_below

    if text is None:
        return []
    return [answer for answer in subjects_below(store, prompt) if answer.words == text]


class RuledText(TextScreen):
    """The text of the current object of the screen below, with the rulings on it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("r", "rule", "Rule", tooltip="Rule on this")]

    def __init__(
        self, title: str, text: str | Content, *, wide: bool = False, rulings: Sequence[str] = ()
    ) -> None:
        """Create the dialog. `rulings`: the rulings on the text that may be seen."""
        content = text if isinstance(text, Content) else Content(visible(text, lines=True))
        super().__init__(title, Content("\n").join([*ruling_lines(rulings), content]), wide=wide)

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
