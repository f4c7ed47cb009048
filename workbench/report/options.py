"""Options of reports: the included results, and the raw answers shown with verdicts."""

from __future__ import annotations

from dataclasses import dataclass

from workbench import registry
from workbench.domain.keys import SEED as ONE_SEED
from workbench.domain.names import listed
from workbench.errors import UnknownName
from workbench.options.option import Option, flag
from workbench.options.schema import AS_PUBLISHED, check_compared
from workbench.options.shared import COMPARE, INSTRUMENT, MODELS, SAME_WITHIN, SEED, WITHOUT_RULINGS

FAILED, ALL, NONE = "failed", "all", "none"
ANSWERS = {
    FAILED: "of statements that do not pass",
    ALL: "of every statement, and word for word in files beside the page",
    NONE: "none",
}
AUDITS = Option("audit", "only these", none="all that were asked", metavar="NAME,…")
RAW = Option("answers", "raw answers beside the verdicts", default=FAILED, choices=ANSWERS)
TABLES = Option(
    "table",
    "also write these tables, as files of their own too: CSV, LaTeX and pictures",
    none="those of the page",
    metavar="NAME,…",
)
EVERY_FILE = flag(
    "every_file",
    "write every table of every audit, and its picture, as files of its own, in place of "
    "supplement.zip",
)
TITLE = Option("title", "of the page", none="made of what it holds", metavar="TEXT")
CHOOSING = (
    AUDITS,
    MODELS,
    INSTRUMENT.but(none="all that were asked"),
    RAW,
    WITHOUT_RULINGS,
    SEED.of("the intervals"),
    COMPARE,
    SAME_WITHIN,
    AS_PUBLISHED,
    TABLES,
    EVERY_FILE,
    TITLE,
)


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
    seed: int = ONE_SEED
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

    def __post_init__(self) -> None:
        for name in self.audits:
            registry.audit(name)
        if self.answers not in ANSWERS:
            raise UnknownName(f"--answers has no {self.answers!r}; choose {', '.join(ANSWERS)}")
        check_compared(self.same_within, self.compare)

    @classmethod
    def of(cls, options: object) -> ReportChoice:
        """Return the choice for options. Raises UnknownName."""
        values = vars(options)
        return cls(
            listed(values["audit"]),
            listed(values["model"]),
            values["instrument"] or "",
            values["answers"],
            not values["without_rulings"],
            values["seed"],
            values["title"] or "",
            tuple(values["compare"] or ()),
            values["as_published"],
            values["same_within"],
            listed(values["table"]),
            values["every_file"],
        )

    def arguments(self) -> list[str]:
        """Return the command-line arguments for this choice, without defaults."""
        default = ReportChoice()
        values = {
            AUDITS.flag: ",".join(self.audits),
            MODELS.flag: ",".join(self.models),
            INSTRUMENT.flag: self.instrument,
            RAW.flag: "" if self.answers == default.answers else self.answers,
            SEED.flag: "" if self.seed == default.seed else str(self.seed),
            TITLE.flag: self.title,
            TABLES.flag: ",".join(self.tables),
            SAME_WITHIN.flag: "" if self.same_within is None else f"{self.same_within:g}",
        }
        arguments = [part for flag, value in values.items() if value for part in (flag, value)]
        arguments += [COMPARE.flag, *self.compare] if self.compare else []
        arguments += [AS_PUBLISHED.flag] * self.as_published + [EVERY_FILE.flag] * self.every_file
        return [*arguments, *([] if self.rulings else [WITHOUT_RULINGS.flag])]
