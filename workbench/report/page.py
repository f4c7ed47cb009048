"""The templates of the page. All text that they print passes `figures.visible` and is escaped."""

from __future__ import annotations

import base64
import hashlib
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING, Any

from workbench import registry
from workbench.audits.audit import Audit
from workbench.audits.claims import LEVEL, sentences
from workbench.domain.designs import Design
from workbench.domain.instruments import Instrument
from workbench.domain.names import plural
from workbench.domain.prompts import Template
from workbench.domain.responses import EXACT, WHEN_DECIDED
from workbench.domain.verdicts import Verdict
from workbench.errors import MissingPackage
from workbench.evidence.plans import plan_lines
from workbench.figures.book import WARNS, warnings_of
from workbench.figures.intervals import told
from workbench.figures.shown import shown
from workbench.figures.table import MARKS, WORDS, AnyTable
from workbench.figures.visible import visible
from workbench.figures.write.html import html_grid
from workbench.help.pages import AUDITS_PAGE, ENDING
from workbench.help.sections import points
from workbench.options.option import Type
from workbench.report import own_tables as own
from workbench.report.collected import MOST_ROWS, Asked, Collected, Part, Shown
from workbench.report.options import ALL, FAILED
from workbench.report.own_tables import Behind, Given

if TYPE_CHECKING:
    from jinja2 import Environment


def run_command(spec: Mapping[str, Any]) -> str:
    """Return the command of a stored design, with the word STORE for the store."""
    design = Design.from_json(spec)
    audit = registry.of_design(spec)
    parts = [part for flag, value in _given(design, audit) for part in (flag, *([value] if value else []))]
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
            value = getattr(sampling, name)
            if usual is None or asdict(usual)[name] != value:
                yield f"--{name.replace('_', '-')}", "0" if value is None else f"{value:g}"
        if sampling.stop == WHEN_DECIDED:
            yield "--until-decided", ""
    yield "--seed", str(design.seed)


