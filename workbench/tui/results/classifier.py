"""The results of a stance classifier on its test set, with its untrained base and its errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from workbench.classifier.config import PUBLISHED_THRESHOLD
from workbench.domain.readings import THRESHOLDS
from workbench.tui.format import following
from workbench.tui.results.behind import BehindScreen
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.following import Following
from workbench.tui.results.loaded import Loaded
from workbench.tui.results.sheet import Sheet
from workbench.tui.rulings.standing import RuledPlace

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.classifier_figures import Assessed, TestText

NONE = """No classifier yet.

5 goes to Annotate: label one sample of the answers for training and one for testing.
Then press 3 and n to train one. This screen shows its test on answers it never saw."""
MISREAD = "misread"


@dataclass(frozen=True, slots=True)
class ClassifierChoice:
    """The selected classifier, and the confidence from which its answers count."""

    classifier: str = ""
    "name of the classifier, or empty for the newest"
    threshold: float = PUBLISHED_THRESHOLD


class _TestTexts(Following):
    """A screen whose rows are texts of a test set. Each is an answer to a wording."""

    def place_at(self, sheet: Sheet, at: int) -> RuledPlace | None:
        text: TestText | None = getattr(sheet.table.rows[at], "found", None)
        if text is None:
            return None
        return RuledPlace((text.instrument,), (text.ref, text.variant), text=text.text)


class TextsScreen(BehindScreen, _TestTexts):
    """The texts of one cell, or one row, of the confusion matrix."""


class ClassifierScreen(BookScreen, _TestTexts):
    """The classifiers of a store, one of them with its test. Esc goes back to the results."""

    PLACE = "results › classifier"
    COUNTING = "Reading the classifiers …"
    SCREENS: ClassVar[Mapping[str, type[BehindScreen]]] = {"texts": TextsScreen}
    DEFAULT_CSS = """
    ClassifierScreen #options {
        max-height: 5;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "minus", "threshold(-1)", "Lower threshold", show=False, tooltip="Lower the threshold"
        ),
        Binding(
            "plus,equals_sign",
            "threshold(1)",
            "Threshold",
            key_display="+ −",
            tooltip="Change the confidence below which answers are left out",
        ),
        Binding("c", "classifier(1)", "Next one", tooltip="Show the next classifier"),
        Binding(
            "C",
            "classifier(-1)",
            "Previous one",
            show=False,
            tooltip="Show the previous classifier",
        ),
        Binding("e", "misread", "Misread", tooltip="List the test answers that were misread"),
    ]

    _settings: ClassifierChoice

    def __init__(self, name: str = "") -> None:
        super().__init__(ClassifierChoice(name))

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "classifier":
            return self._judged is not None and len(self._names) > 1
        if action in ("threshold", MISREAD):
            return self._judged is not None
        return super().check_action(action, parameters)

    def judge(self, store: Store, settings: ClassifierChoice, known: Loaded | None) -> Loaded:
        return load(store, settings, known)

    def alternatives_hint(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc goes back to the results."

    def action_threshold(self, step: int) -> None:
        """Go to a neighbouring threshold. It stops at the ends."""
        index = THRESHOLDS.index(self._settings.threshold) + step
        if 0 <= index < len(THRESHOLDS):
            self._set(replace(self._settings, threshold=THRESHOLDS[index]))

    def action_classifier(self, step: int) -> None:
        if self._judged is not None:
            self._set(
                replace(
                    self._settings,
                    classifier=following(self._names, self._judged.classifier.name, step),
                )
            )

    def action_misread(self) -> None:
        self._go(replace(self._look, view=MISREAD))

    @property
    def _names(self) -> Sequence[str]:
        """The classifiers of the store, the newest first."""
        return self._loaded.source if self._loaded is not None else ()


def load(store: Store, settings: ClassifierChoice, known: Loaded | None = None) -> Loaded:
    """Return the figures of a classifier of a store, or `known` itself if nothing has changed."""
    from workbench.pipeline.classifier_figures import assessed, book

    classifiers = tuple(reversed(store.classifiers.list()))
    names = [classifier.name for classifier in classifiers]
    if not classifiers:
        return Loaded(settings, empty=NONE, source=names)
    assessment = assessed(
        store, settings.classifier if settings.classifier in names else names[0], settings.threshold
    )
    rests_on = (classifiers, assessment.texts)
    if known is not None and known.settings == settings and known.rests_on == rests_on:
        return known
    return Loaded(
        settings,
        book=book(assessment),
        judged=assessment,
        models=[assessment.classifier.name],
        options=options_words(assessment, names),
        source=names,
        rests_on=rests_on,
    )


def options_words(of: Assessed, names: Sequence[str]) -> Sequence[tuple[str, str]]:
    """Return texts on the classifier, its answers and its test, with the open questions."""
    label = (
        f"classifier {names.index(of.classifier.name) + 1} of {len(names)}"
        if len(names) > 1
        else "classifier"
    )
    key_hint = " (− lowers it)" if of.quality.alternative is not None else ""
    texts = [
        f"{label}: {of.classifier.name}",
        f"confidence from {of.threshold:g}{key_hint}",
        of.test.rests_on(),
    ]
    return [
        ("", text)
        for text in (
            *texts,
            *(
                f"! {open_question}"
                for open_question in of.test.open_questions("tuned", of.threshold)
            ),
        )
    ]
