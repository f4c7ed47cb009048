"""Write a report: a page that opens offline, and behind it every table and the answers."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.options.option import Type
from workbench.options.schema import AS_PUBLISHED
from workbench.options.shared import COMPARE, INSTRUMENT, MODELS, SAME_WITHIN, SEED, WITHOUT_RULINGS
from workbench.report.options import ANSWERS, FAILED, ReportChoice, Tell, silent

if TYPE_CHECKING:
    from stores.core.store import Store


@dataclass(frozen=True)
class ReportCommand(ImmediateCommand):
    """Write a report on the results of a store: all of its files, or none."""

    VERB = "report"
    READS_ONLY = True

    folder: Path = option(
        None, "a new or empty folder", type=Type.PATH, positional=True, required=True, metavar="OUT"
    )
    audit: tuple[str, ...] = option(
        None, "only these", none="all that were asked", metavar="NAME,…", ticked=True
    )
    model: tuple[str, ...] = shared_option(MODELS, ticked=True)
    instrument: str | None = shared_option(INSTRUMENT.but(none="all that were asked"))
    answers: str = option(FAILED, "raw answers beside the verdicts", choices=ANSWERS)
    without_rulings: bool = shared_option(WITHOUT_RULINGS)
    seed: int = shared_option(SEED.of("the intervals"))
    compare: tuple[str, ...] = shared_option(COMPARE)
    same_within: float | None = shared_option(SAME_WITHIN)
    as_published: bool = shared_option(AS_PUBLISHED)
    table: tuple[str, ...] = option(
        None,
        "also write these tables, as files of their own too: CSV, LaTeX and pictures",
        none="those of the page",
        metavar="NAME,…",
        ticked=True,
    )
    every_file: bool = option(
        False,
        "write every table of every audit, and its picture, as files of its own, in place of "
        "supplement.zip",
    )
    title: str | None = option(None, "of the page", none="made of what it holds", metavar="TEXT")

    def choice(self) -> ReportChoice:
        """Return the contents of the report.

        Raises UnknownName for an unknown audit, UsageError for `same_within` without `compare`.
        """
        return ReportChoice(
            audits=self.audit,
            models=self.model,
            instrument=self.instrument or "",
            answers=self.answers,
            rulings=not self.without_rulings,
            seed=self.seed,
            title=self.title or "",
            compare=self.compare,
            as_published=self.as_published,
            same_within=self.same_within,
            tables=self.table,
            every_file=self.every_file,
            flags=self.flags(),
        )

    def run(self, store: Store, tell: Tell = silent) -> Outcome:
        """Write the report. `tell` is given each step.

        Raises WorkbenchError if it cannot be written.
        """
        from workbench.report.written import write_report

        page = write_report(store, self.folder, self.choice(), tell)
        files = sorted(path for path in page.parent.rglob("*") if path.is_file())
        size = sum(path.stat().st_size for path in files)
        sentence = (
            f"{page}  {page.stat().st_size:,} bytes\n"
            f"and {len(files) - 1:,} more files, {size:,} bytes in all"
        )
        return Outcome(sentence, {"page": str(page), "files": [str(path) for path in files]})
