"""Commands for annotators and organisers: queues, labels, agreement, adjudication."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from textwrap import fill
from typing import TYPE_CHECKING

from workbench.cli.immediate import act_of, run_immediate
from workbench.cli.output import (
    FIGURES,
    as_data,
    no_figures,
    print_json,
    print_out,
    print_outcome,
    put_out,
    say,
    say_wrapped,
    table,
)
from workbench.cli.verbs import Namespace, verb
from workbench.commands.agreement import OPTIONS as AGREEMENT
from workbench.commands.agreement import agreement_of
from workbench.commands.labels import (
    AdjudicateCommand,
    ChangeCodebookCommand,
    ExportCodebookCommand,
    ExportLabelsCommand,
    ImportLabelsCommand,
    MergeLabelsCommand,
    RestoreCodebookCommand,
)
from workbench.commands.people import DescribePersonCommand
from workbench.commands.sample import SampleCommand
from workbench.domain.annotations import FIELDS
from workbench.errors import UsageError
from workbench.figures.table import AnyTable
from workbench.options.option import Section, flag
from workbench.options.shared import (
    ANNOTATOR,
    DRY_RUN,
    JSON,
    QUEUE,
    STORE,
)

if TYPE_CHECKING:
    from stores.annotation.annotation_items import CodebookVersion
    from stores.annotation.labels import JudgedItem
    from stores.annotation.queues import Queue
    from stores.core.store import Store
    from workbench.domain.annotations import Codebook

QUEUE_COLUMNS = (
    *("queue", "purpose", "codebook", "items", "labels"),
    *("finished", "to adjudicate", "gold", "people", "attention"),
)
WHEN_GOLD = (
    "A label is gold when everybody who labelled the item chose it (one annotator is enough), or "
    "when the item has been adjudicated."
)


@verb(
    STORE,
    *SampleCommand.options().values(),
    DRY_RUN.but(help="print what would be drawn, and stop"),
    JSON,
)
def sample(options: Namespace) -> int:
    """Draw a queue and print a description of it."""
    from stores.core.store import Store

    command = SampleCommand.from_arguments(options)
    with Store.open(options.store) as store:
        if options.dry_run:
            outcome = command.outcome(command.proposal(store), is_made=False)
        else:
            outcome = command.run(store)
    return print_outcome(options, outcome)


@verb(STORE, ANNOTATOR, QUEUE.but(none="the only queue, or chosen on screen"))
def annotate(options: Namespace) -> int:
    """Open the terminal on the screen for labelling."""
    from stores.core.store import Store
    from workbench.domain.names import person_name

    if options.annotator is not None:
        options.annotator = person_name(options.annotator)
    with Store.open(options.store) as store:
        queues = store.queues.list()
        if options.queue is not None:
            store.queues.get(options.queue)
    queue = options.queue or (queues[0].name if len(queues) == 1 else None)
    if not sys.stdout.isatty():
        raise UsageError("labelling needs a terminal; to import labels: workbench labels --import")
    from workbench.tui.app import run_app

    return run_app(options.store, start="annotate", annotator=options.annotator, queue=queue)


CODEBOOK_ACTS = (ExportCodebookCommand, ChangeCodebookCommand, RestoreCodebookCommand)
_CHANGE = ChangeCodebookCommand.options()


@verb(
    STORE,
    _CHANGE["codebook"],
    Section(
        "Acts, one at a time",
        (
            *(act.options()[act.ACT] for act in CODEBOOK_ACTS),
            flag(
                "history", "the versions: who made each, why, how many labels it has, what changed"
            ),
        ),
        one_of=True,
    ),
    _CHANGE["annotator"],
    _CHANGE["note"],
    JSON,
)
def codebook(options: Namespace) -> int:
    """Print, change or export a codebook, or list its versions."""
    from stores.core.store import Store
    from workbench.codebooks import codebook_text
    from workbench.evidence.readings import codebook_of

    act = act_of(CODEBOOK_ACTS, options)
    if act is not None:
        return run_immediate(act, options)
    with Store.open(options.store) as store:
        book = codebook_of(store, None, options.codebook)
        versions = store.codebooks.versions(book)
    if options.history:
        return _codebook_history(options, versions, book)
    if options.json:
        print_json(asdict(book))
    else:
        say(codebook_text(book).rstrip())
    return 0


def _codebook_history(options: Namespace, known: Sequence[CodebookVersion], book: Codebook) -> int:
    """Print the versions of a codebook and the differences between them."""
    from difflib import unified_diff

    from workbench.codebooks import codebook_text

    if options.json:
        print_json([asdict(version) for version in known])
        return 0
    if not known:
        say(
            f"The codebook {book.name} is as it ships; nobody has labelled by it or changed it "
            "in this store."
        )
        return 0
    table(
        ["version", "counts", "since", "by", "labels", "note"],
        [
            (
                str(version.number),
                "yes" if version.current else "",
                version.at[:16].replace("T", " "),
                version.person,
                f"{version.labels:,}",
                version.note,
            )
            for version in known
        ],
    )
    for earlier, later in pairwise(known):
        old, new = (codebook_text(version.codebook).splitlines() for version in (earlier, later))
        say("")
        names = (f"version {earlier.number}", f"version {later.number}")
        say("\n".join(unified_diff(old, new, names[0], names[1], n=0, lineterm="")))
    return 0


@verb(STORE, *AdjudicateCommand.options().values(), JSON)
def adjudicate(options: Namespace) -> int:
    """List the items that people disagree on, or decide one of them."""
    from stores.annotation.labels import anonymous
    from stores.core.store import Store
    from workbench.evidence.readings import codebook_of

    act = act_of([AdjudicateCommand], options)
    if act is not None:
        return run_immediate(act, options)
    with Store.open(options.store) as store:
        book = codebook_of(store, options.queue, options.codebook)
        disputed = [
            item
            for item in store.labels.judged(book.name, queue=options.queue, only_disputed=True)
            if item.open
        ]
    if options.json:
        print_json([_disputed(item) for item in disputed])
        return 0
    if not disputed:
        say("No disagreements to decide.")
        return 0
    table(
        ["item", "labels", "reopened", "statement", "response"],
        [
            (
                str(item.context.unit),
                ", ".join(f"{letter} {label.label}" for letter, label in anonymous(item)),
                "yes" if item.decision else "",
                item.context.statement,
                item.context.text[:200],
            )
            for item in disputed
        ],
    )
    say(
        f"{len(disputed)} to decide: workbench annotate STORE, then d on a queue; or --item and "
        "--label"
    )
    return 0


LABEL_ACTS = (ExportLabelsCommand, ImportLabelsCommand, MergeLabelsCommand)
_LABELS = {name: option for act in LABEL_ACTS for name, option in act.options().items()}


@verb(
    STORE,
    _LABELS["queue"],
    _LABELS["codebook"],
    Section("Moving labels", [act.options()[act.ACT] for act in LABEL_ACTS], one_of=True),
    *(_LABELS[name] for name in ("layout", "into", "purpose", "partial")),
    JSON,
)
def labels(options: Namespace) -> int:
    """Show the queues, or move labels out of the store and into it."""
    from stores.core.store import Store

    act = act_of(LABEL_ACTS, options)
    if act is not None:
        return run_immediate(act, options)
    with Store.open(options.store) as store:
        if options.queue is not None:
            store.queues.get(options.queue)
        queue_name = options.queue
        queue_states = store.at_once(
            lambda: [
                _queue_state(store, queue)
                for queue in store.queues.list()
                if queue_name in (None, queue.name)
            ]
        )
    if options.json:
        print_json([state.record for state in queue_states])
    elif not queue_states:
        say("There is no queue yet. Draw one: workbench sample STORE --name test --purpose test")
    else:
        table(QUEUE_COLUMNS, [state.row for state in queue_states])
        say_wrapped(WHEN_GOLD)
    return 0


@verb(
    STORE,
    AGREEMENT,
    FIGURES,
)
def agreement(options: Namespace) -> int:
    """Print kappas, alpha and AC1 of the people who labelled a queue.

    For models and respondents, see `show`.
    """
    from stores.core.store import Store

    with Store.open(options.store) as store:
        printed = agreement_of(
            store,
            options.queue,
            seed=options.seed,
            items=options.items,
            every=as_data(options),
        )
        print_out(options, printed)
    return 0


def _disputed(item: JudgedItem) -> dict[str, object]:
    from stores.annotation.labels import anonymous

    return {
        "item": item.context.unit,
        "labels": {letter: label.label for letter, label in anonymous(item)},
        "notes": {letter: label.note for letter, label in anonymous(item) if label.note},
        "reopened": item.decision is not None,
        "statement": item.context.statement,
        "response": item.context.text,
    }


@dataclass(frozen=True, slots=True)
class _QueueState:
    """A queue and the progress of its labelling."""

    queue: Queue
    to_adjudicate: int
    gold: int
    gold_by_one_labeller: int
    attention_right: Sequence[tuple[str, int, int]]
    "person, right answers to the items that test attention, number of such items"

    @property
    def record(self) -> dict[str, object]:
        counts = {
            name: getattr(self, name)
            for name in ("to_adjudicate", "gold", "gold_by_one_labeller", "attention_right")
        }
        return asdict(self.queue) | counts

    @property
    def row(self) -> list[str]:
        queue, by_one = self.queue, self.gold_by_one_labeller
        return [
            queue.name,
            queue.purpose.value,
            queue.codebook.name,
            f"{queue.items:,}",
            f"{queue.done:,}/{queue.needed:,}",
            f"{queue.finished:,}",
            str(self.to_adjudicate),
            f"{self.gold:,}" + (f" ({by_one:,} by one)" if by_one else ""),
            ", ".join(queue.annotators),
            ", ".join(f"{name} {right}/{total}" for name, right, total in self.attention_right),
        ]


def _queue_state(store: Store, queue: Queue) -> _QueueState:
    items = store.labels.judged(queue.codebook.name, queue=queue.name)
    return _QueueState(
        queue,
        to_adjudicate=sum(item.open for item in items),
        gold=sum(item.gold is not None for item in items),
        gold_by_one_labeller=sum(item.gold_by_one for item in items),
        attention_right=store.labels.attention(queue.name),
    )


EPILOG = "Fields, all optional; you may add others:\n" + "\n".join(
    fill(f"{name:<18} {meaning}", 79, initial_indent="  ", subsequent_indent=" " * 21)
    for name, meaning in FIELDS.items()
)


@verb(
    STORE,
    flag("names", "show names instead of pseudonyms"),
    Section(
        "Describing somebody",
        tuple(DescribePersonCommand.options().values()),
    ),
    FIGURES,
    about="Describe annotators and respondents: counts of what they said about themselves, under "
    "pseudonyms.",
    epilog=EPILOG,
)
def people(options: Namespace) -> int:
    """List the annotators and respondents, or describe one of them."""
    from stores.core.store import Store
    from workbench.annotation.tables import people_counts, people_table

    if options.describe is not None:
        no_figures(options)
        return run_immediate(DescribePersonCommand, options)
    if options.set or options.unset or options.person is not None:
        raise UsageError("--set, --unset and --person need --describe NAME")
    with Store.open(options.store) as store:
        persons = store.people.list()
    tables: list[AnyTable] = [people_table(persons, names=options.names), people_counts(persons)]
    put_out(options, tables, {"names": options.names}, title="Annotators and respondents")
    return 0
