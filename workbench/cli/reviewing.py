"""Commands of auditors: what to review and why, ruling on it, and what stands."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.audits.audit import Medium, Printed
from workbench.cli.audit_options import AUDIT
from workbench.cli.output import FIGURES, medium, no_figures, put_out, say, tell, whole_file
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import person_name, plural
from workbench.domain.rulings import EXPECTED, RULED_ON, Ruling, Verdict, from_plain, plain
from workbench.errors import UnknownName, UsageError
from workbench.figures.table import Column, Kind, Table
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import INSTRUMENT, JSON, MODEL, OF_RUN, READER, SEED, STORE
from workbench.regular_files import check_file

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.evidence.ruling_subjects import Thing
    from workbench.figures.table import AnyTable
    from workbench.pipeline.review import Progress, Review

VERDICTS = {
    verdict.value.replace(
        " ", "-"
    ): f"about {', '.join(kind for kind in type(next(iter(kinds))) if kind in kinds)}"
    for verdict, kinds in RULED_ON.items()
}
AS = Option("as_", "your name", required=True, metavar="NAME")
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
    Option(
        "subject",
        "what you rule on, see below",
        positional=True,
        required=True,
        many=True,
        metavar="SUBJECT…",
    ),
    Option(
        "verdict", "what you decide, see below", positional=True, required=True, choices=VERDICTS
    ),
    Option("reason", "your reason", required=True, metavar="TEXT"),
    AS,
    Option(
        "reading", "misread: the right reading; agree, disagree, B, unreadable, …", metavar="LABEL"
    ),
    READER.but(
        help="misread: reader of the figures, whose reading cannot be the right one",
        none="the usual one",
    ),
    INSTRUMENT,
    MODEL.but(
        help="model whose answers you looked at: a ruling on an answer, and that you reviewed a "
        "statement, applies to "
        "it alone. @ and the first digits of its key name it, too",
        none="the only one that gave the answer, or was asked the statement",
    ),
    flag(
        "all_models",
        "such a ruling applies to every model. Faults and exclusions of statements, wordings and "
        "prompts always do",
    ),
    JSON,
    about="Rule on statements, wordings, prompts or answers. Figures count rulings unless "
    "--without-rulings is given; "
    "a newer ruling of yours on a subject replaces the earlier one.",
    epilog=SUBJECTS,
)
def rule(options: Namespace) -> int:
    """Store a ruling on each subject: all of them, or none where one makes no sense."""
    from stores.core.store import Store
    from workbench.evidence import ruling_subjects as subjects

    verdict = Verdict(options.verdict.replace("-", " "))
    if options.all_models and options.model is not None:
        raise UsageError("--all-models and --model exclude each other; give one of them")
    with Store.open(options.store) as store:
        things = [
            subjects.read_by(store, subjects.find(store, name, options.instrument), options.reader)
            for name in options.subject
        ]
        for thing in things:
            subjects.check(thing, verdict, options.reading)
        models = [
            "" if options.all_models else subjects.model_meant(store, thing, verdict, options.model)
            for thing in things
        ]
        given = [
            subjects.rule(
                store,
                one,
                verdict,
                auditor=options.as_,
                reason=options.reason,
                reading=options.reading,
                model=model,
            )
            for one, model in zip(things, models, strict=True)
        ]
    names = ", ".join(thing.name for thing in things)
    read = f", reads {options.reading}" if options.reading else ""
    undo = (
        f"workbench rulings STORE --as {shlex.quote(options.as_)} --undo {given[-1].uid.hex()[:8]}"
    )
    said = f"{options.as_} rules {verdict}{read}: {names}.\nTaken back with:\n{undo}"
    return tell(options, said, [plain(one) for one in given])


@verb(
    STORE,
    INSTRUMENT.but(help="instrument whose rulings are printed", none="all"),
    Option("of", "rulings on a subject, and the names of what is below it", metavar="SUBJECT"),
    flag("history", "every event, including undone and superseded rulings"),
    Section(
        "Acts",
        (
            Option("undo", "undo a ruling, by its first digits", metavar="RULING"),
            Option("export", "write every event as JSON lines", Type.PATH),
            Option("import_", "add the events of such a file that this store lacks", Type.PATH),
        ),
        one_of=True,
    ),
    Option(
        "as_",
        "your name, needed by --undo; what others ruled on drawn answers that you have yet to "
        "decide is not printed",
        metavar="NAME",
    ),
    Option("reason", "undo: why; needed for another auditor's ruling", default="", metavar="TEXT"),
    FIGURES,
    about="Print the rulings in force, oldest first; or undo one, or move rulings between stores.",
    epilog=SUBJECTS,
)
def rulings(options: Namespace) -> int:
    """Print what stands, or carry out an act."""
    from stores.core.store import Store

    with Store.open(options.store) as store:
        if options.undo is not None or options.export is not None or options.import_ is not None:
            no_figures(options)
            return _act(store, options)
        return _show(store, options)


def _act(store: Store, options: Namespace) -> int:
    if options.undo is not None:
        return _undo(store, options)
    if options.export is not None:
        events = store.rulings.events()
        with whole_file(options.export) as file:
            file.writelines(f"{json.dumps(plain(one), ensure_ascii=False)}\n" for one in events)
        said = f"Wrote {plural(len(events), 'event')} to {options.export}."
        return tell(options, said, {"file": str(options.export), "events": len(events)})
    found = read_rulings(options.import_)
    added = store.rulings.merge(found)
    said = f"{plural(added, 'event')} added, {len(found) - added:,} stored already."
    return tell(options, said, {"added": added, "known": len(found) - added})


def read_rulings(path: Path) -> list[Ruling]:
    """Return the events of a file. Raises UsageError, naming the line that holds none."""
    try:
        lines = check_file(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    found = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                found.append(from_plain(json.loads(line)))
            except (ValueError, RecursionError) as error:
                found_ = f"{line.strip()[:40]!r}, which is no JSON on its own"
                raise UsageError(
                    f"{path}, line {number}: found no ruling but {found_}; {EXPECTED}"
                ) from error
            except UsageError as error:
                raise UsageError(f"{path}, line {number}: {error}") from error
    if not found:
        raise UsageError(f"{path} has no rulings; nothing was changed")
    return found


def _undo(store: Store, options: Namespace) -> int:
    if not options.as_:
        raise UsageError("--undo needs the auditor's name; give --as NAME")
    standing = [one for of in store.rulings.standing().values() for one in of]
    found = [one for one in standing if one.uid.hex().startswith(options.undo.lower())]
    if len(found) != 1:
        what = f"{len(found)} rulings in force begin" if found else "no ruling in force begins"
        raise UsageError(f"{what} with {options.undo!r}; workbench rulings STORE lists them")
    if found[0].auditor != options.as_ and not options.reason:
        raise UsageError(
            f"{options.undo} is {found[0].auditor}'s ruling {found[0].verdict}, not yours; to "
            "take it back, say why: "
            "--reason TEXT"
        )
    event = store.rulings.undo(found[0], auditor=options.as_, reason=options.reason)
    return tell(options, f"Undone: {found[0].auditor}'s ruling {found[0].verdict}.", plain(event))


def _show(store: Store, options: Namespace) -> int:
    shown = store.at_once(lambda: _listed(store, options))
    put_out(options, shown.tables, shown.about, title=shown.title, told=shown.told)
    for line in shown.notes if not options.json else ():
        say(line)
    return 0


def _listed(store: Store, options: Namespace) -> Printed:
    """Return the rulings that are asked for; its notes say how to rule where there is none."""
    from workbench.evidence import ruling_subjects as subjects
    from workbench.evidence.listed_rulings import (
        NOBODY,
        ListedRuling,
        as_table,
        listed,
        withheld,
        without,
    )

    meant = subjects.find(store, options.of, options.instrument) if options.of else None
    names = store.instruments.names()
    if options.instrument is not None and options.instrument not in names:
        raise UnknownName(
            f"the store has no instrument {options.instrument!r}. Available: {', '.join(names)}"
        )
    every = listed(store, meant.subject if meant else None)
    kept_back: frozenset[bytes] = frozenset()
    if options.as_:
        kept_back = withheld(store, every, person_name(options.as_, "auditor"), of=None)
    rows = [
        without(row, kept_back)
        for row in every
        if (options.history or row.in_force)
        and options.instrument in (None, row.place[0])
        and row.ruling.uid not in kept_back
    ]
    several = len(names) > 1
    on = meant.name if meant is not None else options.instrument
    empty = f"There is no ruling{f' on {on}' * bool(on)} to show." if every or on else NOBODY
    tables: list[Table[ListedRuling] | Table[Thing]] = [
        as_table(rows, history=options.history, several=several, empty=empty)
    ]
    if meant is not None:
        tables.append(_below(subjects.below(store, meant), meant))
    about = {
        "rulings": [plain(row.ruling) | {"name": row.name, "stands": row.stands} for row in rows]
    }
    hidden = (
        f"{plural(len(kept_back), 'ruling')} of others hidden until you decide on the same "
        "drawn answers"
    )
    how = (
        ["\nHow to rule, and on what:\nworkbench rule --help"]
        if not every and meant is None
        else []
    )
    return Printed(tables, about, "Rulings", [hidden] if kept_back else [], how)


def _below(things: Sequence[Thing], of: Thing) -> Table[Thing]:
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


@verb(
    STORE,
    AUDIT.but(choices=tuple(one.name for one in registry.asking())),
    OF_RUN,
    READER.but(help="run whose readings are reviewed", none="as in the figures"),
    Section(
        "The queue",
        (
            Option(
                "as_",
                "your name: items you have reviewed leave the queue, and what others decided on "
                "the control sample is "
                "not shown before your own decisions",
                metavar="NAME",
            ),
            flag(
                "next",
                "print only the next item, with the answers and the names for `workbench rule`; "
                "with --as "
                "nobody else is given the item for half an hour",
            ),
            flag("all", "with --next: print every answer to the item, not the first ten"),
            flag("blind", "hide the model and other auditors' rulings"),
        ),
    ),
    Section(
        "A control sample",
        (
            Option(
                "draw",
                "draw N answers, to passed and other statements, and mix them in; further draws "
                "add up",
                Type.WHOLE,
                least=2,
                metavar="N",
            ),
            SEED.but(help="seed of the draw"),
            flag("undraw", "take back the newest draw, if nobody ever decided on an answer of it"),
        ),
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
    """Print the queue, or its next item; draw a control sample first where that is asked for."""
    from stores.core.store import Store
    from workbench.domain.names import person_name
    from workbench.pipeline.review import draw, progress_of, take_back

    auditor = person_name(options.as_, "auditor") if options.as_ else None
    if options.seed != SEED.default and options.draw is None:
        raise UsageError("--seed belongs to --draw; give --draw N, or leave it out")
    if options.all and not options.next:
        raise UsageError(
            "--all belongs to --next, which prints the first ten answers of an item; leave it out"
        )
    with Store.open(options.store) as store:
        if options.undraw:
            take_back(store, _review(store, options))
        if options.draw is not None:
            draw(
                store,
                _review(store, options),
                options.draw,
                seed=options.seed,
                drawn_by=auditor or "",
            )
        progress = store.at_once(lambda: progress_of(store, _review(store, options), auditor))
        return (
            _next(store, options, progress) if options.next else _reviewing_show(options, progress)
        )


def _review(store: Store, options: Namespace) -> Review:
    from workbench.audits.chosen_run import run_of
    from workbench.domain.readings import Readings
    from workbench.pipeline.review import review as of_run

    run = run_of(store, options)
    return of_run(store, run, Readings(options.reader))


def _reviewing_show(options: Namespace, progress: Progress) -> int:
    from workbench.pipeline import review_tables as tables

    of, control = progress.of, progress.control
    blind, kept_back = options.blind, tables.withheld(progress, blind=options.blind)
    made: list[AnyTable] = [tables.queue(progress, blind=blind), tables.reasons()]
    made += [tables.auditors(progress, blind=blind)]
    made += (
        [tables.agreement(progress, blind=blind)] if tables.shared(progress, blind=blind) else []
    )
    if control is not None:
        of_whom = (progress.auditor or "") if kept_back else None
        made += [tables.errors(control, kept_back), tables.answers_drawn(control, of_whom)]
    shown = (
        made
        if options.json or options.csv or options.parquet
        else [one for one in made if one.name != "drawn"]
    )
    told = tables.told(progress, blind=options.blind)
    put_out(
        options, shown, _about(options, progress), title=tables.title(of, options.blind), told=told
    )
    return 0


def _next(store: Store, options: Namespace, progress: Progress) -> int:
    from stores.annotation.rulings import DIGITS
    from workbench.domain.reviews import Ranked
    from workbench.evidence import ruling_subjects as subjects
    from workbench.pipeline import review_item as item
    from workbench.pipeline import review_tables as tables

    shown = item.next_item(store, progress, blind=options.blind)
    plain = None if shown is None else shown.plain(blind=options.blind)
    about = _about(options, progress) | {"item": plain}
    title, told = (
        tables.title(progress.of, options.blind),
        tables.told(progress, blind=options.blind),
    )
    if shown is None:
        put_out(options, [], about, title=title, told=(*told, _nothing(progress)))
        return 0
    told = (*told, *shown.told(blind=options.blind))
    if medium(options) is Medium.PEOPLE and options.html is None and options.latex is None:
        made: list[AnyTable] = [item.answers_in_short(shown, None if options.all else item.FIRST)]
    else:
        made = [item.answers(shown)]
    made += [item.readers_of(shown)] if any(row.readers for row in shown.rows) else []
    instrument = progress.of.run.instrument if len(store.instruments.names()) > 1 else ""
    labels = () if isinstance(shown.item, Ranked) else subjects.find(store, shown.subject).labels
    model = ""
    if len(models := store.data_rows.models()) > 1:
        row = models[progress.of.run.model_id]
        alike = sum(one["name"] == row["name"] for one in models.values())
        model = f"@{row['key'].hex()[:DIGITS]}" if options.blind or alike > 1 else str(row["name"])
    acts = shown.acts(progress.auditor, instrument, labels, options.reader, model)
    put_out(options, made, about, title=title, told=told, notes=acts)
    return 0


def _nothing(progress: Progress) -> str:
    from workbench.pipeline.review_tables import nothing_waits

    if not progress.items:
        return nothing_waits(progress)
    others = sorted({progress.holder(one) for one in progress.of.queue} - {""})
    at_it = (
        f" {' and '.join(others)} {'is' if len(others) == 1 else 'are'} reviewing the remaining "
        "items."
        if others
        else ""
    )
    return f"Nothing is pending.{at_it}"


def _about(options: Namespace, progress: Progress) -> dict[str, Any]:
    from workbench.evidence.runs import about
    from workbench.pipeline.review_tables import withheld

    of, kept_back = progress.of, withheld(progress, blind=options.blind)
    samples = () if progress.control is None else progress.control.samples
    draws = [
        {"seed": one.seed, **({} if kept_back else {"drawn_by": one.drawn_by}), "at": one.at}
        for one in samples
    ]
    return {
        "run": {"instrument": of.run.instrument, "language": of.run.language}
        if options.blind
        else about(of.run),
        "auditor": progress.auditor,
        "blind": options.blind,
        "reader": of.card,
        "control": {**draws[-1], "draws": draws, "withheld": kept_back} if draws else None,
    }
