"""The form that starts a kind of job: empty, or filled with what a job was told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workbench.tui.jobs.job_kind_dialog import CLASSIFY, DRAFT, SAMPLE, TRAIN
from workbench.tui.jobs.job_lines import CHECK
from workbench.tui.routes import screen

if TYPE_CHECKING:
    from textual.screen import Screen

    from stores.jobs.job_rows import Job

FORMS = {SAMPLE: "jobs.job_form.JobForm", TRAIN: "train", CLASSIFY: "classify", DRAFT: "draft"}
"kind of a job -> the screen that starts it"
CHECK_FORM = "statements.check_form.CheckForm"


def like(job: Job) -> Screen[Any]:
    """Return the form of a job's kind with the job's options in its fields."""
    if job.kind == CHECK:
        return screen(CHECK_FORM, str(job.spec["instrument"]), like=job.id)
    return screen(FORMS[job.kind], like=job.id)
