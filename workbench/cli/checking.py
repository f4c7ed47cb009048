"""The commands that check an instrument: `lint` shows and waives findings, `check` lets models look at wordings."""

from __future__ import annotations

from argparse import Namespace
from collections import Counter
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from workbench.cli.output import listed, print_json, say, table
from workbench.domain.counting import plural
from workbench.domain.findings import SEVERITIES
from workbench.errors import AmbiguousRun, UnknownName, UsageError

if TYPE_CHECKING:
    from stores.store import Store
    from workbench.pipeline.checking import Checked, CheckReport, CheckSpec
    from workbench.workshop.meaning import Thresholds

KEY = 10
"hexadecimal digits of a finding's key that are shown; more may be given, and fewer where they are clear"
COUNTED = ". Home counts fewer: neither hints of style nor what models found"
VOID = {"orders-equal", *(f"{kind}-equals-original" for kind in ("paraphrase", "negation", "opposite"))}
"findings that make a test of the reliability audit void"
SPREAD = {"low": "lowest", "fifth": "5 %", "median": "median", "ninety_fifth": "95 %", "high": "highest"}


def lint(options: Namespace) -> int:
    """Show findings. The exit code is 1 where an error is not waived; warnings and notes leave it 0."""
    from stores.store import Store
    from workbench.pipeline.checking import check_report

    with Store.open(options.store) as store:
        names = [options.instrument] if options.instrument else list(store.instruments.names())
        if options.waive or options.unwaive:
            return _waive(store, names, options)
        reports = {name: check_report(store, name, options.language) for name in names}
    codes = set(listed(options.code))
    shown = [
        (name, one)
        for name, report in reports.items()
        for one in (report.checked if options.all else report.open)
        if not codes or one.finding.code in codes
    ]
    severities = Counter(one.finding.severity for _, one in shown if one.waiver is None)
    if options.json:
        print_json([_as_json(name, one) for name, one in shown])
    elif not names:
        say("The store holds no instrument yet. Next: workbench import STORE --format csv PATH")
    else:
        _show(shown, reports)
        say(", ".join(plural(severities.get(s, 0), str(s)) for s in SEVERITIES) + COUNTED)
        if void := sum(one.finding.code in VOID for _, one in shown):
            say(f"{plural(void, 'finding')} of one text under two names: a test that compares it is void in `verdicts`")
    return 1 if severities.get("error") else 0


def check(options: Namespace) -> int:
    """Say what there is to compute, ask whether to start, start the worker, and watch it."""
    from stores.store import Store
    from workbench.cli.jobs import EXIT_CODES, watch
    from workbench.cli.running import agreed
    from workbench.jobs import launch
    from workbench.pipeline.checking import plan_check, thresholds_of

    with Store.open(options.store) as store:
        name = options.instrument or store.instruments.only()
        spec = _spec(options, name, thresholds_of(store, name))
        plan = plan_check(store, spec)
        about = {"texts": len(plan.texts), "texts_left": len(plan.texts_left), "pairs": len(plan.pairs),
                 "pairs_left": len(plan.pairs_left), "thresholds": asdict(spec.thresholds)}  # fmt: skip
        if not options.json:
            say(plan.describe())
        settled = not plan.left and spec.thresholds == thresholds_of(store, name)
        if options.dry_run or settled:
            return _end(store, name, options, about | {"job": None}, said="Everything is stored." if settled else "")
        if not options.yes and not agreed():
            raise UsageError("not started; give --yes where nobody can answer")
        number = launch.start_checking(store, spec, plan)
        if options.detach:
            watching = f"Job {number} runs. Follow it: workbench jobs {options.store} follow {number}"
            if options.json:
                print_json(about | {"job": number})
            else:
                say(watching)
            return 0
        job = watch(store, number, quiet=options.json)
        if job.state != "done":
            if options.json:
                print_json(about | {"job": asdict(job)})
            return EXIT_CODES.get(job.state, 1)
        return _end(store, name, options, about | {"job": asdict(job)})


