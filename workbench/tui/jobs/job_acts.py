"""What a person does to a job from the terminal: each in a thread, with a message once it is done."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual import work
from textual.message import Message

from workbench.errors import JobError
from workbench.tui.jobs.job_kind_dialog import CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.tui.jobs.job_lines import CHECK, stops, unit
from workbench.tui.kit.base import StoreScreen
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from textual.screen import Screen

    from stores.jobs.job_rows import Job
    from stores.runs.run_rows import Run

FORMS = {SAMPLE: "jobs.job_form.JobForm", TRAIN: "train", CLASSIFY: "classify", DRAFT: "draft"}
"kind of a job -> the screen that starts it"
CHECK_FORM = "statements.checks.CheckForm"


def like(job: Job) -> Screen[Any]:
    """Return the form of a job's kind with the job's options in its fields."""
    if job.kind == CHECK:
        return screen(CHECK_FORM, str(job.spec["instrument"]), like=job.id)
    return screen(FORMS[job.kind], like=job.id)


class JobActs(StoreScreen):
    """A screen that acts on jobs."""

    @dataclass
    class Done(Message):
        """Something that was asked for happened."""

        sentence: str

    @dataclass
    class Begun(Message):
        """A job goes on."""

        job: int
        only_failed: bool

    @dataclass
    class Elsewhere(Message):
        """A job that is to go on was created elsewhere."""

        job: int
        about: str
        only_failed: bool

    @dataclass
    class ToDelete(Message):
        """A job may be deleted, and this goes with it."""

        job: int
        goes: str

    @dataclass
    class RunFound(Message):
        """The run that a job's answers are in is known."""

        job: int
        mode: str
        run: Run | None
        "None: nothing is answered"

    @dataclass
    class NotDeleted(Message):
        """A job is not deleted; it may be hidden."""

        job: int
        why: str

    @dataclass
    class LogRead(Message):
        """A log is there to be shown."""

        job: int
        text: str

    @work(thread=True, exit_on_error=False, group="ask")
    def stop(self, job_id: int) -> None:
        from stores.core.store import Store
        from workbench.jobs.tidying import cancel

        with Store.open(self.store_path) as store:
            job, batches = cancel(store, job_id)
        self.post_message(self.Done(" ".join(filter(None, [stops(job), batches]))))

    @work(thread=True, exit_on_error=False, group="ask")
    def pause(self, job_id: int) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            job = store.jobs.pause(job_id)
        how = "is paused" if job.state == "paused" else f"pauses after the current {unit(job)}"
        self.post_message(self.Done(f"Job {job_id} {how}. R resumes it."))

    @work(thread=True, exit_on_error=False, group="ask")
    def bound(self, job_id: int, most: int) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            store.jobs.set_concurrency(job_id, most or None)
        how = f"at most {most:,} at once" if most else "the original number at once"
        self.post_message(self.Done(f"Job {job_id}: {how}."))

    @work(thread=True, exit_on_error=False, group="ask")
    def go_on(self, job_id: int, *, only_failed: bool = False, consent: bool = False) -> None:
        """Resume a job, or retry what failed."""
        from stores.core.store import Store
        from workbench.jobs import launch
        from workbench.jobs.origin import ElsewhereError

        with Store.open(self.store_path) as store:
            try:
                (launch.retry if only_failed else launch.resume)(store, job_id, consent=consent)
            except ElsewhereError as error:
                self.post_message(self.Elsewhere(job_id, error.about, only_failed))
                return
        self.post_message(self.Begun(job_id, only_failed))

    @work(thread=True, exit_on_error=False, group="ask")
    def replace(self, old: int, new: int) -> None:
        from stores.core.store import Store
        from workbench.jobs.tidying import instead_of

        with Store.open(self.store_path) as store:
            instead_of(store, old, new)
        self.post_message(self.Done(f"Job {new} replaces job {old}. It continues when you leave."))

    @work(thread=True, exit_on_error=False, group="ask")
    def hide(self, job_id: int, *, hidden: bool) -> None:
        from stores.core.store import Store

        with Store.open(self.store_path) as store:
            store.jobs.hide(job_id, hidden=hidden)
        self.post_message(
            self.Done(f"Job {job_id} is hidden; X lists hidden jobs." if hidden else f"Job {job_id} is listed.")
        )

    @work(thread=True, exit_on_error=False, group="ask")
    def look_what_goes(self, job_id: int) -> None:
        from stores.core.store import Store
        from workbench.jobs.tidying import what_goes

        with Store.open(self.store_path) as store:
            try:
                self.post_message(self.ToDelete(job_id, what_goes(store, job_id)))
            except JobError as error:
                self.post_message(self.NotDeleted(job_id, str(error)))

    @work(thread=True, exit_on_error=False, group="ask")
    def delete(self, job_id: int) -> None:
        from stores.core.store import Store
        from workbench.jobs.tidying import delete

        with Store.open(self.store_path) as store:
            delete(store, job_id)
        self.post_message(self.Done(f"Deleted job {job_id}."))

    @work(thread=True, exclusive=True, exit_on_error=False, group="run", description="run")
    def find_run(self, job: Job, mode: str) -> None:
        from stores.core.store import Store
        from workbench.evidence.runs import run_of_job

        with Store.open(self.store_path) as store:
            self.post_message(self.RunFound(job.id, mode, run_of_job(store, job)))

    @work(thread=True, exclusive=True, exit_on_error=False, group="log")
    def read_log(self, job_id: int) -> None:
        from workbench.jobs import launch

        self.post_message(self.LogRead(job_id, launch.log_tail(self.store_path, job_id, lines=1000)))
