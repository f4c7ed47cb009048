"""Answering a survey: one person's agreement with wordings. Which wording it is of which statement is not told."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from workbench.annotation.survey import AGREE, CODEBOOK, DISAGREE, Design
from workbench.domain.annotations import Codebook
from workbench.tui.annotation.session import Item, View
from workbench.tui.annotation.survey_format import end_text, intro_text

if TYPE_CHECKING:
    from stores.annotation.respondent import Question, Respondent
    from workbench.audits.reliability.agreement import AgreementRow


class RespondentSession:
    """One respondent. The store keeps their steps, so undo reaches back to earlier days."""

    def __init__(self, path: Path, instrument: str, name: str, design: Design):
        self._path, self._instrument, self._name, self._design = path, instrument, name, design
        self._respondent = self._open()
        self._welcomed = False

    @property
    def codebook(self) -> Codebook:
        return CODEBOOK

    def next(self) -> View:
        view = self._view(self._respondent.next())
        if self._welcomed or view.item is None:
            return view
        self._welcomed = True
        page = intro_text(self._name, self._respondent.progress())
        return View(view.item, view.progress, view.steps, page=page)

    def label(self, unit: int, label: str, elapsed_ms: int | None, confidence: float | None) -> None:  # noqa: ARG002
        self._respondent.answer(unit, label == AGREE, elapsed_ms)

    def skip(self, unit: int, elapsed_ms: int | None) -> None:
        """Put an item behind all others; the second time, leave it without an answer."""
        self._respondent.skip(unit, elapsed_ms)

    def undo(self, current: int | None) -> View:  # noqa: ARG002  what is open comes again by itself
        question = self._respondent.undo()
        return self._view(question or self._respondent.next())

    def go_further(self) -> View:
        """Go on with statements that this person was not asked about."""
        respondent = self._open(further=True)
        self._respondent.close()
        self._respondent = respondent
        return self.next()

    def move(self, path: Path) -> None:
        self._path = path
        before, self._respondent = self._respondent, self._open()
        before.close()

    def close(self) -> None:
        self._respondent.close()

    def _open(self, *, further: bool = False) -> Respondent:
        from stores.annotation.respondent import Respondent
        from stores.core.store import Store
        from workbench.pipeline.surveys import sit

        with Store.open(self._path) as store:
            session = sit(store, self._instrument, self._name, self._design, further=further)
        return Respondent.open(self._path, session)

    def _view(self, question: Question | None) -> View:
        progress = self._respondent.progress()
        if question is None:
            more = self._further()
            page = end_text(self._name, progress, self._consistency(), more)
            return View(None, progress, progress.steps, page=page, more=more)
        former = {True: AGREE, False: DISAGREE, None: ""}[question.taken_back]
        return View(Item(question.position, question.text), progress, progress.steps, former)

    def _consistency(self) -> tuple[AgreementRow, ...]:
        """Return the κ between this person's answers to originals and to variants."""
        from workbench.audits.reliability.agreement import survey_agreement

        answers, relations = self._respondent.answers()
        return survey_agreement(answers, self._respondent.instrument, relations=relations)

    def _further(self) -> int:
        from stores.core.store import Store
        from workbench.pipeline.surveys import further

        with Store.open(self._path) as store:
            return further(store, self._instrument, self._name, self._design)


def waiting(path: Path, instrument: str) -> tuple[str, ...]:
    """Return the respondents who have something left to answer; the names of the others are nobody's business."""
    from stores.annotation.respondent import Respondent
    from stores.core.store import Store

    with Store.open(path) as store:
        newest = {session.respondent: session.id for session in store.surveys.sessions(instrument)}
        behind = [line.respondent for line in store.surveys.respondents(instrument) if line.answered < line.asked]
    left = []
    for name, session in ((name, newest[name]) for name in behind):
        with Respondent.open(path, session) as respondent:
            if respondent.progress().left:
                left.append(name)
    return tuple(left)
