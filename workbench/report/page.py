"""The templates of the page. All text that they print passes `figures.visible` and is escaped."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.audits.audit import Audit
from workbench.audits.claims import LEVEL, OF_STUDIES, AuditSentences
from workbench.audits.reported import Reported
from workbench.domain.designs import Design
from workbench.domain.names import enumerated, plural
from workbench.domain.responses import EXACT, IMPORTED, SERVER, WHEN_DECIDED
from workbench.errors import MissingPackage
from workbench.evidence.answered import unread_note
from workbench.evidence.plans import plan_lines
from workbench.figures.book import WARNS, warnings_of
from workbench.figures.intervals import told
from workbench.figures.shown import number
from workbench.figures.table import AnyTable, Kind
from workbench.figures.visible import visible
from workbench.figures.write.html import html_grid
from workbench.help.pages import AUDITS_PAGE, ENDING
from workbench.help.sections import points
from workbench.installed import install
from workbench.options.option import Type
from workbench.report import own_tables as own
from workbench.report.collected import MOST_ROWS, Collected, Group, ReportPart, Shown

if TYPE_CHECKING:
    from jinja2 import Environment


def run_command(spec: Mapping[str, Any]) -> str:
    """Return the command of a stored design, with the word STORE for the store."""
    design = Design.from_json(spec)
    audit = registry.of_design(spec)
    if design.model.startswith(IMPORTED):
        model = shlex.quote(design.model.removeprefix(IMPORTED))
        return (
            f"workbench import STORE FILE --audit {design.audit} --family {design.family} "
            f"--model {model}"
        )
    parts = [
        part
        for flag, value in _design_flags(design, audit)
        for part in (flag, *([value] if value else []))
    ]
    return " ".join(["workbench run STORE", *map(shlex.quote, parts)])


def _design_flags(design: Design, audit: Audit | None) -> Iterator[tuple[str, str]]:
    """Yield (flag, value) for the settings of a design. A flag without a value has an empty one."""
    yield "--audit", design.audit
    yield "--model", design.model
    yield "--instrument", design.instrument
    for name in ("language", "family", "dtype", "chat_format", "cluster", "device"):
        if value := getattr(design, name):
            yield f"--{name.replace('_', '-')}", value
    for name in ("statements", "variants", "templates"):
        if values := getattr(design, name):
            yield f"--{name}", ",".join(values)
    yield from _sampling_flags(design, audit)
    for option in audit.run_options if audit is not None else ():
        value = audit.given_in(design).get(option.name) if audit is not None else None
        if value not in (None, option.default, "", (), 0):
            yield option.flag, "" if option.type is Type.FLAG else option.text(value)


def _sampling_flags(design: Design, audit: Audit | None) -> Iterator[tuple[str, str]]:
    """Yield the flags of sampling. For computed probabilities only that flag is yielded."""
    sampling = design.sampling
    if sampling.mode == EXACT:
        if audit is None or audit.defaults.drawn:
            yield "--exact", ""
    else:
        yield "--samples", str(design.samples)
        default = audit.defaults.sampling_of(design.family) if audit is not None else None
        for name in ("temperature", "top_p", "top_k", "max_new_tokens"):
            value = sampling.told(name)
            if default is None or default.told(name) != value:
                yield f"--{name.replace('_', '-')}", value if value == SERVER else f"{value:g}"
        if sampling.stop == WHEN_DECIDED:
            yield "--until-decided", ""
    yield "--seed", str(design.seed)


ARCHIVE = "supplement.zip"
"the file of the tables that are not on the page"
MISSING = f"a report needs the package jinja2; install it with: {install('report')}"


@cache
def environment() -> Environment:
    """Return the templates. Raises MissingPackage without jinja2."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup, escape
    except ImportError as error:
        raise MissingPackage(MISSING) from error

    def painted(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    def lines(value: str) -> Markup:
        return escape(visible(value, lines=True))

    templates = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        finalize=painted,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    templates.filters["lines"] = lines
    return templates


def read(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows only this style and script. It loads nothing."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


MOST_FINDINGS, MOST_NAMED, MOST_DOUBTS = 5, 8, 3
"the largest numbers on the page: findings of an audit, values of models in a finding, and doubts"


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A picture on the page."""

    svg: Any
    "markup"
    caption: str
    stem: str


@dataclass(frozen=True, eq=False, slots=True)
class PageSection:
    """The content of a page for one audit."""

    of: Group
    told: AuditSentences
    main: Shown | None
    picture: PagePicture | None


def interval_sentences(tables: Sequence[AnyTable]) -> list[tuple[str, str]]:
    """Return (figure, method) for each method of the intervals in some tables, each once."""
    sentences = dict.fromkeys(sentence for table in tables for sentence in told(table))
    parts = (sentence.removeprefix("95 % interval of ").partition(": ") for sentence in sentences)
    return [(figure, method) for figure, _, method in parts]


GENERAL_LIMITS = (
    "Models answer as they were on the day they were asked; a served model may be another one "
    "behind the same name.",
    "Intervals say how far chance carries. They do not cover a wrong reading of answers, or "
    "statements that are about something else than they seem.",
)
CANNOT_SAY = "What it cannot say"
"section of the help page of every shipped audit"


def title_of(collected: Collected) -> str:
    """Return the title of a report: the chosen one, or else its models and instruments."""
    if collected.choice.title:
        return collected.choice.title
    models = list(dict.fromkeys(entry.run.model for entry in collected.asked))
    subject = plural(len(models), "model") if models else "published answers"
    if len(models) == 1:
        subject = models[0]
    instrument_names = list(
        dict.fromkeys(instrument.title or instrument.name for instrument in collected.instruments)
    )
    instruments = (
        instrument_names[0]
        if len(instrument_names) == 1
        else plural(len(instrument_names), "instrument")
    )
    return (
        f"{subject[0].upper()}{subject[1:]} on {instruments}"
        if models != [subject]
        else f"{subject} on {instruments}"
    )


def page(
    collected: Collected,
    sections: Sequence[PageSection],
    asked: Shown,
    tables: int,
    supplement: str,
) -> str:
    """Return the page. Raises MissingPackage without jinja2.

    Parameters
    ----------
    tables : in the supplement
    supplement : as `packed` returns it
    """
    style, script = read("style.css"), read("script.js")
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            title=title_of(collected),
            version=collected.software["workbench"],
            at=collected.at,
            date=collected.date,
            hash=collected.hash,
            policy=policy(style, script),
            style=_trusted(style),
            script=_trusted(script),
            lede=_lede(collected),
            planned=_planned(collected),
            asked=_grid(asked),
            rulings=rulings_in_force(collected),
            sections=list(map(_section, sections)),
            tested=sum(section.told.n_tests for section in sections),
            planned_claims=sum(section.told.n_planned for section in sections),
            has_power=any(
                OF_STUDIES in str(sentence)
                for section in sections
                for sentence in section.told.sentences
            ),
            level=f"{100 * LEVEL:g} %",
            left_out=collected.left_out,
            software=", ".join(f"{name} {number}" for name, number in collected.software.items()),
            references=list(
                dict.fromkeys(
                    str(reference)
                    for part in collected.parts
                    for reference in part.found.references
                )
            ),
            archive="" if collected.choice.every_file else ARCHIVE,
            tables=tables,
            supplement=_trusted(supplement),
        )
    )


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  our own style and script, and base 64


def _section(section: PageSection) -> dict[str, Any]:
    doubts = list(_doubts(section.of.parts))[:MOST_DOUBTS]
    more_doubts = len(list(_doubts(section.of.parts))) - len(doubts)
    return {
        "slug": section.of.slug,
        "title": section.of.title,
        "findings": [
            {
                "said": sentence.said,
                "status": sentence.status,
                "models": sentence.models[:MOST_NAMED],
                "each": len(sentence.models) > 1 and all(value for _, value in sentence.models),
                "left": max(0, len(sentence.models) - MOST_NAMED),
                "doubts": list(_own_doubts(sentence.doubts, doubts))[:MOST_DOUBTS],
            }
            for sentence in section.told.sentences[:MOST_FINDINGS]
        ],
        "more": max(0, len(section.told.sentences) - MOST_FINDINGS),
        "false": _expected_false(section.told),
        "rulings": list(_rulings(section.of.parts)),
        "doubts": doubts,
        "more_doubts": more_doubts,
        "picture": section.picture,
        "table": None if section.main is None else _grid(section.main),
    }


def _expected_false(sentences: AuditSentences) -> str:
    """Return sentences on the number of an audit's claims that may be false.

    They are an empty string if tests show no claim.
    """
    confirmed = _confirmed(sentences)
    if not sentences.n_shown:
        return confirmed
    expected = LEVEL * sentences.n_shown
    number_false = (
        f"About {plural(round(expected), 'false claim')}"
        if expected >= 1
        else "Fewer than 1 false claim"
    )
    verb = "are" if expected >= 1.5 else "is"
    claims = plural(sentences.n_shown, "exploratory claim")
    suffix = "" if sentences.n_shown == 1 else " among them"
    exploratory = (
        f"Tests show {claims} here (adjusted for {plural(sentences.n_tests, 'test')}). "
        f"{number_false} {verb} expected{suffix}."
    )
    return f"{exploratory} {confirmed}".rstrip()


def _confirmed(sentences: AuditSentences) -> str:
    """Return a sentence on the planned claims that tests show.

    It is an empty string if no plan names one.
    """
    if not sentences.n_planned:
        return ""
    planned = plural(sentences.n_planned, "planned claim")
    risk = f"{100 * LEVEL:.0f} % risk of any false one"
    return f"Tests confirm {sentences.n_confirmed:,} of {planned} (adjusted by Holm; {risk})."


def _doubts(parts: Sequence[ReportPart]) -> Iterator[str]:
    """Yield the doubts on all figures of an audit: missing answers, and who read them."""
    yield from _of_parts(parts, _doubts_of)


def _own_doubts(doubts: Sequence[str], of_audit: Sequence[str]) -> Iterator[str]:
    """Yield the doubts of one finding without those that the page states of the whole audit."""
    for doubt in doubts:
        remaining = doubt
        for common in of_audit:
            if remaining.casefold().endswith(common.casefold()):
                remaining = remaining[: -len(common)].rstrip("; ")
        if remaining and not remaining.endswith(":"):
            yield remaining


def _doubts_of(result: Reported) -> Iterator[str]:
    yield from warnings_of(result.book.header)
    yield from filter(None, map(unread_note, result.answered))
    if result.changed:
        yield f"{plural(len(result.changed), 'statement')} changed since they were asked"


def _rulings(parts: Sequence[ReportPart]) -> Iterator[str]:
    """Yield the rulings that concern the figures of an audit, and their effects."""
    yield from _of_parts(parts, lambda reported: reported.rulings.sentences())


def _of_parts(
    parts: Sequence[ReportPart], lines: Callable[[Reported], Iterable[str]]
) -> Iterator[str]:
    """Yield lines about some parts, after the names of their models.

    The same line of several models comes once.
    """
    names_by_line: dict[str, list[str]] = {}
    for part in parts:
        names = enumerated(list(part.found.runs)) if len(parts) > 1 else ""
        for line in lines(part.found):
            names_by_line.setdefault(line, []).append("" if names in line else names)
    for line, models_names in names_by_line.items():
        models = [names for names in models_names if names]
        yield (
            f"{enumerated(models)}: {line.removesuffix('.')}" if models else line.removesuffix(".")
        )


def rulings_in_force(collected: Collected) -> str:
    """Return the number of auditors' rulings in force, and their effects on the figures."""
    if not collected.rulings:
        return "No auditor has corrected or excluded any of these answers."
    effects = Counter(ruling.counts for ruling in collected.rulings)
    counts = ", ".join(
        f"{number:,} {_of_several(effect, number)}" for effect, number in effects.items()
    )
    verb = "is" if len(collected.rulings) == 1 else "are"
    return (
        f"{plural(len(collected.rulings), 'ruling')} of auditors {verb} in force: {counts}. The "
        "supplement lists them."
    )


def _of_several(effect: str, number: int) -> str:
    """Return the effect of a ruling as the predicate of several rulings."""
    if number == 1:
        return effect
    return effect.replace("changes ", "change ").replace("does not count", "do not count")


def _grid(shown: Shown) -> dict[str, Any]:
    """Return a table for the page: its first rows as markup, and its notes."""
    from markupsafe import Markup

    table = replace(shown.table, rows=shown.table.rows[:MOST_ROWS])
    grid, notes = html_grid(table) if table.rows else ("", [])
    return {
        "title": table.title,
        "definition": table.definition,
        "grid": Markup(grid),  # noqa: S704  what the HTML writer escaped
        "notes": [Markup(note) for note in notes],  # noqa: S704
        "empty": " ".join(table.empty.split()),
        "stem": shown.stem,
        "left": len(shown.table.rows) - len(table.rows),
    }


def _lede(collected: Collected) -> str:
    audits = enumerated(
        list(
            dict.fromkeys(
                registry.audit_title(part.audit) for part in collected.parts if part.audit
            )
        )
    )
    answers = sum(entry.run.responses for entry in collected.asked)
    n_models = len({entry.run.model_id for entry in collected.asked})
    names = enumerated(
        [
            f"{instrument.title or instrument.name} ({instrument.name})"
            for instrument in collected.instruments
        ]
    )
    n_scripted = len(
        {entry.run.model_id for entry in collected.asked if entry.run.backend == "scripted"}
    )
    subject = plural(n_models, "model")
    if n_scripted == n_models:
        subject = (
            f"{plural(n_models, 'scripted model')} (no language "
            f"{'model' if n_models == 1 else 'models'})"
        )
    elif n_scripted:
        subject = f"{subject} ({n_scripted:,} of them scripted, no language models)"
    start = f"{subject} gave {plural(answers, 'answer')} to {names}"
    return (
        f"{start if n_models else f'Others collected answers to {names}'}. The report is about "
        f"{audits}."
    )


def _planned(collected: Collected) -> str:
    """Return sentences on whether the runs had a plan, and whether it was followed."""
    lines = [line.removeprefix(WARNS) for table in collected.plans for line in plan_lines(table)]
    return " ".join(lines) or "none."


def told_tables(
    collected: Collected, sections: Sequence[PageSection], missing: Mapping[str, Sequence[str]]
) -> Iterator[AnyTable]:
    """Yield the sentences of a report as tables: findings, their basis, methods, and commands.

    `missing` has the reasons for missing tables, by the title of the part.
    """
    yield own.texts(
        "findings",
        "All findings, the strongest first",
        ("part", "p", "doubt", "finding"),
        [
            (
                section.of.title,
                number(sentence.p, Kind.P_VALUE),
                "; ".join(sentence.doubts),
                str(sentence),
            )
            for section in sections
            for sentence in section.told.sentences
        ],
    )
    parts = [part.found for part in collected.parts]
    basis = [
        (part.title, line.removeprefix(WARNS))
        for part in parts
        for line in (*part.book.told, *part.book.notes)
    ]
    yield own.texts("basis", "What the figures rest on", ("part", "said"), dict.fromkeys(basis))
    reasons = [(title, line) for title, part_reasons in missing.items() for line in part_reasons]
    yield own.texts("missing", "What is not here, and why", ("part", "why"), reasons)
    yield own.texts("limits", "Limits", ("limit",), [(line,) for line in limits(collected)])
    methods = [(part.title, part.book.methods) for part in parts if part.book.methods]
    limitations = [
        (part.title, f"It cannot say: {line}")
        for part, lines in zip(parts, cannot_say(collected.parts), strict=True)
        for line in lines
    ]
    yield own.texts("methods", "Methods", ("part", "method"), [*methods, *limitations])
    lines = [(group["title"], line) for group in commands(collected) for line in group["lines"]]
    yield own.texts("commands", "Commands that repeat this report", ("what", "command"), lines)


def cannot_say(parts: Sequence[ReportPart]) -> Iterator[tuple[str, ...]]:
    """Yield for each part the section on limits from its audit's help page.

    It is empty if an earlier part is of the same audit, if the part is of none, or if the page, as
    in another package, has no such section.
    """
    done_audits = set()
    for part in parts:
        if not part.audit or part.audit in done_audits:
            yield ()
            continue
        package = type(registry.audit(part.audit)).__module__
        try:
            yield points(AUDITS_PAGE.removesuffix(ENDING), CANNOT_SAY, package)
        except (LookupError, OSError, TypeError):
            yield ()
        done_audits.add(part.audit)


def limits(collected: Collected) -> Iterator[str]:
    """Yield sentences on the limits of the figures, each once."""
    yield from dict.fromkeys(
        [line for part in collected.parts for line in part.found.limits] + list(GENERAL_LIMITS)
    )


def commands(collected: Collected) -> Iterator[dict[str, Any]]:
    """Yield the commands that repeat the runs, print the same figures, and write the report."""
    run_commands = list(
        dict.fromkeys(
            run_command(spec) for asked_model in collected.asked for spec in asked_model.designs
        )
    )
    if run_commands:
        yield {"title": "Ask the same of the same models", "lines": run_commands}
    yield {
        "title": "Print the same figures",
        "lines": list(dict.fromkeys(part.found.command for part in collected.parts)),
    }
    options = "".join(f" {shlex.quote(part)}" for part in collected.choice.flags)
    yield {"title": "Write this report", "lines": [f"workbench report STORE OUT{options}"]}
