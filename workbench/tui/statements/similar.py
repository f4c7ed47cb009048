"""The screen of similar statements: in the whole instrument, or similar to one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui import routes
from workbench.tui.format import literal
from workbench.tui.kit.base import StoreScreen, worker
from workbench.tui.rulings.ruling import RulingKeys, ruling_lines
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement_format import difference, marked
from workbench.tui.widgets.record_table import Record, RecordColumn, RecordTable

if TYPE_CHECKING:
    from stores.core.store import Store


STEP, LEAST, MOST = 0.1, 0.2, 0.9
RULED = 3
"maximum number of visible rulings on a statement"

EXPLAIN = section("screens-statements", "Similar statements")


@dataclass(frozen=True, slots=True)
class SimilarPair:
    """Two similar statements."""

    first: str
    second: str
    texts: tuple[str, str]
    share: float

    @property
    def key(self) -> str:
        return f"{self.first}\n{self.second}"


class SimilarScreen(RulingKeys, StoreScreen):
    """The screen of the pairs of similar statements, the most similar first."""

    CSS_PATH = "similar.tcss"
    EXPLAIN = EXPLAIN
    READS_ONLY = True
    FREE: ClassVar[frozenset[str]] = frozenset({"step"})
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "minus",
            "step(-1)",
            "Less similar",
            key_display="-",
            tooltip="Show less similar pairs, too",
        ),
        Binding(
            "plus,equals_sign",
            "step(1)",
            "More similar",
            key_display="+",
            tooltip="Show only more similar pairs",
        ),
        Binding(
            "escape,N",
            "app.pop_screen",
            "Back",
            key_display="Esc",
            tooltip="Go back to where you came from: the list, or a statement",
        ),
    ]

    table = query_one("#pairs", RecordTable)
    details = query_one("#details", Static)

    def __init__(self, instrument: str, ref: str | None = None, language: str = "") -> None:
        super().__init__()
        from workbench.workshop.duplicates import NEAR

        self._instrument, self._ref, self._language = instrument, ref, language
        self._at_least = NEAR
        self._pairs: dict[str, SimilarPair] = {}
        self.PLACE = "statements › similar" + (f" to {ref}" if ref else "")

    def compose_body(self) -> ComposeResult:
        yield RecordTable(
            [
                RecordColumn("share", "similarity", 10),
                RecordColumn("first", "id", 12),
                RecordColumn("second", "and", 12),
                RecordColumn("text", "says", None),
            ],
            name="pairs",
        )
        with VerticalScroll(id="below", can_focus=False):
            yield Static("Comparing …", id="details", markup=False)

    def on_mount(self) -> None:
        self.table.focus()
        self.look(self._at_least)

    @on(RecordTable.RowHighlighted)
    def show_details(self) -> None:
        """Show the differences of the two statements under the cursor."""
        pair = self._pairs.get(self.table.current or "")
        if pair is not None:
            left, right = difference(*pair.texts)
            parts = [*self._named(pair.first), marked(left, "−"), Content("")]
            self.details.update(
                Content("\n").join([*parts, *self._named(pair.second), marked(right, "+")])
            )

    def _named(self, ref: str) -> list[Content]:
        """Return the lines of a statement: its name, and the rulings on it."""
        rulings = self.standing.on_place(RuledPlace((self._instrument,), (ref,)))
        return [Content.styled(visible(ref), "bold"), *ruling_lines(rulings[:RULED])]

    @on(RecordTable.RowSelected)
    def open_pair(self) -> None:
        pair = self._pairs.get(self.table.current or "")
        if pair is not None:
            refs = (pair.first, pair.second)
            screen = routes.screen("statement", self._instrument, pair.first, self._language, refs)
            self.app.push_screen(screen, lambda _: self.action_refresh())

    def action_refresh(self) -> None:
        self.look(self._at_least)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        return action != "rule" or bool(self._pairs)

    def on_screen_resume(self) -> None:
        self.read_standing()

    def ruled_place(self) -> RuledPlace | None:
        """Return the original of the second statement of the pair, whose text its row shows."""
        pair = self._pairs.get(self.table.current or "")
        return self._place(pair.second) if pair is not None else None

    def ruled_places(self) -> Sequence[RuledPlace]:
        """Return both statements of the pair."""
        pair = self._pairs.get(self.table.current or "")
        return [self._place(ref) for ref in (pair.second, pair.first)] if pair is not None else []

    def show_standing(self) -> None:
        self.show_details()

    def _place(self, ref: str) -> RuledPlace:
        return RuledPlace((self._instrument,), (ref, str(ORIGINAL)), language=self._language)

    def action_step(self, by: int) -> None:
        """Raise or lower the similarity threshold."""
        self._at_least = round(min(MOST, max(LEAST, self._at_least + by * STEP)), 1)
        self.look(self._at_least)

    @worker("look")
    async def look(self, at_least: float) -> None:
        def load(store: Store) -> tuple[str, tuple[SimilarPair, ...]]:
            return read_pairs(store, self._instrument, self._ref, self._language, at_least)

        language, pairs = await self.with_store(load)
        self.trouble.hide()
        self._pairs = {pair.key: pair for pair in pairs}
        self.title_bar.note = f"{plural(len(pairs), 'pair')} · similarity ≥ {self._at_least:.1f}"
        self.table.show([_record(pair) for pair in pairs])
        self.table.display = bool(pairs)
        self._language = language
        self.refresh_bindings()
        if pairs:
            self.table.focus()
        else:
            empty_text = (
                f"No two originals in {visible(language)} have a similarity of "
                f"{self._at_least:.1f} or more."
            )
            self.details.update(f"{empty_text}\n\n− lowers the threshold.")


def read_pairs(
    store: Store, name: str, ref: str | None, language: str, at_least: float
) -> tuple[str, tuple[SimilarPair, ...]]:
    """Return the compared language, and the pairs of similar originals, the most similar first."""
    from workbench.workshop.duplicates import near_pairs, similar

    instrument = store.instruments.get(name)
    language = language or instrument.language
    originals = [
        (statement.ref, wording.text)
        for statement in instrument.statements
        if (wording := statement.wording(ORIGINAL, language)) is not None
    ]
    if ref is None:
        near_indices = near_pairs([text for _, text in originals], at_least)
        pairs = [
            _pair(originals[left], originals[right], share) for left, right, share in near_indices
        ]
        return language, tuple(sorted(pairs, key=lambda pair: -pair.share))
    target = next((original for original in originals if original[0] == ref), None)
    other_originals = [original for original in originals if original[0] != ref]
    if target is None:
        return language, ()
    matches = similar(target[1], [text for _, text in other_originals], at_least)
    return language, tuple(
        _pair(target, other_originals[candidate.index], candidate.share) for candidate in matches
    )


def _pair(first: tuple[str, str], second: tuple[str, str], share: float) -> SimilarPair:
    return SimilarPair(first[0], second[0], (first[1], second[1]), share)


def _record(pair: SimilarPair) -> Record:
    return (
        pair.key,
        (
            Text(number(pair.share, Kind.COEFFICIENT)),
            literal(pair.first, 12),
            literal(pair.second, 12),
            literal(pair.texts[1], 400),
        ),
    )
