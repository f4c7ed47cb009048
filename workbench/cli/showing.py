"""Verbs that show the figures of audits, and the thoughts of models."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import asdict, replace
from difflib import get_close_matches
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING

from stores.core.store import Store
from stores.runs.readings import thoughts_of
from workbench import registry
from workbench.cli.completing import is_sqlite
from workbench.cli.output import FIGURES, medium, print_json, print_out, say, say_wrapped
from workbench.cli.parser import NAMES, NEAR, VerbCommand
from workbench.cli.verbs import AT_HAND, Namespace, Verb, hint, verb
from workbench.commands.audit_options import AUDIT as ASKED
from workbench.commands.audit_options import listing
from workbench.domain.names import plural
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, Section, Type
from workbench.options.shared import JSON, OF_RUN, STORE

if TYPE_CHECKING:
    from workbench.audits.audit import Audit, HomeLine, Printed

AUDIT = Option(
    "audit",
    "whose figures, see below; `workbench show STORE AUDIT --help` lists its options",
    none="the only one with answers; of several, a line each",
    positional=True,
    choices={audit.name: audit.question for audit in registry.every_audit()},
)
HELP = NAMES["help_option_names"]


def _common() -> list[Option]:
    """Return the options that the figures of every audit take."""
    first_options, *other_options = (audit.figure_options for audit in registry.every_audit())
    return [
        option
        for option in first_options
        if all(option.name in {other.name for other in options} for options in other_options)
    ]


COMMON = _common()
"options that the figures of every audit take, as the first audit declares them"


def of(audit: Audit, *, named: bool = True) -> Verb:
    """Return the verb with the options of an audit.

    Its help only names those of every audit.

    Parameters
    ----------
    named : whether the command line names the audit
    """
    options, judging_names = audit.figure_options, {option.name for option in audit.judges_by}
    common_texts = {(option.flag, option.explained) for option in COMMON}
    common_options = [
        option for option in options if (option.flag, option.explained) in common_texts
    ]
    judging_options = [
        option
        for option in options
        if option not in common_options and option.name in judging_names
    ]
    parts = [
        STORE,
        AUDIT.but(
            help="",
            none="",
            metavar=audit.name,
            choices=(audit.name,),
            required=named,
            default=None if named else audit.name,
        ),
        *(option for option in options if option not in (*common_options, *judging_options)),
        *([Section("How answers are judged", judging_options)] if judging_options else ()),
        Section(
            "Options of every audit, see `workbench show --help`",
            [*common_options, *FIGURES.options],
            brief=True,
        ),
    ]
    question = f"{audit.question[:1].upper()}{audit.question[1:]}"
    return Verb(lambda namespace: _show(audit, namespace), parts, audit.about or question)


def narrowed(words: Sequence[str], look: bool) -> Verb:
    """Return the verb with the options of the audit that the words name.

    If they name none, it is the audit that alone has answers in their store. Raises UsageError if
    they name something else, or options of one of several audits.
    """
    wants_help = not {*HELP}.isdisjoint(words)
    positional = [*takewhile(lambda word: not word.startswith("-"), words)]
    for name in registry.audits():
        if name in words and (wants_help or name in positional[1:2] or _named(name, words)):
            if look and not wants_help:
                _check_options(words, name)
            return of(registry.audit(name))
    if wants_help or not look:
        return show
    _check(positional)
    if store := next((word for word in words if is_sqlite(Path(word))), ""):
        return _alone(Path(store), words)
    _check_options(words)
    return show


def _named(name: str, words: Sequence[str]) -> bool:
    """Return whether words name an audit behind options, and not as the value of one."""
    command = VerbCommand("show", of(registry.audit(name)), "")
    return bool(
        command.make_context("show", [*words], resilient_parsing=True).params["audit"] == name
    )


def _check(words: Sequence[str]) -> None:
    """Raise UsageError for words before the options that are not a store and an audit.

    Raises UnknownName for an unknown audit.
    """
    first, second, *_ = *words, "", ""
    if first in registry.audits() and not Path(first).exists():
        raise UsageError(
            f"found the audit {first!r} in place of a store: workbench show "
            f"{shlex.quote(second or 'STORE')} {first}"
        )
    if first and not Path(first).exists() and not Path(first).suffix:
        similar = get_close_matches(first, registry.audits(), n=1, cutoff=NEAR)
        if similar:
            raise UsageError(
                f"found {first!r} in place of a store: workbench show STORE {similar[0]}"
            )
    if second:
        similar = get_close_matches(second, registry.audits(), n=1)
        hint_text = f"did you mean {similar[0]!r}? " if similar else ""
        raise UnknownName(
            f"there is no audit {second!r}; {hint_text}Available: {', '.join(registry.audits())}"
        )


def _check_options(words: Sequence[str], audit: str = "") -> None:
    """Raise UsageError for an option that only other audits have.

    Without an audit, raise it for an option that not all audits have.
    """
    flags_by_audit = {
        listed_audit.name: {option.flag for option in listed_audit.figure_options}
        for listed_audit in registry.every_audit()
    }
    for flag in (word.partition("=")[0] for word in words):
        owners = [name for name, flags in flags_by_audit.items() if flag in flags]
        if owners and audit not in owners and (audit or len(owners) < len(flags_by_audit)):
            advice = f", not of {audit}; leave it out" if audit else "; name the audit"
            raise UsageError(f"{flag} is an option of {listing(owners)}{advice}")


def _alone(store: Path, words: Sequence[str]) -> Verb:
    """Return the verb of the only audit with answers.

    If several audits have answers, return the verb that prints what each found.
    """
    from stores.core.store import Store

    AT_HAND.set(store)
    with Store.open(store) as opened:
        answered_audits = opened.at_once(
            lambda: [audit for audit in registry.every_audit() if audit.answered(opened)]
        )
    if len(answered_audits) < 2:
        only = answered_audits[0] if answered_audits else registry.audit(registry.DEFAULT_AUDIT)
        _check_options(words, only.name)
        return of(only, named=False)
    if flags := [word for word in words if word.startswith("-") and word != "--json"]:
        names = listing(audit.name for audit in answered_audits)
        raise UsageError(
            f"there are answers to {names}: name the audit that {flags[0]} is about, as in "
            f"`workbench show STORE {answered_audits[0].name} …`"
        )
    return show


def _show(audit: Audit, options: Namespace) -> int:
    """Print or write an audit's figures."""
    from stores.core.store import Store
    from workbench.audits.followed_plans import with_plans

    def shown() -> Printed:
        return with_plans(
            store, audit, options, audit.printed(store, options, medium(options)), medium(options)
        )

    with Store.open(options.store) as store:
        printed = store.at_once(shown)
    if getattr(options, "methods", False) and not options.json:
        say(printed.methods)
    else:
        print_out(options, printed)
    return 0


