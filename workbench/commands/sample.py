"""Draw a queue of answers or statements for people to label."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.annotations import PURPOSES, Purpose
from workbench.domain.names import thing_name
from workbench.options.option import Type
from workbench.options.shared import CODEBOOK, INSTRUMENT, MODELS, SEED

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.queues import QueueProposal, QueueSpec


@dataclass(frozen=True)
class SampleCommand(ImmediateCommand):
    """Draw a queue of answers or statements for people to label."""

    VERB = "sample"

    name: str = option(None, "name of the queue", required=True)
    purpose: str = option(
        None, "training and test sets never share a text", required=True, choices=PURPOSES
    )
    codebook: str = shared_option(CODEBOOK.but(help="stance of answers, side of statements"))
    per_stratum: int = option(
        4, "of prefix x wording x model; test: on average", least=1, label="items per stratum"
    )
    labels: int | None = option(
        None,
        "people per item",
        type=Type.WHOLE,
        none="2 for test and check, otherwise 1",
        least=1,
        metavar="K",
    )
    overlap: float = option(
        1.0, "share of items with K people; above 1: their number per stratum", least=0
    )
    held_out: float = option(
        0.0,
        "test: share of statements kept from training sets",
        least=0,
        most=1,
        metavar="SHARE",
    )
    limit: int | None = option(
        None, "items in all, at random", type=Type.WHOLE, none="all", least=1
    )
    attention: int = option(0, "items with a known label, for everybody", least=0)
    seed: int = shared_option(SEED.of("the draw of items"))
    instrument: str | None = shared_option(INSTRUMENT.but(none="all"), selected=True)
    model: tuple[str, ...] = shared_option(
        MODELS.but(none="all models that answered"), ticked=True, all_by_default=True
    )

    def spec(self) -> QueueSpec:
        """Return how the queue is drawn. Raises UsageError for a name that it cannot have."""
        from workbench.pipeline.queues import QueueSpec

        purpose = Purpose(self.purpose)
        return QueueSpec(
            name=thing_name(self.name, "queue"),
            purpose=purpose,
            codebook=self.codebook,
            instrument=self.instrument,
            models=self.model,
            per_stratum=self.per_stratum,
            labels=default_labels(purpose) if self.labels is None else self.labels,
            overlap=self.overlap,
            seed=self.seed,
            held_out=self.held_out,
            attention=self.attention,
            limit=self.limit,
        )

    def proposal(self, store: Store) -> QueueProposal:
        """Draw the queue without making it. Reads only. Raises WorkbenchError."""
        from workbench.pipeline.queues import propose_queue

        return propose_queue(store, self.spec())

    def run(self, store: Store) -> Outcome:
        """Draw the queue and make it. Raises WorkbenchError if it cannot be made."""
        from workbench.pipeline.queues import make_queue

        proposal = self.proposal(store)
        make_queue(store, self.spec(), proposal)
        return self.outcome(proposal, is_made=True)

    def outcome(self, proposal: QueueProposal, *, is_made: bool) -> Outcome:
        """Return what a queue holds, or would hold."""
        frame = proposal.sample.frame
        data = {
            **asdict(self.spec()),
            "items": len(proposal.items),
            "labels": proposal.labels,
            "labels_given": proposal.given,
            "labels_to_give": proposal.to_give,
            "strata": proposal.sample.strata,
            "strata_short": proposal.sample.short,
            "held_back": proposal.sample.held_back,
            "read_by_rule": proposal.by_rule,
            "held_out_statements": proposal.held_out,
            "frame": None if frame is None else asdict(frame),
            "made": is_made,
        }
        next_step = ""
        if not proposal.to_give:
            next_step = (
                "Every item has its labels. Draw others with --seed N, or more with "
                "--per-stratum N."
            )
        elif is_made:
            queue = shlex.quote(self.name)
            next_step = f"Next: workbench annotate STORE --queue {queue} --annotator NAME"
        return Outcome(proposal.describe(), data, next_step)


def default_labels(purpose: Purpose) -> int:
    """Return the number of people who label an item unless told otherwise."""
    return 1 if purpose is Purpose.TRAINING else 2