def _end(store: Store, name: str, options: Namespace, about: dict[str, Any], said: str = "") -> int:
    """Say how near wordings are to their originals, which thresholds are chosen on, and what comes next."""
    from workbench.pipeline.checking import similarity_spreads

    languages = listed(options.language) or (store.instruments.get(name).language,)
    found = {language: similarity_spreads(store, name, language) for language in languages}
    if options.json:
        print_json(about | {"similarity": found})
        return 0
    if said:
        say(said)
    rows = [
        (language, one.kind, str(one.n), *(f"{getattr(one, at):.2f}" for at in SPREAD))
        for language, of in found.items()
        for one in of
    ]
    if rows:
        table(["language", "cosine with the original", "n", *SPREAD.values()], rows)
    say(f"Next: workbench lint {options.store}")
    return 0


def _spec(options: Namespace, name: str, standing: Thresholds) -> CheckSpec:
    from workbench.cli.arguments_checking import THRESHOLDS
    from workbench.pipeline.checking import CheckSpec

    given = {key: getattr(options, key) for key in THRESHOLDS if getattr(options, key) is not None}
    for key, value in given.items():
        if not -1 <= value <= 1:
            raise UsageError(f"--{key.replace('_', '-')} is {value}; a cosine is between -1 and 1")
    thresholds = replace(standing, **given)
    if thresholds.low >= thresholds.high:
        raise UsageError(f"--low is {thresholds.low} and --high {thresholds.high}; low must be below high")
    encoder = "" if options.encoder == "none" else options.encoder
    return CheckSpec(name, encoder, options.nli, listed(options.language), thresholds)


def _waive(store: Store, names: list[str], options: Namespace) -> int:
    """Waive the finding of a key, or take its waiver back."""
    from workbench.pipeline.checking import check_report

    if not options.person:
        raise UsageError("say who: --person NAME")
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
    done = f"waived by {waiver.person}: {waiver.reason}" if waiver else "the waiver is taken back"
    say(f"{one.finding.code} of {one.finding.subject}: {done}")
    return 0


def _finding(key: str, reports: dict[str, CheckReport]) -> tuple[str, Checked]:
    """Return the finding whose key begins so. Raises UnknownName, AmbiguousRun."""
    found = [
        (name, one) for name, report in reports.items() for one in report.checked if _key(one).startswith(key) and key
    ]
    if not found:
        raise UnknownName(f"no finding has the key {key!r} now; `workbench lint STORE --all` lists them")
    if len({_key(one) for _, one in found}) == 1 and len(found) > 1:
        raise AmbiguousRun(
            f"the same is found in {', '.join(name for name, _ in found)}, and waived in one of them at a time; say "
            "which with --instrument"
        )
    if len(found) > 1:
        keys = ", ".join(_key(one)[: KEY + 4] for _, one in found[:5])
        raise AmbiguousRun(f"{len(found)} findings have a key that begins with {key!r}: {keys}. Give more of it")
    return found[0]


def _key(one: Checked) -> str:
    return one.finding.fingerprint.hex()


def _show(shown: list[tuple[str, Checked]], reports: dict[str, CheckReport]) -> None:
    table(
        ["key", "severity", "instrument", "finding", "subject", "message"],
        [
            (_key(one)[:KEY], one.finding.severity, name, one.finding.code, one.finding.subject, _message(one))
            for name, one in shown
        ],
    )
    for name, report in reports.items():
        if report.waived or report.lapsed:
            lapsed = f", {report.lapsed} more of findings that are gone" if report.lapsed else ""
            say(f"{name}: {len(report.waived)} waived{lapsed} (--all shows them)")
        if report.encoder is not None:
            say(f"{name}: similarities by {report.encoder.name}, {report.encoder.texts:,} texts")
        if report.nli is not None:
            say(f"{name}: entailments by {report.nli.name}, {report.nli.texts:,} texts")


def _message(one: Checked) -> str:
    waiver = one.waiver
    return one.finding.message + (f" (waived by {waiver.person}: {waiver.reason})" if waiver else "")


def _as_json(name: str, one: Checked) -> dict[str, Any]:
    finding, waiver = one.finding, one.waiver
    return {
        "instrument": name,
        "key": _key(one),
        "severity": finding.severity,
        "code": finding.code,
        "subject": finding.subject,
        "message": finding.message,
        "ref": finding.ref,
        "variant": str(finding.variant) if finding.variant else None,
        "language": finding.language,
        "texts": finding.texts,
        "waiver": {"reason": waiver.reason, "person": waiver.person, "at": waiver.at} if waiver else None,
    }
