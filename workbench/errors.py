"""Every error a person may see, in one tree.

    WorkbenchError                 says what was found, where, and what to do; exit code 1
    ├── UsageError                 the request cannot be carried out as asked; exit code 2
    │   ├── FieldError             a value that an option or a field of a form does not take; knows which
    │   ├── UnknownName            a model, statement, template or test that is not there
    │   ├── AmbiguousRun           several runs match and one must be named
    │   ├── ConflictError          somebody else changed the same thing meanwhile
    │   └── LeakError              the same text or statement is in training and in test data
    ├── InputError                 a file that was given is malformed; carries its findings
    ├── StoreError                 the store cannot be used as it is
    │   ├── NotAStore              the file is something else
    │   ├── NewerStore             written by a newer workbench
    │   ├── OlderStore             of a schema from before the first that is migrated
    │   ├── ReadOnlyStore          the file or its folder cannot be written
    │   ├── StoreBusy              another program held the store for too long
    │   └── StoreGone              the file was deleted, moved or replaced while it was open
    ├── ModelError                 a model could not be loaded or asked
    │   ├── MissingPackage         an optional package is not installed
    │   ├── BudgetSpent            a served model would cost more than was allowed
    │   └── CheckpointError        a folder holds no trained classifier that may be loaded
    └── JobError                   a job cannot be started, found or resumed
        └── AttemptEnded           a worker writes for a job that was taken from it

Cancelling is not an error. A bug is not a `WorkbenchError`: it keeps its traceback, in the job's
log, in `faults.log` where a screen's worker had it, or on the terminal, because somebody has to
mend it.
"""  # noqa: E501

from __future__ import annotations

from dataclasses import dataclass


class WorkbenchError(Exception):
    """An error that a person can mend. The message says how."""

    exit_code = 1


class UsageError(WorkbenchError):
    """A request that cannot be carried out as asked."""

    exit_code = 2


class FieldError(UsageError):
    """A value that an option does not take.

    A form marks the field, the command line names the flag.
    """

    def __init__(self, field: str, reason: str, *, label: str = "", flag: str = ""):
        """Make the error of a field.

        Parameters
        ----------
        field : the option's name
        label, flag : what it is called in a form and on the command line
        """
        super().__init__(f"{label or field}: {reason}")
        self.field, self.reason, self.flag, self.label = field, reason, flag, label or field


class UnknownName(UsageError):
    """A name that stands for nothing here. The message lists the names that exist."""


class AmbiguousRun(UsageError):
    """A request that several runs match. The message lists them."""


class ConflictError(UsageError):
    """A change to what somebody else changed meanwhile. Nothing was written."""


class LeakError(UsageError):
    """Training and test data that share response texts or statements.

    The message names some of them.
    """


LONGEST_SAID = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """One place in a file that is not as expected."""

    file: str
    line: int | None
    column: str | None
    found: str
    expected: str
    counted: str = "line"
    "the unit of `line`: lines of a text, rows of a spreadsheet"

    def __str__(self) -> str:
        location = self.file
        if self.line is not None:
            location += f", {self.counted} {self.line}"
        if self.column is not None:
            location += f", column {_short(repr(self.column))}"
        return f"{location}: found {_short(self.found)}; expected {self.expected}"


def _short(said: str) -> str:
    """Return a text from a file, cut if it is long. It may be as long as the file."""
    return said if len(said) <= LONGEST_SAID else f"{said[:LONGEST_SAID]}…"


class InputError(WorkbenchError):
    """A file that is malformed. Nothing of it was imported."""

    shown = 12

    def __init__(self, findings: list[Finding] | tuple[Finding, ...], remedy: str | None = None):
        """Make the error of some findings.

        Parameters
        ----------
        remedy : what a person can do beside mending the file, with the statement that nothing was
            imported
        """
        self.findings = tuple(findings)
        lines = [str(finding) for finding in self.findings[: self.shown]]
        if len(self.findings) > self.shown:
            lines.append(f"and {len(self.findings) - self.shown} more")
        lines.append(remedy or "Nothing was imported.")
        super().__init__("\n".join(lines))


class StoreError(WorkbenchError):
    """A store that cannot be used as it is."""


class NotAStore(StoreError):
    """A file that exists and is not a workbench store."""


class NewerStore(StoreError):
    """A store that a newer workbench has written."""


class OlderStore(StoreError):
    """A store whose schema is from before the first one that is migrated."""


class ReadOnlyStore(StoreError):
    """A store that cannot be written, or whose folder cannot."""


class StoreBusy(StoreError):
    """A store whose write lock another program held for too long."""


class StoreGone(StoreError):
    """A store whose file was deleted, moved or replaced while it was open.

    Nothing of this change was written.
    """


class ModelError(WorkbenchError):
    """A model that could not be loaded or asked."""


class MissingPackage(ModelError):
    """An optional package that is not installed. The message names the install line."""


class BudgetSpent(ModelError):
    """A call to a served model that would go beyond a limit of the run.

    What was answered is kept.
    """


class SnapshotsAlternate(ModelError):
    """A served name that keeps changing the model behind it.

    What was answered is kept, by snapshot. The job pauses.
    """


class CheckpointError(ModelError):
    """A folder with no trained classifier, or one that must not be loaded as it is."""


class JobError(WorkbenchError):
    """A job that cannot be started, found or resumed."""


class AttemptEnded(JobError):
    """A job that another worker has, or that somebody ended.

    Nothing of what this worker was writing was written.
    """