MISSING = "a report needs the package jinja2; install it with: pip install 'llm-audit-workbench[report]'"


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
    """Return a Content-Security-Policy that allows only this style and script, and loads nothing."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


MOST_PRINTED = 100
"rows of a table on paper"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture on the page."""

    svg: Any
    "markup"
    caption: str
    stem: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A table on the page."""

    anchor: str
    title: str
    definition: str
    grid: Any
    "markup; empty where there is no row"
    empty: str
    notes: Sequence[Any]
    "markup"
    stem: str
    "stem of its files; empty: no files"
    folded: bool
    summary: str
    long: bool
    "whether it takes pages on paper, where its file stands for it"
    aside: str
    "titles of the columns that paper has no room for"
    pictures: Sequence[Drawn] = ()


def figure(one: Shown, pictures: Sequence[Drawn] = ()) -> Figure:
    """Return a table of a part for the page; secondary tables are folded."""
    return _figure(one.table, one.stem, one.stem, folded=not one.first, pictures=pictures)


def own_figure(table: AnyTable, stem: str = "") -> Figure:
    """Return a table that every report has; long ones are folded."""
    return _figure(table, f"table-{stem or table.stem}", stem, folded=len(table.rows) > MOST_ROWS)


def _figure(table: AnyTable, anchor: str, stem: str, *, folded: bool, pictures: Sequence[Drawn] = ()) -> Figure:
    from markupsafe import Markup

    grid, notes = html_grid(table) if table.rows else ("", [])
    return Figure(
        anchor,
        table.title,
        table.definition,
        Markup(grid),  # noqa: S704  what the HTML writer escaped
        " ".join(table.empty.split()),
        [Markup(note) for note in notes],  # noqa: S704
        stem,
        folded and bool(table.rows),
        plural(len(table.rows), "row"),
        bool(stem) and len(table.rows) > MOST_PRINTED,
        ", ".join(column.title for column in table.columns if column.aside) if table.rows and stem else "",
        pictures,
    )


def interval_sentences(tables: Sequence[AnyTable]) -> list[tuple[str, str]]:
    """Return (figure, method) for each method of the intervals in some tables, each once."""
    sentences = dict.fromkeys(sentence for table in tables for sentence in told(table))
    parts = (sentence.removeprefix("95 % interval of ").partition(": ") for sentence in sentences)
    return [(what, method) for what, _, method in parts]


@dataclass(frozen=True, slots=True)
class ItemShown:
    """A statement on the page."""

    kind: str
    "class of its verdict"
    mark: str
    ref: str
    text: str
    said: Sequence[str]
    given: Sequence[Given]


def item_shown(one: Behind) -> ItemShown:
    """Return a statement for the page: with a mark and a word, because colour is never the only sign."""
    item = one.item
    verdict: Verdict | None = item.verdict
    mark = f"{MARKS[verdict]} {WORDS[verdict]}" if verdict is not None else ""
    return ItemShown(verdict.value if verdict else "", mark, item.ref, item.text, item.said, one.given)


UNSAID = "not said"
WIDE = 44
"characters from which a fact gets its own line"
GENERAL_LIMITS = (
    "Models answer as they were on the day they were asked; a served model may be another one behind the same name.",
    "Intervals say how far chance carries. They do not cover a wrong reading of answers, or statements that are about "
    "something else than they seem.",
)
STATEMENTS_SAID = {
    FAILED: "Statements that do not pass come first, with the answers to each wording, over all templates. Passing "
    "statements have their verdict alone.",
    ALL: "Each statement has its answers to each wording, over all templates; every answer under each template stands "
    "in the folder answers.",
}
CANNOT_SAY = "What it cannot say"
"section of the help page of every shipped audit"
INTERVALS_SAID = (
    "All intervals are 95 %. A value without one says why. workbench help coverage says how often each method holds "
    "the truth."
)


@dataclass(frozen=True, eq=False, slots=True)
class Material:
    """Further contents of the page besides the collected ones."""

    tables: Mapping[str, Sequence[Shown]]
    "slug of a part -> its tables"
    missing: Mapping[str, Sequence[str]]
    "slug of a part -> reasons for missing tables"
    pictures: Mapping[str, Sequence[Drawn]]
    "stem of a table -> its pictures"
    behind: Mapping[tuple[str, str], Sequence[Behind]]
    "(slug of a part, name of a model) -> its statements"


def title_of(found: Collected) -> str:
    """Return the title: the chosen one, else the models and instruments."""
    if found.choice.title:
        return found.choice.title
    models = list(dict.fromkeys(one.run.model for one in found.asked))
    who = models[0] if len(models) == 1 else plural(len(models), "model") if models else "published answers"
    named = list(dict.fromkeys(instrument.title or instrument.name for instrument in found.instruments))
    what = named[0] if len(named) == 1 else plural(len(named), "instrument")
    return f"{who[0].upper()}{who[1:]} on {what}" if models != [who] else f"{who} on {what}"


def page(found: Collected, material: Material) -> str:
    """Return the page. Raises MissingPackage without jinja2."""
    style, script = read("style.css"), read("script.js")
    every = [one.table for of in material.tables.values() for one in of]
    findings, tested = sentences([part.found.findings for part in found.parts])
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
            parts=[_part(*each, material) for each in zip(found.parts, findings, cannot_say(found.parts), strict=True)],
            tested=tested,
            level=f"{100 * LEVEL:g} %",
            left_out=found.left_out,
            facts=_facts(found),
            models=list(map(_model, found.asked)),
            instruments=[_instrument(one) for one in found.instruments],
            templates=list(_templates(found.asked)),
            counts=[own_figure(table, table.stem) for table in (own.design(found), *own.counted(found))],
            outdated=list(_outdated(found)),
            statements=_statements(found, material),
            statements_said=STATEMENTS_SAID.get(found.choice.answers, "Each statement has its verdict alone."),
            rulings=own_figure(own.rulings(found), "rulings"),
            ruled=[f"{part.found.title}: {line}" for part in found.parts for line in part.found.rulings.sentences()],
            limits=list(limits(found)),
            intervals_said=INTERVALS_SAID,
            intervals=interval_sentences(every),
            commands=list(commands(found)),
            references=list(dict.fromkeys(str(one) for part in found.parts for one in part.found.references)),
        )
    )


def _trusted(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)  # noqa: S704  our own style, script and templates


def _lede(found: Collected) -> str:
    audits = named_all(list(dict.fromkeys(part.audit.replace("_", " ") for part in found.parts if part.audit)))
    answers = sum(one.run.responses for one in found.asked)
    models = len({one.run.model_id for one in found.asked})
    gave = f"{plural(models, 'model')} gave {plural(answers, 'answer')}"
    whose = gave if models else "Answers that others collected are"
    return (
        f"{whose}{',' if models else ''} judged for {audits}. Every number has its definition, its n and its interval."
    )


def named_all(names: Sequence[str]) -> str:
    """Return names as an enumeration: `a, b and c`."""
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else "".join(names)


def _facts(found: Collected) -> list[tuple[str, str]]:
    software = ", ".join(f"{name} {number}" for name, number in found.software.items())
    rulings = "count" if found.choice.rulings else "do not count, by choice"
    return [
        ("Last event in the store", f"{found.at[:16].replace('T', ' ')} UTC"),
        ("Content of the store, SHA-256", found.hash),
        ("Auditors' rulings", rulings),
        ("Plan frozen before the answers", _planned(found)),
        ("Software of this report", software),
    ]


def _planned(found: Collected) -> str:
    """Return whether runs had a plan, and whether it was followed."""
    lines = [line.removeprefix(WARNS) for table in found.plans for line in plan_lines(table)]
    return " ".join(lines) or "none"


def _model(one: Asked) -> dict[str, Any]:
    """Return how a model was asked: the columns of the table of models as a list."""
    columns = own.models_columns()
    facts = [(column.title, shown(column.value(one), column)) for column in columns[1:]]
    facts.sort(key=lambda fact: len(fact[1]) > WIDE)
    return {"title": one.name, "facts": [(title[0].upper() + title[1:], text or UNSAID) for title, text in facts]}


def _instrument(one: Instrument) -> dict[str, Any]:
    statements = plural(len(one.statements), "statement")
    facts = [
        ("Name", one.name),
        ("Size", statements),
        ("Language", one.language),
        ("Version", one.version or UNSAID),
        ("Licence", one.licence or UNSAID),
        ("Source", one.source or UNSAID),
        ("To be cited as", one.citation or UNSAID),
    ]
    return {"title": one.title or one.name, "facts": facts}


def _templates(asked: Sequence[Asked]) -> Iterator[dict[str, Any]]:
    """Yield the exact templates of each audit and family; models asked in the same way share them."""
    every: dict[tuple[str, str, str], dict[bytes, Template]] = {}
    for one in asked:
        group = every.setdefault((one.run.audit, one.run.family, one.run.language), {})
        group.update({template.key: template for template in one.templates})
    for (audit, family, language), of in every.items():
        templates = sorted(of.values(), key=lambda one: (one.name, one.inverted))
        yield {
            "title": f"{audit.replace('_', ' ')}: templates {family}, {language} ({len(templates)})",
            "templates": [
                {
                    "title": f"{one.name}, labels {one.order}",
                    "labels": f"agreeing: {one.positive}; rejecting: {one.negative}" if one.positive else "free text",
                    "system": one.system or "",
                    "role": "user" if one.chat else "raw text, to be continued",
                    "user": one.user,
                }
                for one in templates
            ],
        }


def _outdated(found: Collected) -> Iterator[str]:
    for part in found.parts:
        if changed := part.found.changed:
            shown = ", ".join(f"{ref} (version {asked}, now {now})" for ref, (asked, now) in list(changed.items())[:8])
            more = f" and {len(changed) - 8} more" if len(changed) > 8 else ""
            yield f"{part.found.title}: changed since they were asked: {shown}{more}."


def _part(part: Part, findings: Sequence[str], cannot: Sequence[str], material: Material) -> dict[str, Any]:
    book, tables = part.found.book, material.tables[part.slug]
    figures = [
        replace(figure(one, material.pictures.get(one.stem, ())), title=_named(one)) for one in tables if one.on_page
    ]
    return {
        "slug": part.slug,
        "title": part.found.title,
        "findings": findings,
        "warnings": warnings_of(book.header),
        "told": [line for line in book.told if not line.startswith(WARNS)],
        "figures": figures,
        "notes": book.notes,
        "files": [{"title": _named(one), "stem": one.stem} for one in tables if not one.on_page],
        "missing": material.missing[part.slug],
        "methods": book.methods,
        "cannot": cannot,
        "audit": part.audit,
        "choices": _choices(part),
    }


def _choices(part: Part) -> Figure | None:
    return own_figure(own.chosen(part), f"choices_behind-{part.slug}") if part.found.parameters else None


def _named(one: Shown) -> str:
    """Return the title of a table, with its subject where the title does not name it."""
    said = all(name in one.table.title for name in one.table.subject)
    return one.table.title if said else f"{one.table.title} ({' − '.join(one.table.subject)})"


def _statements(found: Collected, material: Material) -> list[dict[str, Any]]:
    groups = []
    for part in found.parts:
        for name in part.found.items:
            items = list(map(item_shown, material.behind[part.slug, name]))
            read_ = name in part.found.readers
            said = "" if any(item.given for item in items) else "No raw answers are shown here."
            markup = environment().get_template("items.html.j2").render(items=items, read=read_)
            title = part.found.title if len(part.found.items) == 1 else f"{part.found.title}: {name}"
            verdicts = [item.mark for item in items if item.mark]
            counted = ", ".join(f"{len(list(of))} {mark}" for mark, of in groupby(sorted(verdicts)))
            told = ". ".join(filter(None, (plural(len(items), "statement"), counted, said)))
            groups.append({"title": title, "said": told, "markup": _trusted(markup)})
    return groups


def cannot_say(parts: Sequence[Part]) -> Iterator[tuple[str, ...]]:
    """Yield for each part the section on limits from its audit's help page.

    It is empty if an earlier part is of the same audit, if the part is of none, or if the page, as in another package,
    has no such section.
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
    yield from dict.fromkeys([line for part in found.parts for line in part.found.limits] + list(GENERAL_LIMITS))


def commands(found: Collected) -> Iterator[dict[str, Any]]:
    """Yield the commands that repeat the runs, print the same figures, and write the same report."""
    asked = list(dict.fromkeys(run_command(spec) for one in found.asked for spec in one.designs))
    if asked:
        yield {"title": "Ask the same of the same models", "lines": asked}
    yield {"title": "Print the same figures", "lines": list(dict.fromkeys(part.found.command for part in found.parts))}
    options = "".join(f" {shlex.quote(part)}" for part in found.choice.arguments())
    yield {"title": "Write this report", "lines": [f"workbench report STORE OUT{options}"]}
