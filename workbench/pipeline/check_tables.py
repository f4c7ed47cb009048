"""Figures of the checks of an instrument: what is odd about it, and how near wordings are to their originals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence

from workbench.domain.counting import plural
from workbench.domain.findings import SEVERITIES
from workbench.figures.table import Column, Kind, Link, Table
from workbench.pipeline.checking import Checked, CheckReport
from workbench.workshop.meaning import Spread

KEY = 10
"hexadecimal digits of a finding's key that are painted; more may be given, and fewer where they are clear"
COUNTED = ". Home counts fewer: neither style hints nor what models found"
VOID = {"orders-equal", *(f"{kind}-equals-original" for kind in ("paraphrase", "negation", "opposite"))}
"findings that make a test of the reliability audit void"
SPREAD = {"low": "lowest", "fifth": "5 %", "median": "median", "ninety_fifth": "95 %", "high": "highest"}
MARKED = {"error": "✗ error", "warning": "! warning", "note": "· note"}
Found = tuple[str, Checked]
"the instrument, and what is odd about it"


def key_of(one: Checked) -> str:
    """Return the key of a finding, in hexadecimal."""
    return one.finding.fingerprint.hex()


def findings(shown: Sequence[Found]) -> Table[Found]:
    """Return the findings, errors first."""
    return Table(
        "findings",
        "Findings",
        shown,
        [
            Column(
                "key", "key", lambda row: key_of(row[1]), words={key_of(one): key_of(one)[:KEY] for _, one in shown}
            ),
            Column("severity", "severity", lambda row: row[1].finding.severity, words=MARKED),
            Column("instrument", "instrument", lambda row: row[0]),
            Column("code", "finding", lambda row: row[1].finding.code),
            Column("subject", "subject", lambda row: row[1].finding.subject),
            Column("message", "message", lambda row: row[1].finding.message, beside=_waived),
            Column("ref", "statement", lambda row: row[1].finding.ref, aside=True),
            Column("variant", "wording", _variant, aside=True),
            Column("language", "language", lambda row: row[1].finding.language, aside=True),
            *(column for place in (0, 1) for column in _text(place)),
            *(_of_waiver(name) for name in ("reason", "person", "at")),
        ],
        key=lambda row: (row[0], key_of(row[1])),
        empty="No findings.",
        link=_wording,
        minor=lambda row: row[1].waiver is not None,
    )


def _wording(row: Found) -> Link | None:
    """Return the wording of a finding; None if the finding is not about a wording."""
    finding = row[1].finding
    if finding.ref is None:
        return None
    return Link("wording", (finding.ref, str(finding.variant or ""), finding.language or ""))


def _waived(row: Found) -> str:
    waiver = row[1].waiver
    return f"(waived by {waiver.person}: {waiver.reason})" if waiver else ""


def _variant(row: Found) -> str | None:
    variant = row[1].finding.variant
    return str(variant) if variant else None


def _text(place: int) -> tuple[Column[Found], Column[Found]]:
    """Return what a text is that was compared, and the text."""

    def part(name: str) -> Callable[[Found], str | None]:
        return lambda row: getattr(row[1].finding.texts[place], name) if len(row[1].finding.texts) > place else None

    name = ("first", "second")[place]
    return (
        Column(f"{name}_name", f"{name} text is", part("name"), aside=True),
        Column(f"{name}_text", f"{name} text", part("text"), Kind.PROSE, aside=True),
    )


def _of_waiver(name: str) -> Column[Found]:
    return Column(
        f"waiver_{name}",
        f"waiver: {name}",
        lambda row: getattr(row[1].waiver, name) if row[1].waiver else None,
        aside=True,
    )


def severities(shown: Iterable[Found]) -> Mapping[str, int]:
    """Return how many findings of each severity nobody waived."""
    found = Counter(one.finding.severity for _, one in shown if one.waiver is None)
    return {severity: found[severity] for severity in SEVERITIES}


def finding_notes(shown: Sequence[Found], reports: Mapping[str, CheckReport]) -> list[str]:
    """Say what was waived, what models were used, and how many findings there are."""
    notes = []
    for name, report in reports.items():
        if report.waived or report.lapsed:
            lapsed = f", {report.lapsed} more for findings that no longer exist" if report.lapsed else ""
            notes.append(f"{name}: {len(report.waived):,} waived{lapsed} (--all shows them)")
        if report.encoder is not None:
            notes.append(f"{name}: similarities by {report.encoder.name}, {report.encoder.texts:,} texts")
        if report.nli is not None:
            notes.append(f"{name}: entailments by {report.nli.name}, {report.nli.texts:,} texts")
    notes.append(", ".join(plural(n, severity) for severity, n in severities(shown).items()) + COUNTED)
    if void := sum(one.finding.code in VOID for _, one in shown):
        said = "about one text under two names: a test that compares the two is void in `verdicts`"
        notes.append(f"{plural(void, 'finding')} {said}")
    return notes


def similarity(found: Mapping[str, Sequence[Spread]]) -> Table[tuple[str, Spread]]:
    """Return how near the wordings of each kind are to their originals, by language."""
    return Table(
        "similarity",
        "Similarity of wordings to their originals",
        [(language, one) for language, of in found.items() for one in of],
        [
            Column("language", "language", lambda row: row[0]),
            Column("kind", "wording", lambda row: row[1].kind),
            Column("n", "n", lambda row: row[1].n, Kind.COUNT),
            *(_quantile(name, title) for name, title in SPREAD.items()),
        ],
        key=lambda row: (row[0], row[1].kind),
        definition="Cosine of the embeddings of a wording and its original.",
        empty="The store has no similarities.",
    )


def _quantile(name: str, title: str) -> Column[tuple[str, Spread]]:
    return Column(name, title, lambda row: getattr(row[1], name), Kind.COEFFICIENT, scale=(0.0, 1.0))
