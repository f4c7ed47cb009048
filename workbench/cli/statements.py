"""The statement editor without a terminal: lists, and single acts that print what they did."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.immediate import act_of, run_immediate
from workbench.cli.output import print_json, say, table
from workbench.cli.verbs import Namespace, verb
from workbench.commands.statements import (
    AddStatementCommand,
    AddWordingCommand,
    ArchiveStatementsCommand,
    BulkCommand,
    DeleteWordingCommand,
    DeriveStatementCommand,
    EditWordingCommand,
    RenameStatementCommand,
    ReplaceTextCommand,
    RestoreStatementsCommand,
    SetFieldCommand,
    SetRelationCommand,
    StartInstrumentCommand,
    StripSpacesCommand,
    TagStatementsCommand,
    UndoEditCommand,
    UntagStatementsCommand,
    instrument_name,
)
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.errors import UsageError
from workbench.options.option import Option, Section, flag
from workbench.options.shared import DRY_RUN, JSON, STORE

if TYPE_CHECKING:
    from stores.core.store import Store

BULK = (
    TagStatementsCommand,
    UntagStatementsCommand,
    SetFieldCommand,
    ReplaceTextCommand,
    StripSpacesCommand,
)
"commands on --refs, which --dry-run previews"
ONE = (
    AddStatementCommand,
    EditWordingCommand,
    AddWordingCommand,
    DeleteWordingCommand,
    SetRelationCommand,
    RenameStatementCommand,
    DeriveStatementCommand,
)
ACTS = (
    *ONE,
    *BULK,
    ArchiveStatementsCommand,
    RestoreStatementsCommand,
    UndoEditCommand,
    StartInstrumentCommand,
)
_OPTIONS = {name: option for act in ACTS for name, option in act.options().items()}


def preview(store: Store, options: Namespace) -> int:
    """Print the changes that an act would make to many statements."""
    act = act_of(BULK, options)
    if act is None:
        flags = [act.options()[act.ACT].flag for act in BULK]
        raise UsageError(f"--dry-run needs one of {', '.join(flags)}")
    command = act.from_arguments(options)
    assert isinstance(command, BulkCommand)
    found = command.preview(store)
    if options.json:
        print_json(
            {
                "act": found.act,
                "before": [found.before[ref] for ref in found.after],
                "after": list(found.after.values()),
            }
        )
        return 0
    for ref, new_statement in found.after.items():
        say(ref)
        old_wordings = found.before[ref].wordings
        for old_wording, new_wording in zip(old_wordings, new_statement.wordings, strict=True):
            if old_wording.text != new_wording.text:
                say(f"  − {old_wording.variant} {old_wording.language}  {old_wording.text}")
                say(f"  + {new_wording.variant} {new_wording.language}  {new_wording.text}")
    say(
        f"{found.act}: {len(found.after):,} of {len(found.before):,} statements would change; "
        "nothing was written"
    )
    return 0


EPILOG = """Without an act, statements are listed. Variants have the names used in lists:
original, negation, paraphrase-2. Every act prints what it did; --undo undoes
the newest act of --person."""
ANSWERS_SHOWN = 50
LISTING = (
    Option("search", "in refs, topics, tags and every wording", default="", metavar="TEXT"),
    Option("issue", "related to this policy issue", default=""),
    Option("tagged", "with this tag", default="", metavar="TAG"),
    flag("archived", "archived statements instead of current ones"),
)
ACTED = (
    *(act.options()[act.ACT] for act in (*ONE, *BULK)),
    _OPTIONS["archive"],
    _OPTIONS["restore"],
    Option("history", "versions, what uses each, and who changed what", metavar="REF"),
    Option(
        "answers", "models' answers that contain these words, from the whole store", metavar="WORDS"
    ),
    _OPTIONS["undo"],
    _OPTIONS["new_instrument"],
)
VALUES = tuple(
    _OPTIONS[name]
    for name in (
        "text",
        "question",
        "variant",
        "language",
        "country",
        "topic",
        "source",
        "tags",
        "title",
        "scheme",
    )
)


@verb(
    STORE,
    *(_OPTIONS[name] for name in ("instrument", "person", "refs")),
    DRY_RUN.but(help="show what would change, and stop"),
    Section("Listing", LISTING),
    Section("Acts, one at a time", ACTED, one_of=True),
    Section("What a statement, a wording or an instrument is", VALUES),
    JSON,
    about="List, write, vary, tag, archive statements, and show their versions.",
    epilog=EPILOG,
)
def statements(options: Namespace) -> int:
    """List statements, or carry out one act."""
    from stores.core.store import Store

    act = act_of(ACTS, options)
    if act is not None and not (options.dry_run and act is not StartInstrumentCommand):
        if options.text == "-" and "text" in act.options():
            options.text = sys.stdin.read().rstrip("\n")
        return run_immediate(act, options)
    with Store.open(options.store) as store:
        if options.answers is not None:
            return _answers(store, options)
        if act is not None:
            return preview(store, options)
        name = instrument_name(store, options.instrument)
        if options.history is not None:
            return _history(store, options, name)
        return _list(store, options, name)


def _answers(store: Store, options: Namespace) -> int:
    """Print the answers that contain some words, and the source of each.

    Only answers to one instrument are printed if it is named.
    """
    from stores.runs.answers import answers_with
    from workbench.domain.names import places

    if not options.answers.strip():
        raise UsageError("--answers: found no word to look for")
    matches, offset = [], 0
    while page := answers_with(store.connection, options.answers, offset=offset):
        matches += [
            row
            for row in page
            if options.instrument in (None, row.instrument) and places(row.text, options.answers)
        ]
        offset += len(page)
        if len(matches) >= ANSWERS_SHOWN and not options.json:
            break
    if options.json:
        print_json([asdict(row) for row in matches])
        return 0
    for row in matches[:ANSWERS_SHOWN]:
        swapped = " swapped" if row.inverted else ""
        seed = "" if row.seed is None else f"seed {row.seed} · "
        say(
            f"{row.count}x {row.instrument} {row.ref} {row.variant} · {row.template}{swapped} · "
            f"{row.model} · "
            f"{seed}job {row.job}\n{row.text}\n"
        )
    has_more = len(matches) > ANSWERS_SHOWN
    say(
        f"The first {ANSWERS_SHOWN} answers; --json prints all."
        if has_more
        else f"{plural(len(matches), 'answer')} found."
    )
    return 0


def _list(store: Store, options: Namespace, name: str) -> int:
    """Print the list of statements."""
    from stores.instruments.instruments import Filters

    filters = Filters(
        search=options.search,
        issue=options.issue,
        tag=options.tagged,
        language=options.language or "",
        archived=options.archived,
    )
    lines = store.instruments.lines(name, filters)
    if options.json:
        print_json([_as_json(store, name, line.ref, line.version) for line in lines])
        return 0
    table(
        ["ref", "v", "statement", "country", "topic", "tags", "wordings", "languages"],
        [
            (
                line.ref,
                str(line.version),
                line.text,
                line.country or "",
                line.topic or "",
                ", ".join(line.tags),
                str(line.variants),
                str(line.languages),
            )
            for line in lines
        ],
    )
    say(f"{len(lines):,} statements of {name}" + (", archived" if options.archived else ""))
    return 0


def _as_json(store: Store, name: str, ref: str, version: int) -> dict[str, Any]:
    from workbench.figures.json_values import to_json_values

    statement = store.statements.get(name, ref, version)
    fields: dict[str, Any] = to_json_values(statement)
    fields["wordings"] = [
        {
            "variant": str(wording.variant),
            "language": wording.language,
            "text": wording.text,
            "author": wording.author,
            "relation": wording.relation.value,
        }
        for wording in statement.wordings
    ]
    return fields


def _history(store: Store, options: Namespace, name: str) -> int:
    """Print the versions of a statement and its edits."""
    ref = options.history
    versions = store.statements.history(name, ref)
    edits = store.statements.edits(name, ref)
    if not versions:
        store.statements.get(name, ref)  # says that there is none
    if options.json:
        print_json(
            {
                "versions": [
                    {
                        "current": version.current,
                        "archived": version.archived,
                        "at": version.created_at,
                        "answers": version.answers,
                        "labels": version.labels,
                        "survey": version.survey,
                    }
                    | _as_json(store, name, ref, version.statement.version)
                    for version in versions
                ],
                "edits": [
                    {"at": edit.at, "person": edit.person, "act": edit.act, "undone": edit.undone}
                    for edit in edits
                ],
            }
        )
        return 0
    rows = [
        (
            str(version.statement.version),
            "current" if version.current else "archived" if version.archived else "earlier",
            version.created_at[:16].replace("T", " "),
            f"{version.answers:,}",
            f"{version.labels:,}",
            f"{version.survey:,}",
            next(
                (
                    wording.text
                    for wording in version.statement.wordings
                    if wording.variant == ORIGINAL
                ),
                "",
            ),
        )
        for version in versions
    ]
    table(["v", "", "since", "answers", "labels", "survey", "original"], rows)
    for edit in edits:
        say(
            f"{edit.at[:16].replace('T', ' ')}  {edit.person}  {edit.act}"
            + (" (undone)" if edit.undone else "")
        )
    return 0
