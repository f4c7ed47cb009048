"""What a person does to a job from the list of jobs and from its probe."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from workbench.domain.job_kinds import SAMPLE
from workbench.tui.jobs.job_lines import stopping_message
from workbench.tui.kit.base import StoreScreen, worker
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from textual.screen import Screen

    from stores.core.store import Store

RUN_FORM = "jobs.job_form.JobForm"


def form_of(kind: str, *, like: int | None = None) -> Screen[Any]:
    """Return the form that starts a job of a kind, with the options of a job that it is like."""
    if kind == SAMPLE:
        return screen(RUN_FORM, like=like)
    return screen("start_job", kind, like=like)


class JobActs(StoreScreen):
    """A screen that acts on jobs."""

    def say_done(self, sentence: str) -> None:
        """Say that what was asked for happened."""
        raise NotImplementedError("abstract")

    def say_begun(self, job_id: int, *, only_failed: bool) -> None:
        """Say that a job goes on."""
        raise NotImplementedError("abstract")

    def say_elsewhere(self, job_id: int, about: str, *, only_failed: bool) -> None:
        """Say that a job that is to go on was created elsewhere, and what that means."""
        raise NotImplementedError("abstract")

    @worker("ask", newest=False)
    async def carry_out(self, act: Callable[[Store], str]) -> None:
        """Do something to a job, and say what came of it."""
        self.say_done(await self.with_store(act))

    def stop(self, job_id: int) -> None:
        def act(store: Store) -> str:
            from workbench.jobs.tidying import cancel

            job, batches = cancel(store, job_id)
            return " ".join(filter(None, [stopping_message(job), batches]))

        self.carry_out(act)

    @worker("ask", newest=False)
    async def go_on(self, job_id: int, *, only_failed: bool = False, consent: bool = False) -> None:
        """Resume a job, or retry what failed."""

        def begin(store: Store) -> str | None:
            """Return None, or whom a job asks that was created elsewhere, and at whose cost."""
            from workbench.jobs import launch
            from workbench.jobs.origin import ElsewhereError

            try:
                (launch.retry if only_failed else launch.resume)(store, job_id, consent=consent)
            except ElsewhereError as error:
                return error.about
            return None

        about = await self.with_store(begin)
        if about is None:
            self.say_begun(job_id, only_failed=only_failed)
        else:
            self.say_elsewhere(job_id, about, only_failed=only_failed)

    def replace(self, old: int, new: int) -> None:
        def act(store: Store) -> str:
            from workbench.jobs.tidying import instead_of

            instead_of(store, old, new)
            return f"Job {new} replaces job {old}. It continues when you leave."

        self.carry_out(act)
