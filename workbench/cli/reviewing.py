"""Commands of auditors: what to review and why, rulings on it, and the rulings in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from workbench.audits.audit import Medium, Printed
from workbench.cli.immediate import act_of, run_immediate
from workbench.cli.output import FIGURES, medium, no_figures, print_out, put_out, say
from workbench.cli.verbs import Namespace, verb
from workbench.commands.review import (
    BLIND,
    DrawControlSampleCommand,
    ReviewCommand,
    WithdrawControlSampleCommand,
    review_data,
    review_printed,
    review_progress,
)
from workbench.commands.rulings import (
    ExportRulingsCommand,
    ImportRulingsCommand,
    RuleCommand,
    UndoRulingCommand,
)
from workbench.domain.names import person_name, plural
from workbench.domain.rulings import ruling_values
from workbench.errors import UnknownName, UsageError
from workbench.figures.table import Column, Kind, Table
from workbench.options.option import Option, Section, flag
from workbench.options.shared import INSTRUMENT, JSON, SEED, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.evidence.ruling_subjects import RulingSubject
    from workbench.figures.table import AnyTable
    from workbench.pipeline.review import ReviewProgress

SUBJECTS = """Subjects:
  s-01                                a statement
  s-01/negation                       a wording
  s-01/negation/personal-1[/swapped]  a prompt
  @3c59dc04                           a prompt, by its printed key
  PROMPT/=8f14e45f                    an answer to it
  ANSWER@label-words                  its reading by a rule or a classifier
