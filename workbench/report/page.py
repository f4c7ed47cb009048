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
from workbench.report.collected import MOST_ROWS, Collected, Group, Part, Shown

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
        for flag, value in _given(design, audit)
        for part in (flag, *([value] if value else []))
    ]
    return " ".join(["workbench run STORE", *map(shlex.quote, parts)])


def _given(design: Design, audit: Audit | None) -> Iterator[tuple[str, str]]:
    """Yield (flag, value) for the settings of a design; a flag without a value has an empty one."""
    yield "--audit", design.audit
    yield "--model", design.model
    yield "--instrument", design.instrument
    for name in ("language", "family", "dtype", "chat_format", "cluster", "device"):
        if value := getattr(design, name):
            yield f"--{name.replace('_', '-')}", value
    for name in ("statements", "variants", "templates"):
        if values := getattr(design, name):
            yield f"--{name}", ",".join(values)
    yield from _drawn(design, audit)
    for option in audit.run_options if audit is not None else ():
        value = audit.given_in(design).get(option.name) if audit is not None else None
        if value not in (None, option.default, "", (), 0):
            yield option.flag, "" if option.type is Type.FLAG else option.text(value)


def _drawn(design: Design, audit: Audit | None) -> Iterator[tuple[str, str]]:
    """Yield the flags of sampling; for computed probabilities only that flag."""
    sampling = design.sampling
    if sampling.mode == EXACT:
        if audit is None or audit.defaults.drawn:
            yield "--exact", ""
    else:
        yield "--samples", str(design.samples)
        usual = audit.defaults.sampling_of(design.family) if audit is not None else None
        for name in ("temperature", "top_p", "top_k", "max_new_tokens"):
            value = sampling.told(name)
            if usual is None or usual.told(name) != value:
                yield f"--{name.replace('_', '-')}", value if value == SERVER else f"{value:g}"
        if sampling.stop == WHEN_DECIDED:
            yield "--until-decided", ""
    yield "--seed", str(design.seed)


ARCHIVE = "supplement.zip"
"the file of the tables that the page does not show"
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

    made = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        finalize=painted,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    made.filters["lines"] = lines
    return made


def read(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows only this style and script, and loads
    nothing.
    """
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; "
        "base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


MOST_FINDINGS, MOST_NAMED, MOST_DOUBTS = 5, 8, 3
"findings of an audit, values of models in one of them, and doubts, on the page"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture on the page."""

    svg: Any
    "markup"
    caption: str
    stem: str


@dataclass(frozen=True, eq=False, slots=True)
class Section:
    """What a page has of one audit."""

    of: Group
    told: AuditSentences
    main: Shown | None
    picture: Drawn | None


def interval_sentences(tables: Sequence[AnyTable]) -> list[tuple[str, str]]:
    """Return (figure, method) for each method of the intervals in some tables, each once."""
    sentences = dict.fromkeys(sentence for table in tables for sentence in told(table))
    parts = (sentence.removeprefix("95 % interval of ").partition(": ") for sentence in sentences)
    return [(what, method) for what, _, method in parts]


GENERAL_LIMITS = (
    "Models answer as they were on the day they were asked; a served model may be another one "
    "behind the same name.",
    "Intervals say how far chance carries. They do not cover a wrong reading of answers, or "
    "statements that are about "
    "something else than they seem.",
)
CANNOT_SAY = "What it cannot say"
"section of the help page of every shipped audit"


def title_of(found: Collected) -> str:
    """Return the title: the chosen one, else the models and instruments."""
    if found.choice.title:
        return found.choice.title
    models = list(dict.fromkeys(one.run.model for one in found.asked))
    who = (
        models[0]
        if len(models) == 1
        else plural(len(models), "model")
        if models
        else "published answers"
    )
    named = list(
        dict.fromkeys(instrument.title or instrument.name for instrument in found.instruments)
    )
    what = named[0] if len(named) == 1 else plural(len(named), "instrument")
    return f"{who[0].upper()}{who[1:]} on {what}" if models != [who] else f"{who} on {what}"


def page(
    found: Collected, sections: Sequence[Section], asked: Shown, tables: int, supplement: str
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
            title=title_of(found),
            version=found.software["workbench"],
            at=found.at,
            date=found.date,
            hash=found.hash,
            policy=policy(style, script),
            style=_trusted(style),
            script=_trusted(script),
            lede=_lede(found),
            planned=_planned(found),
            asked=_grid(asked),
            rulings=rulings_in_force(found),
            sections=list(map(_section, sections)),
            tested=sum(section.told.n_tests for section in sections),
            planned_claims=sum(section.told.n_planned for section in sections),
            has_power=any(
                OF_STUDIES in str(said) for section in sections for said in section.told.sentences
            ),
            level=f"{100 * LEVEL:g} %",
            left_out=found.left_out,
            software=", ".join(f"{name} {number}" for name, number in found.software.items()),
            references=list(
                dict.fromkeys(str(one) for part in found.parts for one in part.found.references)
            ),
            archive="" if found.choice.every_file else ARCHIVE,
            tables=tables,
            supplement=_trusted(supplement),
        )
    )


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  our own style and script, and base 64