@verb(
    STORE,
    AUDIT,
    COMMON,
    FIGURES,
    about="Print or write the figures of an audit, or what each audit found, as on Home. These "
    "are the options of "
    "every audit.",
)
def _every(options: Namespace) -> int:
    """Print the findings of each audit, with the command for its figures."""
    from stores.core.store import Store

    def told() -> dict[Audit, list[str]]:
        shared: dict[object, object] = {}
        answered_audits = [audit for audit in registry.every_audit() if audit.answered(store)]
        return {
            audit: [_told(line) for line in audit.home(store, shared)] for audit in answered_audits
        }

    with Store.open(options.store) as store:
        sentences_by_audit = store.at_once(told)
    if options.json:
        print_json(
            [
                {
                    "audit": audit.name,
                    "question": audit.question,
                    "found": sentences,
                    "command": hint(f"workbench {audit.command}"),
                }
                for audit, sentences in sentences_by_audit.items()
            ]
        )
        return 0
    for audit, sentences in sentences_by_audit.items():
        say_wrapped(f"{audit.name}: {audit.question}")
        for sentence in sentences:
            say_wrapped(f"- {sentence}")
        say(f"  workbench {audit.command}")
        say()
    return 0


def _told(line: HomeLine) -> str:
    """Return a line of Home as one text."""
    return "; ".join(filter(None, (line.main, line.detail, *(text for text, _ in line.below))))


show = replace(_every, narrowed=narrowed)


@verb(
    STORE,
    ASKED,
    OF_RUN,
    Option("statement", "only this statement", none="all", metavar="REF"),
    Option("limit", "number of outputs to show", Type.WHOLE, 20, least=1),
    JSON,
)
def thoughts(options: Namespace) -> int:
    """Print the outputs of a run that hold a thought, the most frequent of each prompt first."""
    from workbench.audits.chosen_run import run_of

    with Store.open(options.store) as store:
        run = run_of(store, options, answered=True)
        rows = thoughts_of(store.connection, run, options.statement, limit=options.limit)
        n_cut_off = sum(store.runs.truncated(run).values())
    if options.json:
        print_json(
            {
                "run": run.label,
                "answers": run.responses,
                "cut_off": n_cut_off,
                "outputs": [asdict(row) for row in rows],
            }
        )
        return 0
    say(f"{run.label}: {run.responses:,} answers, {n_cut_off:,} of them cut off in thought")
    for row in rows:
        order = " swapped" if row.inverted else ""
        answer = "cut off in thought" if row.answer is None else f"answer: {row.answer}"
        seed = "" if row.seed is None else f"seed {row.seed} · "
        say(
            f"\n{row.count}x {row.statement} {row.variant} · {row.template}{order} · {seed}job "
            f"{row.job}"
        )
        say(f"thought: {row.thinking or '(the server hides it)'}\n{answer}")
    if not rows:
        say("No output contains thinking.")
    elif len(rows) == options.limit:
        say(f"\nShowing {plural(len(rows), 'output')}; --limit shows more.")
    return 0