`workbench rulings STORE --of s-01` prints the names below s-01."""


@verb(
    STORE,
    *RuleCommand.options().values(),
    JSON,
    about="Rule on statements, wordings, prompts or answers. Figures count rulings unless "
    "--without-rulings is given; "
    "a newer ruling of yours on a subject replaces the earlier one.",
    epilog=SUBJECTS,
)
def rule(options: Namespace) -> int:
    """Store a ruling on each subject: all of them, or none if one makes no sense."""
    return run_immediate(RuleCommand, options)


ACTS = (UndoRulingCommand, ExportRulingsCommand, ImportRulingsCommand)
_UNDO = UndoRulingCommand.options()


@verb(
    STORE,
    INSTRUMENT.but(help="instrument whose rulings are printed", none="all"),
    Option("of", "rulings on a subject, and the names of what is below it", metavar="SUBJECT"),
    flag("history", "every event, including undone and superseded rulings"),
    Section("Acts", [act.options()[act.ACT] for act in ACTS], one_of=True),
    _UNDO["as_"],
    _UNDO["reason"],
    FIGURES,
    about="Print the rulings in force, oldest first; or undo one, or move rulings between stores.",
    epilog=SUBJECTS,
)
def rulings(options: Namespace) -> int:
    """Print the rulings, or carry out an act."""
    from stores.core.store import Store

    act = act_of(ACTS, options)
    if act is not None:
        no_figures(options)
        return run_immediate(act, options)
    with Store.open(options.store) as store:
        return _show(store, options)


def _show(store: Store, options: Namespace) -> int:
    printed = store.at_once(lambda: _listed(store, options))
    put_out(options, printed.tables, printed.about, title=printed.title, told=printed.told)
    for line in printed.notes if not options.json else ():
        say(line)
    return 0


def _listed(store: Store, options: Namespace) -> Printed:
    """Return the rulings that are asked for.

    The notes tell how to rule if the store has no ruling.
    """
    from workbench.evidence import ruling_subjects as subjects
    from workbench.evidence.listed_rulings import (
        NOBODY,
        ListedRuling,
        list_rulings,
        shell_table,
        withheld_uids,
        without_withheld,
    )

    thing = subjects.find_subject(store, options.of, options.instrument) if options.of else None
    names = store.instruments.names()
    if options.instrument is not None and options.instrument not in names:
        raise UnknownName(
            f"the store has no instrument {options.instrument!r}. Available: {', '.join(names)}"
        )
    all_rows = list_rulings(store, thing.subject if thing else None)
    withheld: frozenset[bytes] = frozenset()
    if options.as_:
        auditor = person_name(options.as_, "auditor")
        withheld = withheld_uids(store, all_rows, auditor, reviews=None)
    rows = [
        without_withheld(row, withheld)
        for row in all_rows
        if (options.history or row.in_force)
        and options.instrument in (None, row.instrument)
        and row.ruling.uid not in withheld
    ]
    has_several_instruments = len(names) > 1
    subject_name = thing.name if thing is not None else options.instrument
    empty = (
        f"There is no ruling{f' on {subject_name}' * bool(subject_name)} to show."
        if all_rows or subject_name
        else NOBODY
    )
    tables: list[Table[ListedRuling] | Table[RulingSubject]] = [
        shell_table(
            rows,
            with_history=options.history,
            several_instruments=has_several_instruments,
            empty=empty,
        )
    ]
    if thing is not None:
        tables.append(_below(subjects.subjects_below(store, thing), thing))
    metadata = {
        "rulings": [
            ruling_values(row.ruling) | {"name": row.name, "stands": row.status} for row in rows
        ]
    }
    hidden_note = (
        f"{plural(len(withheld), 'ruling')} of others hidden until you decide on the same "
        "drawn answers"
    )
    help_lines = (
        ["\nHow to rule, and on what:\nworkbench rule --help"]
        if not all_rows and thing is None
        else []
    )
    return Printed(tables, metadata, "Rulings", [hidden_note] if withheld else [], help_lines)


def _below(things: Sequence[RulingSubject], of: RulingSubject) -> Table[RulingSubject]:
    return Table(
        "below",
        f"Below {of.name}",
        things,
        [
            Column("subject", "subject", lambda row: row.name),
            Column("kind", "kind", lambda row: row.subject.kind.value),
            Column("words", "text", lambda row: row.words, Kind.PROSE),
            Column("labels", "can read", lambda row: ", ".join(row.labels), aside=True),
        ],
        key=lambda row: (row.name,),
        empty="This subject has nothing below it.",
    )


_DRAW = DrawControlSampleCommand.options()
_UNDRAW = WithdrawControlSampleCommand.options()["undraw"]


@verb(
    STORE,
    *(_DRAW[name] for name in ReviewCommand.options()),
    Section(
        "The queue",
        (
            _DRAW["as_"],
            flag(
                "next",
                "print only the next item, with the answers and the names for `workbench rule`; "
                "with --as nobody else is given the item for half an hour",
            ),
            flag("all", "with --next: print every answer to the item, not the first ten"),
            BLIND,
        ),
    ),
    Section(
        "A control sample",
        (_DRAW["draw"], _DRAW["seed"], _UNDRAW),
        "Only this sample estimates how often a reader errs: statements with a reason are not a "
        "random sample.",
    ),
    FIGURES,
    about="Print what an auditor should review first, and why: each reason has a weight, and the "
    "weights add up. "
    "Rule with `workbench rule`; answers of the control sample are decided by confirmed or "
    "misread.",
)
def review(options: Namespace) -> int:
    """Print the queue or its next item, and first draw a control sample if one is asked for."""
    from stores.core.store import Store

    if options.as_:
        person_name(options.as_, "auditor")
    if options.seed != SEED.default and options.draw is None:
        raise UsageError("--seed belongs to --draw; give --draw N, or leave it out")
    if options.all and not options.next:
        raise UsageError(
            "--all belongs to --next, which prints the first ten answers of an item; leave it out"
        )
    with Store.open(options.store) as store:
        if options.undraw:
            WithdrawControlSampleCommand.from_arguments(options).run(store)
        if options.draw is not None:
            DrawControlSampleCommand.from_arguments(options).run(store)
        progress = store.at_once(lambda: review_progress(store, options))
        if options.next:
            return _next(store, options, progress)
    every = bool(options.json or options.csv or options.parquet)
    print_out(options, review_printed(progress, blind=options.blind, every=every))
    return 0


def _next(store: Store, options: Namespace, progress: ReviewProgress) -> int:
    from stores.annotation.rulings import DIGITS
    from workbench.domain.reviews import RankedStatement
    from workbench.evidence import ruling_subjects as subjects
    from workbench.pipeline import review_item as item
    from workbench.pipeline import review_tables as tables

    pending = item.next_item(store, progress, blind=options.blind)
    item_fields = None if pending is None else pending.plain(blind=options.blind)
    metadata = review_data(progress, blind=options.blind) | {"item": item_fields}
    title, paragraphs = (
        tables.title(progress.of, options.blind),
        tables.queue_sentences(progress, blind=options.blind),
    )
    if pending is None:
        put_out(options, [], metadata, title=title, told=(*paragraphs, _nothing(progress)))
        return 0
    paragraphs = (*paragraphs, *pending.lines(blind=options.blind))
    if medium(options) is Medium.PEOPLE and options.html is None and options.latex is None:
        item_tables: list[AnyTable] = [
            item.answers_in_short(pending, None if options.all else item.FIRST)
        ]
    else:
        item_tables = [item.answers(pending)]
    item_tables += [item.readers_of(pending)] if any(row.readers for row in pending.rows) else []
    instrument = progress.of.run.instrument if len(store.instruments.names()) > 1 else ""
    labels = (
        ()
        if isinstance(pending.item, RankedStatement)
        else subjects.find_subject(store, pending.subject).labels
    )
    model = ""
    if len(models := store.data_rows.models()) > 1:
        row = models[progress.of.run.model_id]
        n_with_name = sum(other["name"] == row["name"] for other in models.values())
        model = (
            f"@{row['key'].hex()[:DIGITS]}"
            if options.blind or n_with_name > 1
            else str(row["name"])
        )
    acts = pending.ruling_commands(progress.auditor, instrument, labels, options.reader, model)
    put_out(options, item_tables, metadata, title=title, told=paragraphs, notes=acts)
    return 0


def _nothing(progress: ReviewProgress) -> str:
    """Return a sentence that nothing is pending, with the people who review the remaining items."""
    from workbench.pipeline.review_tables import nothing_waits

    if not progress.items:
        return nothing_waits(progress)
    holders = sorted({progress.holder(item) for item in progress.of.queue} - {""})
    holder_note = (
        f" {' and '.join(holders)} {'is' if len(holders) == 1 else 'are'} reviewing the remaining "
        "items."
        if holders
        else ""
    )
    return f"Nothing is pending.{holder_note}"