def _section(one: Section) -> dict[str, Any]:
    doubts = list(_doubts(one.of.parts))[:MOST_DOUBTS]
    more_doubts = len(list(_doubts(one.of.parts))) - len(doubts)
    return {
        "slug": one.of.slug,
        "title": one.of.title,
        "findings": [
            {
                "said": sentence.said,
                "status": sentence.status,
                "models": sentence.models[:MOST_NAMED],
                "each": len(sentence.models) > 1 and all(value for _, value in sentence.models),
                "left": max(0, len(sentence.models) - MOST_NAMED),
                "doubts": list(_own_doubts(sentence.doubts, doubts))[:MOST_DOUBTS],
            }
            for sentence in one.told.sentences[:MOST_FINDINGS]
        ],
        "more": max(0, len(one.told.sentences) - MOST_FINDINGS),
        "false": _expected_false(one.told),
        "rulings": list(_rulings(one.of.parts)),
        "doubts": doubts,
        "more_doubts": more_doubts,
        "picture": one.picture,
        "table": None if one.main is None else _grid(one.main),
    }


def _expected_false(told: AuditSentences) -> str:
    """Return how many of an audit's claims may be false, or an empty string if a test shows
    none.
    """
    confirmed = _confirmed(told)
    if not told.n_shown:
        return confirmed
    expected = LEVEL * told.n_shown
    number_false = (
        f"About {plural(round(expected), 'false claim')}"
        if expected >= 1
        else "Fewer than 1 false claim"
    )
    are = "are" if expected >= 1.5 else "is"
    claims = plural(told.n_shown, "exploratory claim")
    among = "" if told.n_shown == 1 else " among them"
    exploratory = (
        f"Tests show {claims} here (adjusted for {plural(told.n_tests, 'test')}). "
        f"{number_false} {are} expected{among}."
    )
    return f"{exploratory} {confirmed}".rstrip()


def _confirmed(told: AuditSentences) -> str:
    """Return how many planned claims tests show, or an empty string if no plan names one."""
    if not told.n_planned:
        return ""
    planned = plural(told.n_planned, "planned claim")
    risk = f"{100 * LEVEL:.0f} % risk of any false one"
    return f"Tests confirm {told.n_confirmed:,} of {planned} (adjusted by Holm; {risk})."


def _doubts(parts: Sequence[Part]) -> Iterator[str]:
    """Yield what to doubt of all figures of an audit: what is missing, and who read the answers."""
    yield from _of_parts(parts, _doubts_of)


def _own_doubts(doubts: Sequence[str], of_audit: Sequence[str]) -> Iterator[str]:
    """Yield the doubts of one finding without those that the page states of the whole audit."""
    for doubt in doubts:
        own = doubt
        for common in of_audit:
            if own.casefold().endswith(common.casefold()):
                own = own[: -len(common)].rstrip("; ")
        if own and not own.endswith(":"):
            yield own


def _doubts_of(found: Reported) -> Iterator[str]:
    yield from warnings_of(found.book.header)
    if found.changed:
        yield f"{plural(len(found.changed), 'statement')} changed since they were asked"


def _rulings(parts: Sequence[Part]) -> Iterator[str]:
    """Yield which rulings of auditors concern the figures of an audit, and what they change."""
    yield from _of_parts(parts, lambda found: found.rulings.sentences())


def _of_parts(parts: Sequence[Part], lines: Callable[[Reported], Iterable[str]]) -> Iterator[str]:
    """Yield lines about some parts, after the names of their models. The same line of several
    models comes once.
    """
    names_by_line: dict[str, list[str]] = {}
    for part in parts:
        names = enumerated(list(part.found.runs)) if len(parts) > 1 else ""
        for line in lines(part.found):
            names_by_line.setdefault(line, []).append("" if names in line else names)
    for line, several in names_by_line.items():
        named = [names for names in several if names]
        yield f"{enumerated(named)}: {line.removesuffix('.')}" if named else line.removesuffix(".")


def rulings_in_force(found: Collected) -> str:
    """Return how many rulings of auditors are in force, and what they do to the figures."""
    if not found.rulings:
        return "No ruling of an auditor is in force on what these figures rest on."
    effects = Counter(ruled.counts for ruled in found.rulings)
    counts = ", ".join(
        f"{number:,} {_of_several(effect, number)}" for effect, number in effects.items()
    )
    are = "is" if len(found.rulings) == 1 else "are"
    return (
        f"{plural(len(found.rulings), 'ruling')} of auditors {are} in force: {counts}. The "
        "supplement lists them."
    )


def _of_several(effect: str, number: int) -> str:
    """Return the effect of a ruling as the predicate of so many rulings."""
    if number == 1:
        return effect
    return effect.replace("changes ", "change ").replace("does not count", "do not count")


