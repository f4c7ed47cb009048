"""The list of auditors' rulings with their objects, reasons and states. Enter opens the object.

Others' rulings are withheld as in a review: on sampled answers, and while a review is blind, until
the user has decided.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual.app import App
from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.domain.names import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.rulings import Ruled
from workbench.domain.statements import VariantId
from workbench.figures.book import Book, Entry, Subject
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.base import say
from workbench.tui.results.answers import WholeAnswerScreen
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded, Opened, TableView
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.wordings import prompt_text
from workbench.tui.review.blind_key import BlindKey
from workbench.tui.routes import screen
from workbench.tui.rulings.dialog import ruling_line
from workbench.tui.rulings.ruling import RuledText
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.rulings import Ruling
    from workbench.evidence.listed_rulings import ListedRuling
    from workbench.evidence.ruling_subjects import RulingSubject

NOBODY = """Nobody has ruled yet.

r rules on a statement, wording, prompt or answer wherever one is shown; V opens the review queue from Home."""  # noqa: E501
NONE_SEEN = "None that you may see yet."
NOT_HERE = "Nobody has ruled on this run yet. Tab shows the rulings of the whole store."
ALL_KEPT_BACK = "You see others' rulings after you decide on the same items."
ELSEWHERE = "This store does not have what was ruled on: the ruling comes from another store."


@dataclass(frozen=True, slots=True)
class RulingsChoice:
    """The user, and the open reviews."""

    auditor: str | None = None
    reviews: tuple[tuple[Run, bool], ...] = ()
    "run of each open review, and whether it is blind"
    blind: bool = False
    "whether any of them is blind"
    instrument: str = ""
    templates: TemplateChoice = field(default=LATEST)


@dataclass(frozen=True, eq=False, slots=True)
class Seen:
    """The rulings that may be seen."""

    rows: Sequence[ListedRuling]
    kept_back: frozenset[bytes]
    "uids of the rulings that are still withheld"

    def found(self, uid: str) -> ListedRuling | None:
        """Return the ruling with a hexadecimal uid, or None if it is not visible."""
        return next((row for row in self.rows if row.ruling.uid.hex() == uid), None)


class RulingsScreen(BookScreen):
    """The screen of all rulings of a run and of the store, or of one auditor."""

    PLACE = "rulings"
    COUNTING = "Reading the rulings …"
    FOOTER_FIRST = (
        "select_cursor",
        "rule",
        "undo_ruling",
        "find",
        "turn_auditor(1)",
        "view(1)",
        "whole",
    )
    EXPLAIN = section("screens-results", "The list of rulings")
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "a",
            "turn_auditor(1)",
            "Auditor",
            tooltip="Show the rulings of one auditor after another, then all",
        ),
        Binding(
            "v", "whole", "Whole row", tooltip="Show all details of this row, with the whole reason"
        ),
        Binding("z", "undo_ruling", "Undo", tooltip="Take back the ruling of this row"),
    ]
    UNDOES_SELECTED = True

    _settings: RulingsChoice

    def __init__(self, run: Run | None = None, auditor: str | None = None) -> None:
        """Create the screen.

        `run`: its rulings come first. `auditor`: only their rulings are visible.
        """
        super().__init__(RulingsChoice())
        self._run = run
        self._look = TableView("", (auditor,) if auditor else ())
        self.routes = {"ruling": self._opened}

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("rule", "whole", "undo_ruling"):
            return self._listed is not None
        if action == "turn_auditor":
            return self._entry is not None and len(self._entry.subjects) > 1
        if action == "view":
            return self._book is not None and len(self._book.contents) > 1
        if action == "list_rulings":
            return False
        return super().check_action(action, parameters)

    def on_screen_resume(self) -> None:
        self._settings = self._settings_now
        super().on_screen_resume()

    def judge(self, store: Store, settings: RulingsChoice, known: Loaded | None) -> Loaded:
        return load(store, settings, self._run, known)

    def take_ruled(self, sentence: str, ruling: Ruling | None = None) -> None:
        """Show the stored ruling. The key z belongs to the current row, which may be another."""
        super().take_ruled(sentence.removesuffix("; z undoes it"), ruling)

    def show_ruled(self) -> None:
        self._settings = self._settings_now
        self._read()

    def show_standing(self) -> None:
        """Do nothing, because the rows themselves show the rulings."""

    def explain(self) -> str:
        return self.EXPLAIN

    def show_title_note(self) -> None:
        super().show_title_note()
        blind_text = "blind review" if self._settings.blind else ""
        self.title_bar.note = " · ".join(filter(None, (blind_text, self._auditor or "")))

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back."

    def empty_reason(self, loaded: Loaded, table_view: TableView) -> str:
        reason = super().empty_reason(loaded, table_view)
        seen: Seen | None = loaded.judged
        return f"{reason}\n\n{ALL_KEPT_BACK}" if seen is not None and seen.kept_back else reason

    def place_at(self, sheet: Sheet, at: int) -> RuledPlace | None:
        row: ListedRuling = sheet.table.rows[at]
        named = row.ruling.subject.named
        return RuledPlace(
            (row.instrument,),
            tuple(filter(None, (row.ref, named.get("variant", "")))),
            version=int(named.get("version", 0)),
            language=named.get("language", ""),
            prompt=bytes.fromhex(named.get("prompt", "")),
            answer=bytes.fromhex(named.get("text", "")),
            model=named.get("model", ""),
        )

    def rulings_in_sight(self, thing: RulingSubject, rulings: Sequence[Ruling]) -> Sequence[Ruling]:  # noqa: ARG002
        seen: Seen | None = self._judged
        return [ruling for ruling in rulings if seen is None or ruling.uid not in seen.kept_back]

    def withholds(self) -> bool:
        seen: Seen | None = self._judged
        return seen is not None and bool(seen.kept_back)

    def ruled_here(self) -> Sequence[str]:
        row = self._listed
        seen: Seen | None = self._judged
        if row is None or seen is None:
            return ()
        thing = row.ruling.subject.thing
        return [
            ruling_line(listed_ruling.ruling) + f"; {listed_ruling.status}"
            for listed_ruling in seen.rows
            if listed_ruling.ruling.subject.thing == thing
        ]

    def action_turn_auditor(self, step: int) -> None:
        """Show the rulings of the next auditor. After the last one, show all."""
        self.turn_to(step)

    def action_undo_ruling(self) -> None:
        """Take back the ruling under the cursor, or tell its state."""
        row = self._listed
        if row is None:
            return
        if row.in_force:
            seen: Seen = self._judged
            self.ask_to_take_back(
                row.ruling, sorted({listed_ruling.ruling.auditor for listed_ruling in seen.rows})
            )
        else:
            say(
                self,
                f"This ruling is {row.status} already; z takes back those that stand.",
                warns=True,
            )

    def action_whole(self) -> None:
        """Show all details of the row under the cursor."""
        self.view.show_whole()

    @property
    def _settings_now(self) -> RulingsChoice:
        open_reviews = reviews(self.app)
        return replace(
            self._settings,
            auditor=self._auditor,
            reviews=open_reviews,
            blind=any(blind for _, blind in open_reviews),
        )

    @property
    def _listed(self) -> ListedRuling | None:
        """The ruling under the cursor."""
        row: ListedRuling | None = self.view.row
        return row

    def _opened(self, path: Path, loaded: Loaded, subject: Subject) -> Opened | str:
        """Return a function that opens the object of a ruling, or a message that it is missing."""
        from stores.core.store import Store

        seen: Seen = loaded.judged
        row = seen.found(subject[0])
        if row is None:
            return "This ruling is no longer in the list."
        lines = self.ruled_here()
        with Store.open(path) as store:
            named = row.ruling.subject.named
            if "text" in named:
                return _answer(store, row)
            if "prompt" in named:
                probe = min(store.ruled_things.probes(named), default=0)
                prompt = store.runs.prompt(probe) if probe else None
                if prompt is None:
                    return ELSEWHERE
                text = prompt_text(prompt)
                return lambda: RuledText(f"Prompt: {row.display_name}", text, rulings=lines)
            if not row.text:
                return ELSEWHERE
            statement_page = None if loaded.settings.blind else _statement(store, row)
        return statement_page or (lambda: RuledText(row.display_name, row.text, rulings=lines))


def _statement(store: Store, row: ListedRuling) -> Opened | None:
    """Return a function that opens the statement of a ruling at its wording, or None if missing."""
    named = row.ruling.subject.named
    instrument, ref = row.instrument, row.ref
    refs = tuple(line.ref for line in store.instruments.lines(instrument))
    if ref not in refs:
        return None
    language = named.get("language") or next(
        summary.language for summary in store.instruments.summaries() if summary.name == instrument
    )
    variant = VariantId.parse(named["variant"]) if "variant" in named else None
    return lambda: screen("statement", instrument, ref, language, refs, variant)


def _answer(store: Store, row: ListedRuling) -> Opened | str:
    """Return a function that opens an answer with its wording, or a message that it is missing."""
    named = row.ruling.subject.named
    prompts = store.ruled_things.prompts(key=named["prompt"])
    text = store.ruled_things.text(bytes.fromhex(named["text"]))
    if not prompts or text is None:
        return ELSEWHERE
    location = f"{prompts[0].ref} · {prompts[0].variant} · {prompts[0].template} {prompts[0].order}"
    reading = [
        Content.assemble(
            (visible(prompts[0].wording, lines=True), "bold"),
            (f"  {visible(location)}", "$text-muted"),
        )
    ]
    if row.ruling.subject.kind is Ruled.READING:
        reading.append(Content(visible(f"the ruling is on how {named['reader']} reads it")))
    return lambda: WholeAnswerScreen(
        row.display_name, text, Content("\n").join(reading), visible(row.name)
    )


def reviews(app: App[object]) -> tuple[tuple[Run, bool], ...]:
    """Return the run of each review that is open in the terminal, and whether it is blind."""
    screens = [open_screen for stack in app._screen_stacks.values() for open_screen in stack]
    open_reviews = (
        (open_screen.run_in_sight(), open_screen.session.blind)
        for open_screen in screens
        if isinstance(open_screen, BlindKey)
    )
    return tuple((run, blind) for run, blind in open_reviews if run is not None)


def load(
    store: Store, settings: RulingsChoice, run: Run | None, known: Loaded | None = None
) -> Loaded:
    """Read every ruling that may be seen. Returns `known` itself if nothing has changed."""
    rests_on = (store.rulings.events(), store.control_samples.every())
    if known is not None and known.settings == settings and known.rests_on == rests_on:
        return known
    loaded = _RulingLists.read(store, settings, run)
    return Loaded(
        settings,
        book=Book("Rulings", loaded.entries()),
        judged=Seen(loaded.rows, loaded.withheld_uids),
        options=loaded.header_texts(),
        rests_on=rests_on,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _RulingLists:
    """The lists of rulings that may be seen: of a run, and of the whole store."""

    settings: RulingsChoice
    run: Run | None
    rows: Sequence[ListedRuling]
    "rulings of the whole store that may be seen"
    withheld_uids: frozenset[bytes]
    run_uids: frozenset[bytes]
    "uids of all rulings on the run, or none without a run"
    has_several_instruments: bool

    @classmethod
    def read(cls, store: Store, settings: RulingsChoice, run: Run | None) -> _RulingLists:
        """Read the rulings of a store. `run`: its rulings have a list of their own."""
        from workbench.evidence.listed_rulings import list_rulings, withheld_uids, without_withheld
        from workbench.evidence.rulings import rulings_about_run

        rows = [
            row for row in list_rulings(store, with_texts=True) if row.ruling.verdict is not None
        ]
        withheld = withheld_uids(store, rows, settings.auditor, reviews=settings.reviews)
        has_several_instruments = len(store.instruments.names()) > 1
        run_uids = frozenset[bytes]()
        if run is not None:
            rulings = [row.ruling for row in rows]
            run_uids = frozenset(ruling.uid for ruling, _ in rulings_about_run(store, run, rulings))
        visible_rows = [
            without_withheld(row, withheld) for row in rows if row.ruling.uid not in withheld
        ]
        return cls(settings, run, visible_rows, withheld, run_uids, has_several_instruments)

    def entries(self) -> list[Entry]:
        """Return the tables: the rulings of any run, and those of the whole store."""
        store_empty = NONE_SEEN if self.withheld_uids else NOBODY
        store_entry = self._entry("store", "of the whole store", self.rows, store_empty)
        if self.run is None:
            return [store_entry]
        run_rows = [row for row in self.rows if row.ruling.uid in self.run_uids]
        run_empty = NONE_SEEN if self.withheld_uids & self.run_uids else NOT_HERE
        return [self._entry("run", "of this run", run_rows, run_empty), store_entry]

    def _entry(self, name: str, title: str, rows: Sequence[ListedRuling], empty: str) -> Entry:
        """Return an entry with a table of all rows, and one for each auditor."""
        auditors = sorted({row.ruling.auditor for row in rows})
        subjects: list[Subject] = [(), *((auditor,) for auditor in auditors)]
        make = partial(self._table, name, rows, empty)
        return Entry(name, title, make, subjects, choices=(name,))

    def _table(
        self, name: str, rows: Sequence[ListedRuling], empty: str, auditor: str = ""
    ) -> AnyTable:
        """Return the table of the rulings of an auditor, or of all."""
        from workbench.evidence.listed_rulings import screen_table

        return screen_table(
            [row for row in rows if auditor in ("", row.ruling.auditor)],
            empty,
            several_instruments=self.has_several_instruments and name == "store",
            blind=self.settings.blind,
        )

    def header_texts(self) -> list[tuple[str, str]]:
        """Return the run, and how many rulings are withheld, each after its table's name."""
        texts = []
        if self.run is not None:
            label = self.run.instrument if self.settings.blind else self.run.label
            texts.append(("run", label))
        counts = [
            ("run", len(self.withheld_uids & self.run_uids)),
            ("store", len(self.withheld_uids)),
        ]
        texts += [
            (
                name,
                f"{plural(count, 'ruling')} of others hidden until you decide on the same items",
            )
            for name, count in counts
            if count
        ]
        return texts


__all__ = ["RulingsChoice", "RulingsScreen", "load", "reviews"]
