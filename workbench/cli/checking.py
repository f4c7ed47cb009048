"""The commands that check an instrument: `lint` shows and waives findings, `check` lets models look
at wordings.
"""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from workbench.cli.output import FIGURES, no_figures, print_json, put_out, say, say_wrapped
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import listed
from workbench.errors import AmbiguousRun, UnknownName, UsageError
from workbench.options.option import Option, Section, flag
from workbench.options.shared import INSTRUMENT, LANGUAGE, STARTING, STORE
from workbench.workshop.options import COSINES

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.checking import Checked, CheckReport, CheckSpec
    from workbench.workshop.meaning import Thresholds


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


@verb(
    STORE,
    INSTRUMENT,
    Option("encoder", "minilm, a hub id, a folder, or none", default="minilm", metavar="MODEL"),
    Option(
        "nli",
        "entailment model, a hub id or a folder, to check the expected relations",
        default="",
        metavar="MODEL",
    ),
    LANGUAGE.but(metavar="L,…"),
    Section("Cosines", COSINES),
    STARTING,
    FIGURES,
)
def check(options: Namespace) -> int:
    """Say what there is to compute, ask whether to start, start the worker, and watch it."""
    from stores.core.store import Store
    from workbench.cli.output import check_agreed
    from workbench.cli.watching import EXIT_CODES, started, watch
    from workbench.jobs import launch
    from workbench.pipeline.checking import plan_check, thresholds_of

    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        spec = _spec(options, name, thresholds_of(store, name))
        plan = plan_check(store, spec)
        about = {
            "texts": len(plan.texts),
            "texts_left": len(plan.texts_left),
            "pairs": len(plan.pairs),
            "pairs_left": len(plan.pairs_left),
            "thresholds": asdict(spec.thresholds),
        }
        if not options.json:
            say_wrapped(plan.describe())
        settled = not plan.left and spec.thresholds == thresholds_of(store, name)
        if options.dry_run or settled:
            return _end(
                store,
                name,
                options,
                about | {"job": None},
                said="Everything is stored already." if settled else "",
            )
        check_agreed(options)
        number = launch.start_checking(store, spec, plan)
        if options.detach:
            return started(options, number, about)
        job = watch(store, number, quiet=options.json)
        if job.state != "done":
            if options.json:
                print_json(about | {"job": asdict(job)})
            return EXIT_CODES.get(job.state, 1)
        return _end(store, name, options, about | {"job": asdict(job)})


def _end(store: Store, name: str, options: Namespace, about: dict[str, Any], said: str = "") -> int:
    """Say how near wordings are to their originals, which thresholds are chosen on, and what comes
    next.
    """
    from workbench.pipeline.checking import similarity, similarity_spreads

    languages = listed(options.language) or (store.instruments.get(name).language,)
    found = {language: similarity_spreads(store, name, language) for language in languages}
    told = [said] if said else []
    following = ["Next: workbench lint STORE"]
    title = f"{name}: similarity"
    put_out(options, [similarity(found)], about, title=title, told=told, notes=following)
    return 0


def _spec(options: Namespace, name: str, standing: Thresholds) -> CheckSpec:
    from workbench.pipeline.checking import CheckSpec

    given = {
        one.name: value for one in COSINES if (value := getattr(options, one.name)) is not None
    }
    thresholds = replace(standing, **given)
    if thresholds.low >= thresholds.high:
        raise UsageError(
            f"found --low {thresholds.low} and --high {thresholds.high}; --low must be below --high"
        )
    encoder = "" if options.encoder == "none" else options.encoder
    return CheckSpec(name, encoder, options.nli, listed(options.language), thresholds)


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


def _finding(key: str, reports: dict[str, CheckReport]) -> tuple[str, Checked]:
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
            "one of them; name "
            "it with --instrument"
        )
    if len(found) > 1:
        keys = ", ".join(key_of(one)[: KEY + 4] for _, one in found[:5])
        raise AmbiguousRun(
            f"{len(found)} findings have a key that begins with {key!r}: {keys}. Give more "
            "characters"
        )
    return found[0]


def _as_json(name: str, one: Checked) -> dict[str, Any]:
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