def _grid(one: Shown) -> dict[str, Any]:
    """Return a table for the page: its first rows as markup, and its notes."""
    from markupsafe import Markup

    table = replace(one.table, rows=one.table.rows[:MOST_ROWS])
    grid, notes = html_grid(table) if table.rows else ("", [])
    return {
        "title": table.title,
        "definition": table.definition,
        "grid": Markup(grid),  # noqa: S704  what the HTML writer escaped
        "notes": [Markup(note) for note in notes],  # noqa: S704
        "empty": " ".join(table.empty.split()),
        "stem": one.stem,
        "left": len(one.table.rows) - len(table.rows),
    }


def _lede(found: Collected) -> str:
    audits = enumerated(
        list(dict.fromkeys(registry.audit_title(part.audit) for part in found.parts if part.audit))
    )
    answers = sum(one.run.responses for one in found.asked)
    models = len({one.run.model_id for one in found.asked})
    named = enumerated([f"{one.title or one.name} ({one.name})" for one in found.instruments])
    scripted = len({one.run.model_id for one in found.asked if one.run.backend == "scripted"})
    who = plural(models, "model")
    if scripted == models:
        who = (
            f"{plural(models, 'scripted model')} (no language "
            f"{'model' if models == 1 else 'models'})"
        )
    elif scripted:
        who = f"{who} ({scripted:,} of them scripted, no language models)"
    gave = f"{who} gave {plural(answers, 'answer')} to {named}"
    return (
        f"{gave if models else f'Others collected answers to {named}'}. The report is about "
        f"{audits}."
    )


def _planned(found: Collected) -> str:
    """Return whether runs had a plan, and whether it was followed."""
    lines = [line.removeprefix(WARNS) for table in found.plans for line in plan_lines(table)]
    return " ".join(lines) or "none."


def told_tables(
    found: Collected, sections: Sequence[Section], missing: Mapping[str, Sequence[str]]
) -> Iterator[AnyTable]:
    """Yield what a report says in words, as tables: findings, what they rest on, methods, and how
    to repeat it.

    missing : title of a part -> reasons for missing tables
    """
    yield own.texts(
        "findings",
        "All findings, the strongest first",
        ("part", "p", "doubt", "finding"),
        [
            (one.of.title, number(said.p, Kind.P_VALUE), "; ".join(said.doubts), str(said))
            for one in sections
            for said in one.told.sentences
        ],
    )
    parts = [part.found for part in found.parts]
    basis = [
        (of.title, line.removeprefix(WARNS))
        for of in parts
        for line in (*of.book.told, *of.book.notes)
    ]
    yield own.texts("basis", "What the figures rest on", ("part", "said"), dict.fromkeys(basis))
    why = [(title, line) for title, of in missing.items() for line in of]
    yield own.texts("missing", "What is not here, and why", ("part", "why"), why)
    yield own.texts("limits", "Limits", ("limit",), [(line,) for line in limits(found)])
    said = [(of.title, of.book.methods) for of in parts if of.book.methods]
    cannot = [
        (of.title, f"It cannot say: {line}")
        for of, lines in zip(parts, cannot_say(found.parts), strict=True)
        for line in lines
    ]
    yield own.texts("methods", "Methods", ("part", "method"), [*said, *cannot])
    lines = [(group["title"], line) for group in commands(found) for line in group["lines"]]
    yield own.texts("commands", "Commands that repeat this report", ("what", "command"), lines)


def cannot_say(parts: Sequence[Part]) -> Iterator[tuple[str, ...]]:
    """Yield for each part the section on limits from its audit's help page.

    It is empty if an earlier part is of the same audit, if the part is of none, or if the page, as
    in another package, has no such section.
    """
    said = set()
    for part in parts:
        if not part.audit or part.audit in said:
            yield ()
            continue
        package = type(registry.audit(part.audit)).__module__
        try:
            yield points(AUDITS_PAGE.removesuffix(ENDING), CANNOT_SAY, package)
        except (LookupError, OSError, TypeError):
            yield ()
        said.add(part.audit)


def limits(found: Collected) -> Iterator[str]:
    """Yield sentences on the limits of the figures, each once."""
    yield from dict.fromkeys(
        [line for part in found.parts for line in part.found.limits] + list(GENERAL_LIMITS)
    )


def commands(found: Collected) -> Iterator[dict[str, Any]]:
    """Yield the commands that repeat the runs, print the same figures, and write the same
    report.
    """
    asked = list(dict.fromkeys(run_command(spec) for one in found.asked for spec in one.designs))
    if asked:
        yield {"title": "Ask the same of the same models", "lines": asked}
    yield {
        "title": "Print the same figures",
        "lines": list(dict.fromkeys(part.found.command for part in found.parts)),
    }
    options = "".join(f" {shlex.quote(part)}" for part in found.choice.arguments())
    yield {"title": "Write this report", "lines": [f"workbench report STORE OUT{options}"]}
