"""The review queue: items with reasons, the progress of auditors, the reader's error rate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual.binding import Binding, BindingType

from workbench.domain.keys import SEED
from workbench.domain.names import plural
from workbench.domain.prompts import LATEST, TemplateChoice
from workbench.domain.readings import USUAL, ReadingChoice
from workbench.errors import WorkbenchError
from workbench.figures.book import Subject
from workbench.sessions.review import (
    ReviewSession,
    RunKey,
    newest_ruling_on,
    next_item,
    reviewable_runs,
    ruling_auditors,
    run_key,
)
from workbench.tui.kit.base import app_of, say, worker
from workbench.tui.kit.dialogs import NumberDialog, confirm, with_answer
from workbench.tui.preferences import reviews_blind
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded, Opened, ShownTable, TableView
from workbench.tui.results.options_dialog import RunsScreen
from workbench.tui.review.blind_key import BlindKey
from workbench.tui.review.item import NOTHING_WAITS, ReviewItemScreen
from workbench.tui.routes import screen
from workbench.tui.rulings.dialog import RulingRequest
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from stores.core.store import Store
    from stores.runs.run_rows import Run
    from workbench.domain.reviews import ControlSample
    from workbench.domain.rulings import Ruling
    from workbench.evidence.ruling_subjects import RulingSubject
    from workbench.pipeline.review import Review, ReviewProgress, Waiting

NO_ANSWERS = """Nothing to review: no model has answered yet.

3 goes to Jobs: n there asks one."""
NAMES_MODELS = "Reports and data name the models; b shows models first."
OF_AUDITOR = "rulings"
"table behind the row of an auditor"
DRAWN = 60
"default size of a control sample in the dialog"


@dataclass(frozen=True, slots=True)
class ReviewChoice:
    """The selected queue, and the auditor's view of it."""

    run: RunKey = ()
    "empty: the visible run, else the newest run with pending items"
    readings: ReadingChoice = USUAL
    auditor: str | None = None
    blind: bool = False
    instrument: str = ""
    templates: TemplateChoice = field(default=LATEST)


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """The data behind a queue."""

    runs: Sequence[Run]
    review: Review | None
    "None: the answers cannot be judged"
    drawn: int = 0
    "number of control samples of the run so far"


