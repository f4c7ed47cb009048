"""Answering a survey: one respondent's session, and who has statements left to answer.

Nothing here tells which variant of which statement is shown, or what any person or model said of
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from workbench.annotation.survey import AGREE, CODEBOOK, DISAGREE, SurveyDesign
from workbench.domain.annotations import Codebook
from workbench.sessions.items import CurrentItem, ItemSession, LabelItem

if TYPE_CHECKING:
    from stores.annotation.respondent import (
        Answers,
        Relations,
        ShownWording,
        SurveyProgress,
        SurveyRespondent,
    )
    from stores.core.store import Store

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class CurrentQuestion(CurrentItem, Generic[R]):
    """The current question of a survey."""

    progress: SurveyProgress
    is_introduced: bool = True
    "whether the introduction to the survey was shown before it"
    consistency: Sequence[R] = ()
    "agreement of the person's answers with each other, at the end of the survey"
    more: int = 0
    "number of statements that the person may go on with at the end"


class RespondentSession(ItemSession["SurveyRespondent", CurrentQuestion[R]], Generic[R]):
    """One respondent's session. The store keeps the steps, so undo reaches back to earlier days.

    Parameters
    ----------
    consistency
        returns the agreement of a person's answers to an instrument with each other
    """

    def __init__(
        self,
        path: Path,
        instrument: str,
        name: str,
        design: SurveyDesign,
        consistency: Callable[[Answers, str, Relations], Sequence[R]],
    ):
        self._instrument, self._name, self._design = instrument, name, design
        self._consistency = consistency
        self._introduced = False
        self._returning: ShownWording | None = None
        "question that undo brings back"
        super().__init__(path)

    def open(self, path: Path, *, further: bool = False) -> SurveyRespondent:
        from stores.annotation.respondent import SurveyRespondent
        from stores.core.store import Store
        from workbench.pipeline.surveys import open_session

        with Store.open(path) as store:
            survey = open_session(
                store, self._instrument, self._name, self._design, further=further
            )
        return SurveyRespondent.open(path, survey)

    @property
    def codebook(self) -> Codebook:
        return CODEBOOK

    def next(self) -> CurrentQuestion[R]:
        current = self._current(self._returning or self.store.next())
        self._returning = None
        if self._introduced or current.item is None:
            return current
        self._introduced = True
        return replace(current, is_introduced=False)

    def label(
        self,
        unit: int,
        label: str,
        elapsed_ms: int | None,
        confidence: float | None,  # noqa: ARG002  respondents give none
    ) -> None:
        self.store.answer(unit, label == AGREE, elapsed_ms)

    def skip(self, unit: int, elapsed_ms: int | None) -> None:
        """Move an item behind all others, or the second time leave it unanswered."""
        self.store.skip(unit, elapsed_ms)

    def undo(self, current: int | None) -> str:  # noqa: ARG002  what is open comes again by itself
        self._returning = self.store.undo()
        self._introduced = True
        return ""

    def go_further(self) -> None:
        """Go on with statements that this person was not asked about."""
        self.go_on_with(self.open(self.path, further=True))

    def _current(self, question: ShownWording | None) -> CurrentQuestion[R]:
        progress = self.store.progress()
        if question is None:
            answers, relations = self.store.answers()
            return CurrentQuestion(
                None,
                progress,
                progress.steps,
                consistency=self._consistency(answers, self.store.instrument, relations),
                more=self._count_further(),
            )
        former = {True: AGREE, False: DISAGREE, None: ""}[question.taken_back]
        item = LabelItem(question.position, question.text)
        return CurrentQuestion(item, progress, progress.steps, former)

    def _count_further(self) -> int:
        from stores.core.store import Store
        from workbench.pipeline.surveys import n_further_wordings

        with Store.open(self.path) as store:
            return n_further_wordings(store, self._instrument, self._name, self._design)


def unfinished_respondents(store: Store, instrument: str) -> tuple[str, ...]:
    """Return the respondents with statements left to answer. Other names are kept private."""
    from stores.annotation.respondent import SurveyRespondent

    newest_sessions = {
        session.respondent: session.id for session in store.surveys.sessions(instrument)
    }
    names = []
    for line in store.surveys.respondents(instrument):
        if line.answered >= line.asked:
            continue
        with SurveyRespondent.open(store.path, newest_sessions[line.respondent]) as respondent:
            if respondent.progress().left:
                names.append(line.respondent)
    return tuple(names)
