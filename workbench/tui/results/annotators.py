"""The agreement of a queue's annotators: over all items, by pair, label, group and item."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from workbench.tui.format import literal
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.annotation.agreement_tables import QueueAgreement

NOBODY = "Nobody has labelled anything in this queue yet."
ITEMS = "items"
QUEUE_COLUMNS = 20


class AnnotatorsScreen(BookScreen):
    """Agreement between the annotators of one queue. Esc goes back to the queues."""

    RULED = False
    COUNTING = "Computing the coefficients and their intervals …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "names", "Names", tooltip="Show letters instead of names, or names again"),
        Binding("i", "items", "Items", tooltip="Show the items with the least agreement"),
        Binding("q", "leave", "Leave", tooltip="Go back to the queues"),
    ]

    _settings: bool
    "whether letters replace the annotators' names"

    def __init__(self, queue: str) -> None:
        super().__init__(False)
        self._queue = queue
        self.PLACE = f"annotate › agreement › {literal(queue, QUEUE_COLUMNS).plain}"

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action in ("names", "items"):
            return self._judged is not None
        return super().check_action(action, parameters)

    def judge(self, store: Store, settings: bool, known: Loaded | None) -> Loaded:
        return load(store, self._queue, known, letters=settings)

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back to the queues."

    def action_names(self) -> None:
        self._set(not self._settings)

    def action_items(self) -> None:
        """Show the items, those that people disagree on first."""
        self._go(replace(self._look, view=ITEMS))


def load(store: Store, queue: str, known: Loaded | None = None, *, letters: bool = False) -> Loaded:
    """Return the agreement on a queue, or `known` itself if nothing has changed.

    Raises UnknownName.
    """
    from workbench.annotation.agreement_tables import book
    from workbench.evidence.readings import agreement_of, queue_labels

    labels = queue_labels(store, queue)
    is_same = known is not None and known.rests_on == [labels]
    if known is not None and is_same and known.settings == letters:
        return known
    agreement: QueueAgreement = (
        known.source if known is not None and is_same else agreement_of(labels)
    )
    if not agreement.annotators:
        return Loaded(letters, empty=NOBODY, source=agreement, rests_on=[labels])
    shown_agreement = agreement.lettered if letters else agreement
    option_texts = [("", shown_agreement.told.rstrip("."))]
    if letters:
        option_texts.append(("", "letters instead of names"))
    return Loaded(
        letters,
        book=book(shown_agreement),
        judged=shown_agreement,
        options=option_texts,
        source=agreement,
        rests_on=[labels],
    )