class ReviewScreen(BookScreen, BlindKey):
    """The queue of a run, with its other tables. Enter opens an item."""

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
        self.session = ReviewSession(reviews_blind())
        super().__init__(ReviewChoice(tuple(run), ReadingChoice(by), blind=self.session.blind))
        self._look = TableView()  # what waits comes first, whichever table was looked at last
        self.routes = {"item": self._opened, OF_AUDITOR: self._opened_rulings}
        self._anew = True
        "whether to rank the pending items again, which does not happen between two items"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        progress: ReviewProgress | None = self._judged
        if action in ("instrument", "templates", "rulings", "review"):
            return False
        if action == "undo":
            return self._last is not None
        if action == "done":
            return self.can_close
        if action == "runs":
            material = self._loaded.source if self._loaded is not None else None
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

    def judge(self, store: Store, settings: ReviewChoice, known: Loaded | None) -> Loaded:
        anew, self._anew = self._anew, False
        return load(store, settings, known, anew=anew)

    def on_screen_resume(self) -> None:
        self._settings = replace(self._settings, auditor=self._auditor, blind=self.session.blind)
        if self._loaded is None and (left_state := self._left) is not None:
            self._loaded, self._found = left_state[0], dict(left_state[1])
            self._go(self._look)
        super().on_screen_resume()

    def on_unmount(self) -> None:
        """Keep the visible state for the next opening of this queue, which shows it at once."""
        if self._loaded is not None and self._loaded.judged is not None:
            app_of(self).left_at[self.PLACE] = self._loaded, dict(self._found)

    @property
    def _left(self) -> tuple[Loaded, Mapping[TableView, ShownTable]] | None:
        """The state of this queue when it was left, or None if its settings were others."""
        left_state: tuple[Loaded, Mapping[TableView, ShownTable]] | None = app_of(self).left_at.get(
            self.PLACE
        )
        return (
            left_state
            if left_state is not None and left_state[0].settings == self._settings
            else None
        )

    def show_title_note(self) -> None:
        super().show_title_note()
        if self._judged is not None:
            model = "model hidden" if self._settings.blind else self.title_bar.note
            self.title_bar.note = f"{model} · {self._auditor}" if self._auditor else model

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back."

    def empty_reason(self, loaded: Loaded, table_view: TableView) -> str:
        texts = [super().empty_reason(loaded, table_view)]
        if self._may_draw(loaded):
            texts.append("d draws a control sample, which measures how often the reader errs.")
        has_other_runs = loaded.source is not None and len(loaded.source.runs) > 1
        if has_other_runs and not self.session.blind:
            texts.append("M opens the queue of another run.")
        return "\n\n".join(texts)

    def _may_draw(self, loaded: Loaded) -> bool:
        progress: ReviewProgress | None = loaded.judged
        return progress is not None and progress.of.reader is not None and progress.control is None

    def ruled_place(self) -> RuledPlace | None:
        progress: ReviewProgress | None = self._judged
        row = self.view.row if progress is not None else None
        ref = getattr(row, "ref", None)
        if progress is None or ref is None:
            return None
        prompt, key = getattr(row, "prompt", b""), getattr(row, "text", b"")
        return RuledPlace((progress.of.run.instrument,), (ref,), prompt=prompt, answer=key)

    def reader_in_sight(self) -> str | None:
        progress: ReviewProgress | None = self._judged
        return None if progress is None else progress.of.read_by

    def rulings_in_sight(self, thing: RulingSubject, rulings: Sequence[Ruling]) -> Sequence[Ruling]:  # noqa: ARG002
        own_rulings = [ruling for ruling in rulings if ruling.auditor == self._auditor]
        return own_rulings if self.withholds() else rulings

    def take_ruled(self, sentence: str, ruling: Ruling | None = None) -> None:  # noqa: ARG002
        self.say_changed(sentence)

    def show_standing(self) -> None:
        self.view.rulings = self._ruled_here
        self.view.follow()

    def open_following(self, progress: ReviewProgress, item: Waiting | None) -> None:
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
        """Open the next pending item. It is leased to the auditor, so that nobody else gets it."""
        progress: ReviewProgress | None = self._judged
        if progress is not None:
            self.as_auditor(ruling_auditors(progress), lambda _: self.find_following(progress))

    def turn_blind(self) -> None:
        self._again()

    def action_whole(self) -> None:
        """Show all details of the row under the cursor."""
        self.view.show_whole()

    def action_draw(self) -> None:
        """Ask for the size of a control sample, and draw it.

        If no answer of the current sample is decided, ask whether to take that back.
        """
        progress: ReviewProgress | None = self._judged
        if progress is None or self._loaded is None:
            return
        if progress.control is not None and (n_pending := len(progress.control.waiting(None))):
            review, items = progress.of, progress.control.sample.items
            if n_pending < len(items):
                say(
                    self,
                    "There is a control sample already; decide its "
                    f"{plural(n_pending, 'drawn answer')} first",
                    warns=True,
                )
                return

            question = (
                f"Take back the control sample of {plural(n_pending, 'answer')}? Nobody has "
                "decided on it yet."
            )
            confirm(self, question, "Take it back", "Keep it", lambda: self.undraw(review))
            return
        seed = SEED + self._loaded.source.drawn
        note = (
            "Half the answers are to statements that pass every test, if there are any; seed "
            f"{seed}. With 20 decisions the rate of misreadings has an interval; with 60 the "
            "interval is useful."
        )
        with_answer(self, NumberDialog("How many answers to draw", DRAWN, note), self._take_size)

    def action_report(self) -> None:
        """Write a report, unless the review is blind, as a report names the models."""
        if self._shows_models():
            super().action_report()

    def action_rows(self) -> None:
        """Write rows, unless the review is blind, as rows name the models."""
        if self._shows_models():
            super().action_rows()

    def _shows_models(self) -> bool:
        if self.session.blind:
            say(self, NAMES_MODELS, warns=True)
        return not self.session.blind

    def action_undo(self) -> None:
        """Take back the auditor's last ruling on the item under the cursor."""
        if (last := self._last) is not None:
            self.store_ruling(RulingRequest(undo=last), last.auditor)

    @property
    def progress_in_sight(self) -> ReviewProgress | None:
        progress: ReviewProgress | None = self._judged
        return progress

    @property
    def item_in_sight(self) -> Waiting | None:
        row: Any = self.view.row
        return row if getattr(row, "ref", None) is not None else None

    @property
    def _last(self) -> Ruling | None:
        """The auditor's last ruling on the item under the cursor."""
        return newest_ruling_on(self._judged, self.item_in_sight, self._auditor)

    def action_runs(self) -> None:
        if self._loaded is not None and self._judged is not None:
            dialog = RunsScreen(self._loaded.source.runs, self._judged.of.run)
            with_answer(
                self, dialog, lambda run: self._set(replace(self._settings, run=run_key(run)))
            )

    def action_refresh(self) -> None:
        self._read(anew=True)

    def _again(self) -> None:
        """Show the current state of the items without ranking them again."""
        self._settings = replace(self._settings, auditor=self._auditor, blind=self.session.blind)
        self._read()

    def _take_size(self, size: int) -> None:
        if self._loaded is not None and self._judged is not None:
            self.draw_sample(
                self._judged.of,
                size or DRAWN,
                SEED + self._loaded.source.drawn,
                self._auditor or "",
            )

    def _opened(self, path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG002
        """Return a function that opens an item, or the message that it left the queue."""
        progress: ReviewProgress = loaded.judged
        item = progress.found(subject[0])
        if item is None:
            return "This item is no longer in the queue."
        return lambda: ReviewItemScreen(progress, item, self.session)

    def _opened_rulings(self, path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG002
        """Return a function that opens the list of an auditor's rulings."""
        progress: ReviewProgress = loaded.judged
        return lambda: screen("rulings", progress.of.run, subject[0])

    def hides_reading(self) -> bool:
        return hasattr(self.view.row, "places") and self.session.blind and self.withholds()

    def withholds(self) -> bool:
        """Return whether others' rulings on the current row are hidden from this auditor."""
        progress: ReviewProgress | None = self._judged
        row = self.view.row
        if progress is None or getattr(row, "ref", None) is None:
            return False
        is_control_item = hasattr(row, "places")
        return (self.session.blind or is_control_item) and (
            self._auditor or ""
        ) not in progress.deciders(row)

    def _ruled_here(self, at: int) -> Sequence[str]:
        """Return the visible rulings on the item of a row."""
        from workbench.tui.rulings.dialog import ruling_line

        progress: ReviewProgress | None = self._judged
        sheet = self.view.sheet
        row: Any = (
            sheet.table.rows[at] if sheet is not None and at < len(sheet.table.rows) else None
        )
        if progress is None or getattr(row, "ref", None) is None:
            return ()
        sees_only_own = self.withholds()
        if hasattr(row, "places"):
            item_rulings = progress.control.rulings_on(row) if progress.control is not None else ()
        else:
            statement_rulings = progress.of.rulings.statements.get(row.ref, ())
            item_rulings = tuple(
                ruling for ruling in statement_rulings if not progress.of.as_drawn(ruling)
            )
        return [
            ruling_line(ruling)
            for ruling in item_rulings
            if not sees_only_own or ruling.auditor == self._auditor
        ]

    @worker("following", newest=False, opens=True)
    async def find_following(self, progress: ReviewProgress) -> None:
        new_progress, item = await self.with_store(
            lambda store: next_item(store, progress, self._auditor, first=True)
        )
        self.open_following(new_progress, item)

    @worker("draw", newest=False)
    async def undraw(self, of: Review) -> None:
        def act(store: Store) -> int:
            from workbench.pipeline.review import take_back

            return take_back(store, of)

        n_removed = await self.with_store(act)
        self.say_changed(
            f"control sample of {plural(n_removed, 'answer')} taken back; d draws another"
        )

    @worker("draw", newest=False)
    async def draw_sample(self, of: Review, size: int, seed: int, auditor: str) -> None:
        def act(store: Store) -> ControlSample:
            from workbench.pipeline.review import draw_control_sample

            return draw_control_sample(store, of, size, seed=seed, drawn_by=auditor).sample

        sample = await self.with_store(act)
        n_sampled = sum(stratum.drawn for stratum in sample.strata.values())
        n_different = len(sample.items)
        different_text = ""
        if n_different < n_sampled:
            different_text = f", {n_different:,} of them different"
        self.say_changed(
            f"{n_sampled:,} answers drawn{different_text}; they are mixed into the queue"
        )


def load(
    store: Store, settings: ReviewChoice, known: Loaded | None = None, *, anew: bool = False
) -> Loaded:
    """Rank the pending items, or update the known ranking with new rulings.

    It ranks if nothing is known, or with `anew`. Returns `known` itself if nothing has changed. The
    auditor's leases on items of the queue are released. Raises WorkbenchError.
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
    """Return the queue without its tables."""
    from workbench.evidence import listed_rulings as reviewed
    from workbench.pipeline.review import progress_of, shows_same

    runs = reviewable_runs(store)
    if not runs:
        return Loaded(settings, empty=NO_ANSWERS)
    try:
        review = _queue(store, runs, settings, known, anew=anew)
    except WorkbenchError as error:
        return Loaded(settings, problem=error, source=Material(runs, None))
    run, progress = review.run, progress_of(store, review, settings.auditor)
    progress = replace(
        progress,
        held={ref: holder for ref, holder in progress.held.items() if holder != settings.auditor},
    )
    n_samples = len(reviewed.control_samples_of(store, run, review.card))
    if (
        known is not None
        and known.settings == settings
        and known.judged is not None
        and shows_same(known.judged, progress)
    ):
        return known
    return Loaded(
        settings,
        judged=progress,
        models=[] if settings.blind else [run.named],
        runs=[run],
        instrument=run.instrument,
        options=[("", text) for text in _options(progress, runs, blind=settings.blind)],
        source=Material(runs, review, n_samples),
        rests_on=(run, settings.readings),
    )


def _queue(
    store: Store, runs: Sequence[Run], settings: ReviewChoice, known: Loaded | None, *, anew: bool
) -> Review:
    """Return the ranked queue of the selected run.

    Without a selection it is the visible run, else the newest run with pending items, because
    whoever opens the review wants to review. Raises WorkbenchError.
    """
    from workbench.pipeline.review import progress_of

    trouble, first_review = None, None
    for run in _candidates(runs, settings, known, anew=anew):
        try:
            run_review = _review_of(store, run, settings, known, anew=anew)
        except WorkbenchError as error:
            trouble = trouble or error
            continue
        if progress_of(store, run_review, settings.auditor).upcoming():
            return run_review
        first_review = first_review or run_review
    if first_review is None:
        raise trouble or WorkbenchError("no run can be judged")
    return first_review


def _candidates(
    runs: Sequence[Run], settings: ReviewChoice, known: Loaded | None, *, anew: bool
) -> Sequence[Run]:
    """Return the runs to try for a queue: a selected or visible one alone, else the newest first.

    A visible run that is ranked anew comes before the others.
    """
    previous_run = known.runs[0] if known is not None and known.runs else None
    wanted_key = settings.run
    if not wanted_key and previous_run is not None:
        wanted_key = run_key(previous_run)
    newest_first = [*reversed(runs)]
    candidates = sorted(newest_first, key=lambda run: run_key(run) != wanted_key)
    is_only_one = settings.run or (wanted_key and not anew)
    return candidates[:1] if is_only_one else candidates


def _review_of(
    store: Store, run: Run, settings: ReviewChoice, known: Loaded | None, *, anew: bool
) -> Review:
    """Rank the items of a run, or update the known ranking with new rulings."""
    from workbench.pipeline.review import review, with_rulings

    if known is not None and known.rests_on == (run, settings.readings) and not anew:
        return with_rulings(store, known.source.review)
    return review(store, run, settings.readings)


def _options(progress: ReviewProgress, runs: Sequence[Run], *, blind: bool) -> Sequence[str]:
    """Return short texts on the progress of the queue, its run, reader and control sample."""
    from workbench.pipeline.review_tables import misread_words, reviewed_shares

    review = progress.of
    texts = [_reviewed_text(progress)]
    if progress.control is not None:
        texts.append(misread_words(progress, blind=blind))
    elif review.reader is not None:
        texts.append("no control sample: d draws one")
    if len(runs) > 1 and not blind:
        number = _run_number(runs, review.run)
        texts.append(f"run {number:,} of {len(runs):,} of all audits: M opens another")
    texts.append(f"{review.run.instrument if blind else review.run.label} ({review.run.audit})")
    if review.card is not None:
        texts.append(f"read by {review.card.name}")
    shares_text = reviewed_shares(review)
    if shares_text:
        texts.append(shares_text)
    return texts


def _reviewed_text(progress: ReviewProgress) -> str:
    """Return how many statements and sampled answers are reviewed."""
    review, control = progress.of, progress.control
    subject = f"{progress.auditor} has" if progress.auditor else "auditors have"
    n_done = len(review.queue) - len(review.waiting(progress.auditor))
    text = f"{subject} reviewed {n_done:,} of {len(review.queue):,} statements"
    if control is None:
        return text
    n_decided = len(control.items) - len(control.waiting(progress.auditor))
    return f"{text}, {n_decided:,} of {len(control.items):,} drawn answers"


def _run_number(runs: Sequence[Run], run: Run) -> int:
    """Return the number of a run among others, or 1 if it is not there."""
    for number, candidate in enumerate(runs, start=1):
        if run_key(candidate) == run_key(run):
            return number
    return 1


__all__ = ["ReviewChoice", "ReviewScreen", "load"]
