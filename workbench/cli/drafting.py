"""The command for drafts: ask a model or a rule for wordings, list what came, decide on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from workbench.cli.output import print_json, say, table, tell
from workbench.cli.starting import run_command
from workbench.cli.verbs import Namespace, verb
from workbench.commands.draft import DraftCommand, kinds_of
from workbench.domain.drafting import kind_words
from workbench.domain.statements import VariantId, VariantKind
from workbench.errors import UsageError
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import JSON, STARTING, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.drafts import Draft

STATES = ("pending", "accepted", "edited", "rejected", "unusable")
_OPTIONS = DraftCommand.options()
_ABOUT = ("instrument", "language", "statements", "kind")
"options that lists and decisions have, too"


@verb(
    STORE,
    *(_OPTIONS[name] for name in _ABOUT),
    Section(
        "Drafting",
        [*(option for name, option in _OPTIONS.items() if name not in _ABOUT), *STARTING],
    ),
    Section(
        "Deciding, one at a time",
        (
            flag("list", "list drafts; with --state, --kind and --statements"),
            Option(
                "accept", "accept a draft as a wording; with --person", Type.WHOLE, metavar="ID"
            ),
            flag(
                "accept_all",
                "accept all pending drafts without a hint; with --person, --kind, --statements, "
                "--job",
            ),
            Option("edit", "accept a draft with this text", metavar=("ID", "TEXT")),
            Option("reject", "reject a draft; with --person", Type.WHOLE, metavar="ID"),
            flag("undo", "undo the newest decision of --person"),
        ),
        one_of=True,
    ),
    Option("state", "list: only drafts in this state", none="all except unusable", choices=STATES),
    Option("job", "list, accept-all: only drafts of this job", Type.WHOLE),
    flag("with_hints", "accept-all: also drafts with a hint"),
    Option("person", "who decides"),
    Option("note", "note for the decision", default="", metavar="TEXT"),
    JSON,
)
def draft(options: Namespace) -> int:
    """Do one of the things that the command does."""
    decide = _decision(options)
    if decide is not None:
        from stores.core.store import Store

        with Store.open(options.store) as store:
            instrument = options.instrument or store.instruments.only()
            return decide(store, instrument, options)
    if options.model is None:
        raise UsageError("give --model (a model, or rule) to draft, or --list to list drafts")
    return run_command(DraftCommand, options)


def _decision(options: Namespace) -> Callable[[Store, str, Namespace], int] | None:
    """Return the function that lists drafts or decides on them, or None to draft."""
    if options.list:
        return _list
    if options.accept is not None or options.edit is not None:
        return _accept
    if options.accept_all:
        return _accept_all
    if options.reject is not None:
        return _reject
    return _undo if options.undo else None


def _list(store: Store, instrument: str, options: Namespace) -> int:
    found = _found(store, instrument, options, options.state)
    shown = [draft for draft in found if options.state or draft.state != "unusable"]
    if options.json:
        print_json([_plain(draft) for draft in shown])
        return 0
    counts = store.drafts.counts(instrument)
    if shown:
        table(
            ["id", "statement", "kind", "state", "draft", "drafter", "why"],
            [_row(draft) for draft in shown],
        )
    say(" · ".join(f"{n:,} {state}" for state, n in counts.items()))
    return 0


def _found(store: Store, instrument: str, options: Namespace, state: str | None) -> list[Draft]:
    """Return the drafts that the options leave."""
    found = store.drafts.list(
        instrument,
        state=state,
        kinds=kinds_of(options.kind),
        refs=_refs(store, instrument, options),
        language=options.language,
    )
    return [
        d
        for d in found
        if options.job is None or (d.made is not None and d.made.job == options.job)
    ]


def _accept_all(store: Store, instrument: str, options: Namespace) -> int:
    from workbench.pipeline.drafting import accept_all

    person = _person(options)
    waiting = _found(store, instrument, options, "pending")
    done = accept_all(
        store, waiting, person=person, note=options.note, with_hints=options.with_hints
    )
    data = {
        "accepted": list(done.accepted),
        "left": dict(done.left),
        "new_versions": list(done.versions),
    }
    again = " --with-hints accepts them too." if done.left and not options.with_hints else ""
    return tell(options, f"{done.summary()}.{again}", data)


def _reject(store: Store, instrument: str, options: Namespace) -> int:  # noqa: ARG001  as the others
    store.drafts.reject(options.reject, person=_person(options), note=options.note)
    return tell(options, f"Rejected draft {options.reject}.", {"draft": options.reject})


def _accept(store: Store, instrument: str, options: Namespace) -> int:  # noqa: ARG001  as the others
    from workbench.pipeline.drafting import accept

    number, text = (
        (options.accept, None)
        if options.edit is None
        else (_number(options.edit[0]), options.edit[1])
    )
    found = store.drafts.get(number)
    changed, variant = accept(store, found, person=_person(options), text=text, note=options.note)
    another = (
        " Models answered the old text, so the wording has a new version."
        if changed.versions
        else ""
    )
    data = {
        "draft": number,
        "statement": found.ref,
        "variant": str(variant),
        "new_version": bool(changed.versions),
    }
    return tell(
        options, f"Draft {number} is now the {_name(found, variant)} of {found.ref}.{another}", data
    )


def _undo(store: Store, instrument: str, options: Namespace) -> int:
    person = _person(options)
    newest = store.drafts.newest_of(instrument, person)
    if newest is None:
        return tell(options, f"{person} has no decision on a draft to undo.", {"draft": None})
    store.drafts.reopen(newest, person=person)
    return tell(options, f"Draft {newest} is pending again.", {"draft": newest})


def _refs(store: Store, instrument: str, options: Namespace) -> tuple[str, ...]:
    from workbench.pipeline.planning import named_statements

    return named_statements(store, instrument, options.statements or "")


def _person(options: Namespace) -> str:
    from workbench.domain.names import person_name

    if options.person is None:
        raise UsageError("give the name of the person who decides: --person NAME")
    return person_name(options.person, "person")


def _number(text: str) -> int:
    if not text.isdecimal():
        raise UsageError(
            f"--edit takes the number of a draft and a text; found {text!r} as the number"
        )
    return int(text)


def _name(draft: Draft, variant: VariantId) -> str:
    return kind_words(draft.kind) if draft.kind is VariantKind.CHANGED else str(variant)


def _row(draft: Draft) -> tuple[str, ...]:
    from workbench.workshop.drafting import bare, drafted, fault_in_words

    made = bare(draft.line) if draft.state == "unusable" else drafted(draft.kind, draft.line)
    text = draft.decision.text if draft.decision and draft.decision.text else made
    shown = text if len(text) <= 300 else f"{text[:300]}…"
    why = (
        fault_in_words(draft.fault)
        if draft.state == "unusable"
        else (draft.decision.note if draft.decision else "")
    )
    return (str(draft.id), draft.ref, draft.kind.value, draft.state, shown, draft.drafter, why)


def _plain(draft: Draft) -> dict[str, Any]:
    """Return a draft as data: batches are the store's own."""
    from workbench.workshop.drafting import drafted

    decision = draft.decision and {k: v for k, v in asdict(draft.decision).items() if k != "batch"}
    return asdict(draft) | {"decision": decision, "wording": drafted(draft.kind, draft.line)}
