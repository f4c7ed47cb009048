"""The commands that check an instrument: `lint` shows and waives findings, `check` lets models look
at wordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from workbench.cli.output import FIGURES, no_figures, print_json, put_out, say
from workbench.cli.starting import run_command
from workbench.cli.verbs import Namespace, verb
from workbench.commands.check import COSINES, CheckCommand
from workbench.domain.names import listed
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.options.option import Option, Section, flag
from workbench.options.shared import INSTRUMENT, LANGUAGE, STARTING, STORE

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.commands.command import JobCommand
    from workbench.pipeline.checking import CheckedFinding, CheckReport


@verb(
    STORE,
    INSTRUMENT.but(help="only this instrument", none="all"),
    LANGUAGE.but(help="only wordings in this language", none="all"),
    Option("code", "only these findings, by their name in the column `finding`", metavar="CODE,…"),
    flag("all", "list waived findings too"),
    Section(
        "Waivers",
        (
            Option("waive", "waive a finding; with --reason and --person", metavar="KEY"),
            Option("unwaive", "remove a waiver; with --person", metavar="KEY"),
        ),
        one_of=True,
    ),
    Option("reason", "why you accept the finding", metavar="TEXT"),
    Option("person", "who waives"),
    FIGURES,
)
def lint(options: Namespace) -> int:
    """Show findings. The exit code is 1 where an error is not waived; warnings and notes leave it
    0.
    """
    from stores.core.store import Store
    from workbench.pipeline.checking import check_report, finding_notes, findings, severities

    if options.waive or options.unwaive:
        no_figures(options)
    with Store.open(options.store) as store:
        names = [options.instrument] if options.instrument else list(store.instruments.names())
        if options.waive or options.unwaive:
            return _waive(store, names, options)
        reports = store.at_once(
            lambda: {name: check_report(store, name, options.language) for name in names}
        )
    codes = set(listed(options.code))
    shown = [
        (name, one)
        for name, report in reports.items()
        for one in (report.checked if options.all else report.open)
        if not codes or one.finding.code in codes
    ]
    if not names and not options.json:
        say("The store has no instrument yet. Next: workbench import STORE --format csv PATH")
        return 0
    about = {"instruments": names, "open": severities(shown)}
    put_out(
        options, [findings(shown)], about, title="Findings", notes=finding_notes(shown, reports)
    )
    return 1 if severities(shown)["error"] else 0


_CHECK = CheckCommand.options()


@verb(
    STORE,
    *(option for name, option in _CHECK.items() if name not in COSINES),
    Section("Cosines", [_CHECK[name] for name in COSINES]),
    STARTING,
    FIGURES,
)
def check(options: Namespace) -> int:
    """Say what there is to compute, ask whether to start, start the worker, and watch it."""
    return run_command(CheckCommand, options, print_similarity)


def print_similarity(
    store: Store, options: Namespace, command: JobCommand, data: Mapping[str, Any], sentence: str
) -> int:
    """Print how near wordings are to their originals, which thresholds are chosen on."""
    from workbench.pipeline.checking import similarity, similarity_spreads

    name = options.instrument or store.instruments.only()
    languages = listed(options.language) or (store.instruments.get(name).language,)
    spreads = {language: similarity_spreads(store, name, language) for language in languages}
    put_out(
        options,
        [similarity(spreads)],
        dict(data),
        title=f"{name}: similarity",
        told=[sentence] if sentence else [],
        notes=[command.NEXT],
    )
    return 0


def _waive(store: Store, names: list[str], options: Namespace) -> int:
    """Waive the finding of a key, or take its waiver back."""
    from workbench.pipeline.checking import check_report

    if not options.person:
        raise UsageError("give your name: --person NAME")
    key = (options.waive or options.unwaive).strip().casefold()
    name, one = _finding(key, {name: check_report(store, name, options.language) for name in names})
    if options.waive:
        store.checks.waive(name, one.finding, reason=options.reason or "", person=options.person)
    else:
        store.checks.unwaive(name, one.finding, person=options.person)
    waiver = store.checks.waivers(name).get(one.finding.fingerprint)
    if options.json:
        print_json(_as_json(name, replace(one, waiver=waiver)))
        return 0
    done = f"waived by {waiver.person}: {waiver.reason}" if waiver else "waiver removed"
    say(f"{one.finding.code} of {one.finding.subject}: {done}")
    return 0


def _finding(key: str, reports: dict[str, CheckReport]) -> tuple[str, CheckedFinding]:
    """Return the finding whose key begins so. Raises UnknownName, AmbiguousRun."""
    from workbench.pipeline.checking import KEY, key_of

    found = [
        (name, one)
        for name, report in reports.items()
        for one in report.checked
        if key_of(one).startswith(key) and key
    ]
    if not found:
        raise UnknownName(
            f"no current finding has the key {key!r}; `workbench lint STORE --all` lists them"
        )
    if len({key_of(one) for _, one in found}) == 1 and len(found) > 1:
        raise AmbiguousRun(
            f"{', '.join(name for name, _ in found)} have the same finding, and a waiver is for "
            "one of them; name it with --instrument"
        )
    if len(found) > 1:
        keys = ", ".join(key_of(one)[: KEY + 4] for _, one in found[:5])
        raise AmbiguousRun(
            f"{len(found)} findings have a key that begins with {key!r}: {keys}. Give more "
            "characters"
        )
    return found[0]


def _as_json(name: str, one: CheckedFinding) -> dict[str, Any]:
    from workbench.pipeline.checking import key_of

    finding, waiver = one.finding, one.waiver
    return {
        "instrument": name,
        "key": key_of(one),
        "severity": finding.severity,
        "code": finding.code,
        "subject": finding.subject,
        "message": finding.message,
        "ref": finding.ref,
        "variant": str(finding.variant) if finding.variant else None,
        "language": finding.language,
        "texts": finding.texts,
        "waiver": {"reason": waiver.reason, "person": waiver.person, "at": waiver.at}
        if waiver
        else None,
    }
