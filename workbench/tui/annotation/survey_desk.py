"""The thread on which a person's sitting lives, and what it brings to the screen.

As at an annotator's desk: an SQLite connection belongs to one thread, a screen must not wait for a disk, and what is
asked is done in that order.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.annotation.survey import Design

if TYPE_CHECKING:
    from stores.runs.respondent import Progress, Question, Respondent
    from workbench.audits.reliability.agreement import AgreementRow

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class View:
    """What is before the person now."""

    question: Question | None
    "None: nothing is left"
    progress: Progress
    consistency: tuple[AgreementRow, ...] = ()
    "the person's own, at the end"
    further: int = 0
    "statements that could be asked besides, at the end"


class SurveyDesk:
    """One person's seat. It opens the store, and opens it again as long as that fails."""

    def __init__(self, path: Path, instrument: str, name: str, design: Design):
        self._path, self._instrument, self._name, self._design = path, instrument, name, design
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="respondent")
        self._respondent: Respondent | None = None

    def submit(self, ask: Callable[[Respondent], T]) -> Future[T]:
        """Have something done in the desk's thread, after what was asked before."""
        return self._pool.submit(lambda: ask(self._seated()))

    def view(self, respondent: Respondent) -> View:
        """Return what comes next. Call it in the desk's thread."""
        return self.view_of(respondent, respondent.next())

    def view_of(self, respondent: Respondent, question: Question | None) -> View:
        """Return a question with how far the person is, or the end with what came out. In the desk's thread."""
        progress = respondent.progress()
        if question is not None:
            return View(question, progress)
        return View(None, progress, consistency(respondent), self._further())

    def go_further(self) -> Future[View]:
        """Sit down at statements that this person was not asked about."""
        return self._pool.submit(self._go_further)

    def close(self) -> Future[None]:
        """Close the store once all that was asked is done; returns at once."""
        closed = self._pool.submit(self._close)
        self._pool.shutdown(wait=False)
        return closed

    def move(self, path: Path) -> None:
        """Sit down at the copy of a store that is gone, where the sitting goes on."""
        self._path = path
        self._pool.submit(self._close)

    def _seated(self, *, further: bool = False) -> Respondent:
        from stores.core.store import Store
        from stores.runs.respondent import Respondent
        from workbench.pipeline.surveys import sit

        if self._respondent is None:
            with Store.open(self._path) as store:
                sitting = sit(store, self._instrument, self._name, self._design, further=further)
            self._respondent = Respondent.open(self._path, sitting)
        return self._respondent

    def _go_further(self) -> View:
        self._close()
        return self.view(self._seated(further=True))

    def _further(self) -> int:
        from stores.core.store import Store
        from workbench.pipeline.surveys import further

        with Store.open(self._path) as store:
            return further(store, self._instrument, self._name, self._design)

    def _close(self) -> None:
        if self._respondent is not None:
            self._respondent.close()
            self._respondent = None


def consistency(respondent: Respondent) -> tuple[AgreementRow, ...]:
    """Return the κ between this person's answers to originals and to variants."""
    from workbench.audits.reliability.agreement import survey_agreement

    answers, relations = respondent.answers()
    return survey_agreement(answers, respondent.instrument, relations=relations)


def waiting(path: Path, instrument: str) -> tuple[str, ...]:
    """Return the respondents who have something left to answer; the names of the others are nobody's business."""
    from stores.core.store import Store
    from stores.runs.respondent import Respondent

    with Store.open(path) as store:
        newest = {sitting.respondent: sitting.id for sitting in store.surveys.sittings(instrument)}
        behind = [line.respondent for line in store.surveys.respondents(instrument) if line.answered < line.asked]
    left = []
    for name, sitting in ((name, newest[name]) for name in behind):
        with Respondent.open(path, sitting) as respondent:
            if respondent.progress().left:
                left.append(name)
    return tuple(left)
