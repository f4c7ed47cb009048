"""The choice of a report's contents, and who is told about its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from workbench import registry
from workbench.domain.keys import SEED
from workbench.errors import UnknownName
from workbench.options.schema import check_compared

FAILED, ALL, NONE = "failed", "all", "none"
ANSWERS = {
    FAILED: "of statements that do not pass",
    ALL: "of every statement, and word for word in files beside the page",
    NONE: "none",
}
Tell = Callable[[float, str], None]
"receives the share of the work done, and the next step"


def silent(share: float, what: str) -> None:
    """Ignore progress reports."""


@dataclass(frozen=True, slots=True)
class ReportChoice:
    """The choice of a report's contents."""

    audits: tuple[str, ...] = ()
    "audits, or empty for all"
    models: tuple[str, ...] = ()
    "models, or empty for all"
    instrument: str = ""
    "instrument, or empty for all"
    answers: str = FAILED
    rulings: bool = True
    seed: int = SEED
    title: str = ""
    compare: tuple[str, ...] = ()
    "compared runs, by their names or their models' names"
    as_published: bool = False
    "whether every audit judges by its published rules"
    same_within: float | None = None
    "the greatest difference of compared runs that counts as none"
    tables: tuple[str, ...] = ()
    "names of tables that have files of their own beside those of the page"
    every_file: bool = False
    flags: tuple[str, ...] = ()
    "words of the command line that makes this choice, for the page and for messages"

    def __post_init__(self) -> None:
        for name in self.audits:
            registry.audit(name)
        if self.answers not in ANSWERS:
            raise UnknownName(f"--answers has no {self.answers!r}; choose {', '.join(ANSWERS)}")
        check_compared(self.same_within, self.compare)
