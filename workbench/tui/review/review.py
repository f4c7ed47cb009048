"""The review queue: what an auditor should look at first and why, how far everybody is, how often
the reader errs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType

from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, Readings
from workbench.errors import WorkbenchError
from workbench.figures.book import Subject
from workbench.tui.kit.base import app_of, say, worker
from workbench.tui.kit.dialogs import NumberDialog, confirm, with_answer
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded, Look, Opened, Shown
from workbench.tui.results.options_dialog import RunsScreen
from workbench.tui.review.item import NOTHING_WAITS, ReviewItemScreen
from workbench.tui.review.session import (
    BlindKey,
    ReviewSession,
    RunKey,
    after,
    last_ruled,
    reviewable,
    ruled_before,
    run_key,
)
from workbench.tui.routes import screen
from workbench.tui.rulings.dialog import Decided
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.reviews import ControlSample
    from workbench.domain.rulings import Ruling
    from workbench.evidence.ruling_subjects import Thing
    from workbench.pipeline.review import Progress, Review, Waiting

NO_ANSWERS = """Nothing to review: no model has answered yet.

3 goes to Jobs: n there asks one."""
NAMES_MODELS = "Reports and data name the models; b shows models first."
OF_AUDITOR = "rulings"
"what stands behind an auditor"
DRAWN = 60
"answers of a control sample that the dialog offers"


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """Which queue it is, and who looks at it how."""

    run: RunKey = ()
    """empty: the one in sight; else the one that was answered last, of those in which something
    waits"""
    readings: Readings = USUAL
    auditor: str | None = None
    blind: bool = False
    instrument: str = ""
    templates: TemplateChoice = field(default=LATEST)


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """What a queue is shown with."""

    runs: Sequence[Run]
    review: Review | None
    "None: nothing of it can be judged"
    drawn: int = 0
    "control samples that were drawn of it"


class ReviewScreen(BookScreen, BlindKey):
    """The queue of a run, with everything that stands beside it. Enter opens an item."""

    PLACE = "review"
    LEASES = True
    DECIDES: ClassVar[frozenset[str]] = frozenset({"undo", "draw"})
    FOOTER_FIRST = (
        "select_cursor",
        "rule",
        "done",
        "following",
        "undo",
        "draw",
        "blind",
        "view(1)",
    )
    COUNTING = "Ranking the queue: reading every answer of the run once …"
    LINES_OF_OPTIONS = 2
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("N", "following", "Next", tooltip="Open the next pending item"),
        Binding(
            "d",
            "draw",
            "Draw",
            tooltip="Draw a control sample to measure how often the reader errs, or take it back",
        ),
        Binding("z", "undo", "Undo", tooltip="Undo your last ruling on this item"),
        Binding("M", "runs", "Model", tooltip="Open the queue of another run"),
        Binding("v", "whole", "Whole row", show=False, tooltip="Show all details of this row"),
    ]

    _settings: ReviewChoice

    def __init__(self, run: RunKey = (), by: str | None = None) -> None:
        self.session = ReviewSession()
        super().__init__(ReviewChoice(tuple(run), Readings(by), blind=self.session.blind))
        self._look = Look()  # what waits comes first, whichever table was looked at last
        self.routes = {"item": self._opened, OF_AUDITOR: self._opened_rulings}
        self._anew = True
        """whether the store is asked what waits; what somebody works through is not ranked anew
        between two items"""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        progress: Progress | None = self._judged
        if action in ("instrument", "templates", "rulings", "review"):
            return False
        if action == "undo":
            return self._last is not None
        if action == "done":
            return self.can_close
        if action == "runs":
            material = self._loaded.material if self._loaded is not None else None
            return material is not None and len(material.runs) > 1 and not self.session.blind
        if action == "draw":
            return progress is not None and progress.of.reader is not None
        if action == "rule":
            return self.ruled_place() is not None
        if action == "following":
            return progress is not None and bool(progress.items)
        if action == "blind":
            return progress is not None
        return super().check_action(action, parameters)

    def judged_now(self, store: Store, settings: ReviewChoice, known: Loaded | None) -> Loaded:
        anew, self._anew = self._anew, False
        return load(store, settings, known, anew=anew)

    def on_screen_resume(self) -> None:
        self._settings = replace(self._settings, auditor=self._auditor, blind=self.session.blind)
        if self._loaded is None and (before := self._left) is not None:
            self._loaded, self._found = before[0], dict(before[1])
            self._go(self._look)
        super().on_screen_resume()

    def on_unmount(self) -> None:
        """Leave what is shown for the next who opens this queue: they see it at once, while the
        store is asked.
        """
        if self._loaded is not None and self._loaded.judged is not None:
            app_of(self).left_at[self.PLACE] = self._loaded, dict(self._found)

    @property
    def _left(self) -> tuple[Loaded, Mapping[Look, Shown]] | None:
        """What was shown when this queue was left, for the same eyes."""
        left: tuple[Loaded, Mapping[Look, Shown]] | None = app_of(self).left_at.get(self.PLACE)
        return left if left is not None and left[0].settings == self._settings else None

    def say_who(self) -> None:
        super().say_who()
        if self._judged is not None:
            model = "model hidden" if self._settings.blind else self.title_bar.note
            self.title_bar.note = f"{model} · {self._auditor}" if self._auditor else model

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back."

    def why_empty(self, loaded: Loaded, look: Look) -> str:
        others = (
            loaded.material is not None and len(loaded.material.runs) > 1 and not self.session.blind
        )
        draws = (
            "\n\nd draws a control sample, which measures how often the reader errs."
            * self._may_draw(loaded)
        )
        return (
            super().why_empty(loaded, look)
            + draws
            + "\n\nM opens the queue of another run." * others
        )

    def _may_draw(self, loaded: Loaded) -> bool:
        progress: Progress | None = loaded.judged
        return progress is not None and progress.of.reader is not None and progress.control is None

    def ruled_place(self) -> RuledPlace | None:
        progress: Progress | None = self._judged
        row = self.view.row if progress is not None else None
        ref = getattr(row, "ref", None)
        if progress is None or ref is None:
            return None
        prompt, key = getattr(row, "prompt", b""), getattr(row, "text", b"")
        return RuledPlace((progress.of.run.instrument,), (ref,), prompt=prompt, answer=key)

    def reader_in_sight(self) -> str | None:
        progress: Progress | None = self._judged
        return None if progress is None else progress.of.read_by

    def rulings_in_sight(self, thing: Thing, rulings: Sequence[Ruling]) -> Sequence[Ruling]:  # noqa: ARG002
        own = [one for one in rulings if one.auditor == self._auditor]
        return own if self.withholds() else rulings

    def take_ruled(self, sentence: str, ruling: Ruling | None = None) -> None:  # noqa: ARG002
        self.say_changed(sentence)

    def show_standing(self) -> None:
        self.view.rulings = self._ruled_here
        self.view.follow()

    def open_following(self, progress: Progress, item: Waiting | None) -> None:
        if item is None:
            say(self, NOTHING_WAITS)
            self._again()
        elif self.is_current:
            self.app.push_screen(ReviewItemScreen(progress, item, self.session))

    def say_changed(self, told: str) -> None:
        say(self, told)
        self.read_standing()
        self._again()

    def action_following(self) -> None:
        """Open the next pending item; it is given to somebody by name, so that nobody else is given
        it.
        """
        progress: Progress | None = self._judged
        if progress is not None:
            self.as_auditor(ruled_before(progress), lambda _: self.find_following(progress))

    def turn_blind(self) -> None:
        self._again()

    def action_whole(self) -> None:
        """Show everything that is known of the row under the cursor."""
        self.view.show_whole()

    def action_draw(self) -> None:
        """Ask how large a control sample is to be, and draw it."""
        progress: Progress | None = self._judged
        if progress is None or self._loaded is None:
            return
        if progress.control is not None and (left := len(progress.control.waiting(None))):
            of, items = progress.of, progress.control.sample.items
            if left < len(items):
                say(
                    self,
                    "There is a control sample already; decide its "
                    f"{plural(left, 'drawn answer')} first",
                    warns=True,
                )
                return

            question = (
                f"Take back the control sample of {plural(left, 'answer')}? Nobody has "
                "decided on it yet."
            )
            confirm(self, question, "Take it back", "Keep it", lambda: self.undraw(of))
            return
        seed = SEED + self._loaded.material.drawn
        note = (
            "Half the answers are to statements that pass every test, if there are any; seed "
            f"{seed}. "
            "With 20 decisions the rate of misreadings has an interval; with 60 the interval is "
            "useful."
        )
        with_answer(self, NumberDialog("How many answers to draw", DRAWN, note), self._take_size)

    def action_report(self) -> None:
        """Write a report, unless the review is blind: a report names the models."""
        if self._shows_models():
            super().action_report()

    def action_rows(self) -> None:
        """Write rows, unless the review is blind: they name the models."""
        if self._shows_models():
            super().action_rows()

    def _shows_models(self) -> bool:
        if self.session.blind:
            say(self, NAMES_MODELS, warns=True)
        return not self.session.blind

    def action_undo(self) -> None:
        """Take back the auditor's last ruling on the item under the cursor."""
        if (last := self._last) is not None:
            self.store_ruling(Decided(undo=last), last.auditor)

    @property
    def progress_in_sight(self) -> Progress | None:
        progress: Progress | None = self._judged
        return progress

    @property
    def item_in_sight(self) -> Waiting | None:
        row: Any = self.view.row
        return row if getattr(row, "ref", None) is not None else None

    @property
    def _last(self) -> Ruling | None:
        """What its auditor ruled last on the item under the cursor."""
        return last_ruled(self._judged, self.item_in_sight, self._auditor)

    def action_runs(self) -> None:
        if self._loaded is not None and self._judged is not None:
            asked = RunsScreen(self._loaded.material.runs, self._judged.of.run)
            with_answer(
                self, asked, lambda run: self._set(replace(self._settings, run=run_key(run)))
            )

    def action_refresh(self) -> None:
        self._read(anew=True)

    def _again(self) -> None:
        """Show what became of the items; what waits is not ranked anew."""
        self._settings = replace(self._settings, auditor=self._auditor, blind=self.session.blind)
        self._read()

    def _take_size(self, size: int) -> None:
        if self._loaded is not None and self._judged is not None:
            self.draw_sample(
                self._judged.of,
                size or DRAWN,
                SEED + self._loaded.material.drawn,
                self._auditor or "",
            )

    def _opened(self, path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG002
        """Return the screen of an item."""
        progress: Progress = loaded.judged
        item = progress.found(subject[0])
        if item is None:
            return "This item is no longer in the queue."
        return lambda: ReviewItemScreen(progress, item, self.session)

    def _opened_rulings(self, path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG002
        """Return the list of an auditor's rulings."""
        progress: Progress = loaded.judged
        return lambda: screen("rulings", progress.of.run, subject[0])

    def hides_reading(self) -> bool:
        return hasattr(self.view.row, "places") and self.session.blind and self.withholds()

    def withholds(self) -> bool:
        """Return whether what others ruled on the row in sight is kept from this auditor."""
        progress: Progress | None = self._judged
        row = self.view.row
        if progress is None or getattr(row, "ref", None) is None:
            return False
        drawn = hasattr(row, "places")
        return (self.session.blind or drawn) and (self._auditor or "") not in progress.deciders(row)

    def _ruled_here(self, at: int) -> Sequence[str]:
        """Return what was ruled on the item of a row, as far as it may be seen."""
        from workbench.tui.rulings.dialog import said

        progress: Progress | None = self._judged
        sheet = self.view.sheet
        row: Any = (
            sheet.table.rows[at] if sheet is not None and at < len(sheet.table.rows) else None
        )
        if progress is None or getattr(row, "ref", None) is None:
            return ()
        own = self.withholds()
        if hasattr(row, "places"):
            of = progress.control.of(row) if progress.control is not None else ()
        else:
            every = progress.of.rulings.statements.get(row.ref, ())
            of = tuple(one for one in every if not progress.of.as_drawn(one))
        return [said(one) for one in of if not own or one.auditor == self._auditor]

    @worker("following", newest=False, opens=True)
    async def find_following(self, progress: Progress) -> None:
        found, item = await self.with_store(
            lambda store: after(store, progress, self._auditor, first=True)
        )
        self.open_following(found, item)

    @worker("draw", newest=False)
    async def undraw(self, of: Review) -> None:
        def act(store: Store) -> int:
            from workbench.pipeline.review import take_back

            return take_back(store, of)

        gone = await self.with_store(act)
        self.say_changed(f"control sample of {plural(gone, 'answer')} taken back; d draws another")

    @worker("draw", newest=False)
    async def draw_sample(self, of: Review, size: int, seed: int, auditor: str) -> None:
        def act(store: Store) -> ControlSample:
            from workbench.pipeline.review import draw

            return draw(store, of, size, seed=seed, drawn_by=auditor).sample

        sample = await self.with_store(act)
        drawn, items = sum(one.drawn for one in sample.strata.values()), len(sample.items)
        alike = f", {items:,} of them different" * (items < drawn)
        self.say_changed(f"{drawn:,} answers drawn{alike}; they are mixed into the queue")


def load(
    store: Store, settings: ReviewChoice, known: Loaded | None = None, *, anew: bool = False
) -> Loaded:
    """Rank what waits; where that is known, and not to be found `anew`, see what was ruled
    meanwhile. Returns `known` itself where nothing has changed. Whoever looks at the queue holds no
    item of it any more. Raises WorkbenchError.
    """
    from workbench.evidence.listed_rulings import run_key as of_run
    from workbench.pipeline.review_tables import book

    loaded = store.at_once(lambda: _read(store, settings, known, anew=anew))
    if (auditor := settings.auditor) is not None:
        for key in (of_run(store, run) for run in loaded.runs):
            if auditor in store.review_leases.held(key).values():
                store.review_leases.release(key, auditor)
    if loaded is known or loaded.judged is None:
        return loaded
    return replace(loaded, book=book(loaded.judged, blind=settings.blind))


def _read(store: Store, settings: ReviewChoice, known: Loaded | None, *, anew: bool) -> Loaded:
    """Return the same without its tables."""
    from workbench.evidence import listed_rulings as reviewed
    from workbench.pipeline.review import progress_of, same

    runs = reviewable(store)
    if not runs:
        return Loaded(settings, empty=NO_ANSWERS)
    try:
        of = _queue(store, runs, settings, known, anew=anew)
    except WorkbenchError as error:
        return Loaded(settings, problem=error, material=Material(runs, None))
    run, progress = of.run, progress_of(store, of, settings.auditor)
    progress = replace(
        progress, held={ref: who for ref, who in progress.held.items() if who != settings.auditor}
    )
    drawn = len(reviewed.samples_of(store, run, of.card))
    if (
        known is not None
        and known.settings == settings
        and known.judged is not None
        and same(known.judged, progress)
    ):
        return known
    return Loaded(
        settings,
        judged=progress,
        models=[] if settings.blind else [run.named],
        runs=[run],
        instrument=run.instrument,
        options=[("", words) for words in _options(progress, runs, blind=settings.blind)],
        material=Material(runs, of, drawn),
        rests_on=(run, settings.readings),
    )


def _queue(
    store: Store, runs: Sequence[Run], settings: ReviewChoice, known: Loaded | None, *, anew: bool
) -> Review:
    """Rank what waits of the run that is meant. Where none was chosen that is the one in sight,
    else the newest in which anything waits: whoever opens the review wants to review. Raises
    WorkbenchError.
    """
    from workbench.pipeline.review import progress_of, review, with_rulings

    before = known.runs[0] if known is not None and known.runs else None
    seen = settings.run or (run_key(before) if before is not None else ())
    newest = [*reversed(runs)]
    meant = sorted(newest, key=lambda one: run_key(one) != seen)
    trouble, first = None, None
    for run in meant[:1] if settings.run or (seen and not anew) else meant:
        try:
            if known is not None and known.rests_on == (run, settings.readings) and not anew:
                of = with_rulings(store, known.material.review)
            else:
                of = review(store, run, settings.readings)
        except WorkbenchError as error:
            trouble = trouble or error
            continue
        if progress_of(store, of, settings.auditor).upcoming():
            return of
        first = first or of
    if first is None:
        raise trouble or WorkbenchError("no run can be judged")
    return first


def _options(progress: Progress, runs: Sequence[Run], *, blind: bool) -> Sequence[str]:
    """Return how far the queue is, what it is of, and which of all runs that is, in a few words
    each.
    """
    from workbench.pipeline.review_tables import misread, shares

    of, control = progress.of, progress.control
    who = f"{progress.auditor} has" if progress.auditor else "auditors have"
    done = len(of.queue) - len(of.waiting(progress.auditor))
    words = [f"{who} reviewed {done:,} of {len(of.queue):,} statements"]
    if control is not None:
        items = control.items
        words[-1] += (
            f", {len(items) - len(control.waiting(progress.auditor)):,} of {len(items):,} drawn "
            "answers"
        )
        words += [misread(progress, blind=blind)]
    elif of.reader is not None:
        words += ["no control sample: d draws one"]
    at = 1 + next((n for n, one in enumerate(runs) if run_key(one) == run_key(of.run)), 0)
    words += (
        [f"run {at:,} of {len(runs):,} of all audits: M opens another"]
        if len(runs) > 1 and not blind
        else []
    )
    words += [f"{of.run.instrument if blind else of.run.label} ({of.run.audit})"]
    words += [f"read by {of.card.name}"] if of.card is not None else []
    return [*words, *([shares(of)] if shares(of) else [])]


__all__ = ["ReviewChoice", "ReviewScreen", "load"]
