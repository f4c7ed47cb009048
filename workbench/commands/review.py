"""Draw and withdraw the control sample of a run, from which auditors estimate a reader's errors."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.commands.audit_options import AUDIT
from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.names import person_name, plural
from workbench.options.option import Option, Type, flag
from workbench.options.shared import (
    ASKED_LANGUAGE,
    DTYPE,
    FAMILY,
    FINGERPRINT,
    INSTRUMENT,
    MODEL,
    PERSONA,
    READER,
    SAMPLING,
    SEED,
    SNAPSHOT,
    TEMPLATE_VERSION,
)

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.audits.audit import Printed
    from workbench.figures.table import AnyTable
    from workbench.pipeline.review import Review, ReviewProgress


AUDITOR = Option(
    "as_",
    "your name: items you have reviewed leave the queue, and what others decided on "
    "the control sample is not shown before your own decisions",
    metavar="NAME",
)
BLIND = flag("blind", "hide the model and other auditors' rulings")


@dataclass(frozen=True)
class ReviewCommand(ImmediateCommand):
    """The base of commands about the review of one run."""

    VERB = "review"

    audit: str = shared_option(AUDIT.but(choices=tuple(audit.name for audit in registry.asking())))
    model: str | None = shared_option(MODEL)
    instrument: str | None = shared_option(INSTRUMENT)
    sampling: str | None = shared_option(SAMPLING)
    dtype: str | None = shared_option(DTYPE)
    snapshot: str | None = shared_option(SNAPSHOT)
    fingerprint: str | None = shared_option(FINGERPRINT)
    language: str | None = shared_option(ASKED_LANGUAGE)
    persona: str | None = shared_option(PERSONA)
    family: str | None = shared_option(FAMILY)
    template_version: str | None = shared_option(TEMPLATE_VERSION)
    reader: str | None = shared_option(
        READER.but(help="run whose readings are reviewed", none="as in the figures")
    )

    def review(self, store: Store) -> Review:
        """Return the review of the run. Raises WorkbenchError if no run, or several, match."""
        return review_of(store, SimpleNamespace(**self.values()))


def review_of(store: Store, arguments: SimpleNamespace) -> Review:
    """Return the review of the run that options match.

    Raises WorkbenchError if no run, or several, match.
    """
    from workbench.audits.chosen_run import run_of
    from workbench.domain.readings import ReadingChoice
    from workbench.pipeline.review import review

    return review(store, run_of(store, arguments), ReadingChoice(arguments.reader))


@dataclass(frozen=True)
class DrawControlSampleCommand(ReviewCommand):
    """Draw answers at random, for auditors to decide whether they were read rightly."""

    ACT = "draw"

    as_: str | None = shared_option(AUDITOR)
    draw: int = option(
        None,
        "draw N answers, to passed and other statements, and mix them in; further draws add up",
        type=Type.WHOLE,
        least=2,
        metavar="N",
    )
    seed: int = shared_option(SEED.but(help="seed of the draw"))

    def run(self, store: Store) -> Outcome:
        """Draw the answers. Raises UsageError while drawn answers are pending."""
        from workbench.pipeline.review import draw_control_sample

        auditor = person_name(self.as_, "auditor") if self.as_ else ""
        review = self.review(store)
        control = draw_control_sample(store, review, self.draw, seed=self.seed, drawn_by=auditor)
        sample = control.sample
        n_drawn = sum(stratum.drawn for stratum in sample.strata.values())
        data = {
            "run": review.run.label,
            "reader": review.read_by,
            "seed": sample.seed,
            "drawn": n_drawn,
            "different": len(sample.items),
        }
        sentence = f"Drew {plural(n_drawn, 'answer')} of {review.run.label} (seed {sample.seed})"
        if len(sample.items) < n_drawn:
            sentence += f", {len(sample.items):,} of them different"
        return Outcome(f"{sentence}.", data)


@dataclass(frozen=True)
class WithdrawControlSampleCommand(ReviewCommand):
    """Withdraw the newest draw of answers, if nobody ever decided on an answer of it."""

    ACT = "undraw"

    undraw: bool = shared_option(
        flag("undraw", "take back the newest draw, if nobody ever decided on an answer of it")
    )

    def run(self, store: Store) -> Outcome:
        """Withdraw the draw. Raises UsageError if there is none, or somebody has decided."""
        from workbench.pipeline.review import take_back

        review = self.review(store)
        n_answers = take_back(store, review)
        sentence = f"Withdrew the newest draw of {review.run.label}: {plural(n_answers, 'answer')}."
        return Outcome(sentence, {"run": review.run.label, "answers": n_answers})


# ── what to review first ──────────────────────────────────────────────────────────────────────────


REVIEW_OPTIONS = (*ReviewCommand.options().values(), AUDITOR, BLIND)
"options of the queue"


def review_progress(store: Store, arguments: SimpleNamespace) -> ReviewProgress:
    """Return the queue of a run as an auditor sees it now.

    Raises WorkbenchError if no run, or several, match.
    """
    from workbench.pipeline.review import progress_of

    auditor = person_name(arguments.as_, "auditor") if arguments.as_ else None
    return progress_of(store, review_of(store, arguments), auditor)


def review_printed(progress: ReviewProgress, *, blind: bool, every: bool) -> Printed:
    """Return the tables of a queue.

    every : every table, as programs read them
    """
    from workbench.audits.audit import Printed
    from workbench.pipeline import review_tables as tables

    all_tables: list[AnyTable] = [
        tables.queue_table(progress, blind=blind),
        tables.reasons(),
        tables.auditors(progress, blind=blind),
    ]
    if tables.rulings_of_pairs(progress, blind=blind):
        all_tables.append(tables.agreement(progress, blind=blind))
    control = progress.control
    if control is not None:
        is_withheld = tables.hidden_until(progress, blind=blind)
        all_tables.append(tables.errors(control, is_withheld))
        if every:
            auditor = (progress.auditor or "") if is_withheld else None
            all_tables.append(tables.answers_drawn(control, auditor))
    return Printed(
        all_tables,
        review_data(progress, blind=blind),
        tables.title(progress.of, blind),
        tables.queue_sentences(progress, blind=blind),
    )


def review_data(progress: ReviewProgress, *, blind: bool) -> dict[str, Any]:
    """Return the run, the reader and the control sample of a review."""
    from workbench.evidence.runs import run_data
    from workbench.pipeline.review_tables import hidden_until

    review, is_withheld = progress.of, hidden_until(progress, blind=blind)
    draws: list[dict[str, Any]] = []
    for sample in () if progress.control is None else progress.control.samples:
        drawn_by = {} if is_withheld else {"drawn_by": sample.drawn_by}
        draws.append({"seed": sample.seed, **drawn_by, "at": sample.at})
    run: dict[str, Any] = {"instrument": review.run.instrument, "language": review.run.language}
    return {
        "run": run if blind else run_data(review.run),
        "auditor": progress.auditor,
        "blind": blind,
        "reader": review.card,
        "control": {**draws[-1], "draws": draws, "withheld": is_withheld} if draws else None,
    }
