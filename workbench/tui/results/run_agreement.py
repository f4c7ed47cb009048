"""Agreement of one run between versions of statements and between templates, beside coin flips and people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from textual.binding import Binding, BindingType

from workbench.tui.results.audit_view import Judged, same_run
from workbench.tui.results.audit_view import load as load_audit
from workbench.tui.results.book_screen import BookScreen
from workbench.tui.results.loaded import Loaded

GONE = "The answers of this run are no longer in the store."


@dataclass(frozen=True, slots=True)
class Settings:
    """Which statements kappas are over."""

    as_people: bool = False
    "those alone that people answered"


class RunAgreementScreen(BookScreen):
    """The kappas of a run that was judged; Esc leads back to its verdicts."""

    PLACE = "audit › agreement"
    COUNTING = "Computing the coefficients and their intervals …"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("p", "people", "As people", tooltip="Only the statements that people answered, or all"),
        Binding("a", "leave", "Close", show=False),
    ]

    _settings: Settings

    def __init__(self, judged: Judged) -> None:
        super().__init__(Settings())
        self._verdicts = judged

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if action == "people":
            return self._judged is not None and bool(self._judged.instrument.survey)
        return super().check_action(action, parameters)

    def judged_now(self, settings: Settings, known: Loaded | None) -> Loaded:
        return load(self.store_path, self._verdicts, settings, known)

    def way_out(self, loaded: Loaded) -> str:  # noqa: ARG002
        return "Esc leads back to the verdicts."

    def action_people(self) -> None:
        """Turn between the statements that people answered and all."""
        self._set(replace(self._settings, as_people=not self._settings.as_people))


def load(path: Path, judged: Judged, settings: Settings, known: Loaded | None = None) -> Loaded:
    """Return the agreement of a run, judged anew where the store has other answers now. Raises WorkbenchError.

    Returns `known` itself where nothing has changed, and computes nothing twice that holds for both settings.
    """
    from workbench.audits.reliability.beside import Reliability
    from workbench.audits.reliability.book import agreement_book

    before = known.judged if known is not None and known.judged is not None else judged
    found = load_audit(path, judged.run, judged.settings, known=before)
    if found is None or not same_run(found.run, judged.run):
        return Loaded(settings, empty=GONE)
    same = known is not None and known.judged is found
    if known is not None and same and known.settings == settings:
        return known
    made = dict(known.material) if known is not None and same else {}
    if settings not in made:
        of = Reliability(found.report, found.instrument, found.run.language, settings.as_people, found.outdated)
        made[settings] = agreement_book(of, f"{found.run.label}: agreement")
    return Loaded(
        settings,
        book=made[settings],
        judged=found,
        models=[found.run.label],
        options=options_words(found, settings),
        material=made,
    )


def options_words(judged: Judged, settings: Settings) -> Sequence[tuple[str, str]]:
    """Return what the figures are about, in a few words each."""
    over = "over the statements that people answered" if settings.as_people else "over all statements"
    return [("", judged.run.instrument), ("people", over), ("", f"seed {judged.report.options.seed}")]
