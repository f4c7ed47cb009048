"""Commands for annotators and organisers: queues, labels, agreement, adjudication."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING

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
    tell,
)
from workbench.cli.starting import run_immediate
from workbench.cli.verbs import Namespace, verb
from workbench.commands.agreement import OPTIONS as AGREEMENT
from workbench.commands.agreement import agreement_of
from workbench.commands.people import DescribePersonCommand
from workbench.commands.sample import SampleCommand
from workbench.domain.annotations import FIELDS, PURPOSES
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.figures.table import AnyTable
from workbench.formats.label_tools import TOOLS
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import (
    ANNOTATOR,
    CODEBOOK,
    DRY_RUN,
    JSON,
    QUEUE,
    STORE,
)
from workbench.whole_folders import whole_file

if TYPE_CHECKING:
    from stores.annotation.annotation_items import CodebookVersion
    from stores.annotation.exchange import Merged
    from stores.annotation.labels import JudgedItem
    from stores.annotation.queues import Queue
    from stores.core.store import Store
    from workbench.domain.annotations import Codebook, FieldEvent
    from workbench.domain.reviews import ControlSample
    from workbench.domain.rulings import Ruling

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


@verb(
    STORE,
    CODEBOOK.but(help="stance of answers, side of statements"),
    Section(
        "Acts, one at a time",
        (
            Option("export", "write it as a file that --change reads", Type.PATH, metavar="TOML"),
            Option(
                "change",
                "let a file count from now on, as --annotator; labels keep their version",
                Type.PATH,
                metavar="TOML",
            ),
            Option(
                "restore",
                "let an earlier version count again, as --annotator",
                Type.WHOLE,
                least=1,
                metavar="VERSION",
            ),
            flag(
                "history", "the versions: who made each, why, how many labels it has, what changed"
            ),
        ),
        one_of=True,
    ),
    ANNOTATOR.but(help="who changes it", none=""),
    Option("note", "why", default=""),
    JSON,
)
def codebook(options: Namespace) -> int:
    """Print, change or export a codebook, or list its versions."""
    from stores.core.store import Store
    from workbench.codebooks import codebook_text, read_codebook
    from workbench.evidence.readings import codebook_of

    changes = options.change is not None or options.restore is not None
    if changes and not options.annotator:
        raise UsageError("give your name: --annotator NAME")
    with Store.open(options.store) as store:
        book = codebook_of(store, None, options.codebook)
        versions = store.codebooks.versions(book)
        if options.history:
            return _codebook_history(options, versions, book)
        if changes:
            new_codebook = (
                read_codebook(options.change)
                if options.change
                else _version(versions, book.name, options.restore)
            )
            version = store.codebooks.change(book, new_codebook, options.annotator, options.note)
            message = (
                f"Version {version.number} of the codebook {book.name} counts from now on; labels "
                "keep their version."
            )
            return tell(
                options,
                message,
                {"codebook": book.name, "version": version.number, "annotator": options.annotator},
            )
    if options.export is not None:
        with whole_file(options.export) as file:
            file.write(codebook_text(book))
        return tell(
            options,
            f"Wrote the codebook {book.name} to {options.export}.",
            {"file": str(options.export)},
        )
    if options.json:
        print_json(asdict(book))
    else:
        say(codebook_text(book).rstrip())
    return 0


def _version(known: Sequence[CodebookVersion], name: str, number: int) -> Codebook:
    """Return the codebook of a version. Raises UsageError if there is no such version."""
    if number > len(known):
        versions = plural(len(known), "version")
        raise UsageError(
            f"found version {number}; the codebook {name} has {versions}: workbench codebook "
            "STORE --history"
        )
    return known[number - 1].codebook


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


@verb(
    STORE,
    QUEUE.but(help="only this queue", none="all"),
    CODEBOOK,
    Option("item", "decide this item; with --label and --annotator", Type.WHOLE, metavar="ITEM"),
    Option("label"),
    Option(
        "reason",
        default="other",
        choices=("slip", "ambiguous", "guideline", "context", "hedged", "other"),
    ),
    Option("note", default=""),
    ANNOTATOR.but(help="who decides", none=""),
    JSON,
)
def adjudicate(options: Namespace) -> int:
    """List the items that people disagree on, or decide one of them."""
    from stores.annotation.labels import anonymous
    from stores.core.store import Store
    from workbench.domain.annotations import Reason
    from workbench.evidence.readings import codebook_of

    with Store.open(options.store) as store:
        book = codebook_of(store, options.queue, options.codebook)
        if options.item is not None:
            if not options.label or not options.annotator:
                raise UsageError(
                    "to decide an item give --label and --annotator too; without --item the "
                    "disagreements are listed"
                )
            reason, note = Reason(options.reason), options.note
            store.labels.decide(options.item, book, options.label, reason, note, options.annotator)
            message = f"Item {options.item} is {options.label}, decided by {options.annotator}."
            record = {"item": options.item, "label": options.label, "annotator": options.annotator}
            return tell(options, message, record)
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


@verb(
    STORE,
    QUEUE.but(help="only this queue", none="all"),
    CODEBOOK.but(help="for rows of a file without a queue", choices=()),
    Section(
        "Moving labels",
        (
            Option("export", "write every label event: .csv or .jsonl; see --layout", Type.PATH),
            Option(
                "import_",
                "add the events of a file that this store lacks, also of other tools",
                Type.PATH,
            ),
            Option(
                "merge",
                "add the events of another store",
                Type.PATH,
                metavar="STORE",
                completes="stores",
            ),
        ),
        one_of=True,
    ),
    Option("layout", "export: labels as another tool has them", none="our own", choices=TOOLS),
    Option("into", "import: make this queue for items that are in no queue"),
    Option("purpose", "purpose of that queue", default="training", choices=PURPOSES),
    flag("partial", "skip events about texts that this store lacks"),
    JSON,
)
def labels(options: Namespace) -> int:
    """Show the queues, or move labels out of the store and into it."""
    from stores.core.store import Store
    from workbench.pipeline.label_imports import merged_sentences

    if options.export is not None:
        return _export(options)
    with Store.open(options.store) as store:
        if options.queue is not None and options.merge is None:
            store.queues.get(options.queue)
        if options.import_ is not None or options.merge is not None:
            merged = (
                _import_file(store, options)
                if options.import_ is not None
                else _merge(store, options)
            )
            return tell(options, "\n".join(merged_sentences(merged, options.into)), merged)
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


def _export(options: Namespace) -> int:
    """Write a label file, whole or not at all."""
    from stores.core.store import Store
    from workbench.formats.label_files import FORMATS, write_labels
    from workbench.formats.label_tools import write_for

    path: Path = options.export
    suffixes = (
        FORMATS
        if options.layout is None
        else (".json",)
        if options.layout == "label-studio"
        else (".jsonl",)
    )
    if path.suffix not in suffixes:
        raise UsageError(f"{path}: give a name that ends in {' or '.join(suffixes)}")
    with Store.open(options.store) as store:
        if options.queue is not None:
            store.queues.get(options.queue)
        with whole_file(path) as file:
            events = store.exchange.events(options.queue)
            if options.layout is None:
                count, left_out = write_labels(events, file, path.suffix), list[str]()
            else:
                count, left_out = write_for(options.layout, events, file)
    message = " ".join(
        (
            f"Wrote {count:,} {'events' if options.layout is None else 'labels'} to {path}.",
            *left_out,
        )
    )
    return tell(
        options,
        message,
        {"file": str(path), "events": count, **({"left_out": left_out} if left_out else {})},
    )


def _import_file(store: Store, options: Namespace) -> Merged:
    """Add the events of a label file."""
    from workbench.pipeline.label_imports import LabelOptions, import_labels, read_label_file

    label_options = LabelOptions(options.codebook, options.into or "", options.purpose)
    file = read_label_file(options.import_, label_options)
    if not options.json:
        for note in file.notes:
            say_wrapped(note)
    return import_labels(store, file, partial=options.partial)


def _merge(store: Store, options: Namespace) -> Merged:
    """Add the events of another store, with its queues, rulings, people and control samples."""
    from stores.annotation.exchange import Merged
    from stores.core.store import Store as Other
    from workbench.pipeline.label_imports import LabelOptions, known_codebooks

    source: Path = options.merge
    if source.resolve() == options.store.resolve():
        raise UsageError(f"{source} is this store itself; name another one")
    rulings: Sequence[Ruling] = ()
    people: Sequence[FieldEvent] = ()
    samples: Sequence[ControlSample] = ()
    codebooks = known_codebooks(store)
    with Other.open_copied(source) as other_store:
        events = tuple(other_store.exchange.events(options.queue))
        queues = [
            queue for queue in other_store.exchange.queues() if options.queue in (None, queue.name)
        ]
        versions = other_store.exchange.versions()
        for name, book in other_store.exchange.codebooks().items():
            codebooks.setdefault(name, book)
        if options.queue is None:
            rulings = other_store.rulings.events()
            people = other_store.people.events()
            samples = other_store.control_samples.every()
    if events:
        merged = store.exchange.add(
            events,
            codebooks,
            source=str(source),
            versions=versions,
            partial=options.partial,
            queues=queues,
            into=LabelOptions(into=options.into or "", purpose=options.purpose).new_queue,
        )
    elif rulings or people or samples:
        merged = Merged(0, 0, 0, 0, ())
    else:
        raise UsageError(f"{source} has no labels; nothing was changed")
    return _with_reviews(store, merged, rulings, people, samples)


def _with_reviews(
    store: Store,
    found: Merged,
    rulings: Sequence[Ruling],
    people: Sequence[FieldEvent],
    samples: Sequence[ControlSample],
) -> Merged:
    """Add auditors' rulings, the descriptions of people, and control samples."""
    return replace(
        found,
        rulings=store.rulings.merge(rulings),
        people=store.people.merge(people),
        control_samples=store.control_samples.merge(samples),
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
