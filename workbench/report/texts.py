"""Text files beside the page: the methods in Markdown, and the references as BibTeX."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.audits.reported import Reference
from workbench.domain.instruments import Instrument
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.report.collected import Collected
from workbench.report.page import cannot_say, commands, interval_sentences, limits, title_of

_SPECIAL = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {"\\": "", "~": "", "^": ""}


def methods_text(found: Collected, tables: Sequence[AnyTable]) -> str:
    """Return the methods, with every choice and its source, as Markdown."""
    return "\n".join(_methods(found, tables)) + "\n"


def _methods(found: Collected, tables: Sequence[AnyTable]) -> Iterator[str]:
    yield f"# Methods: {_plain(title_of(found))}"
    yield ""
    yield f"Store of {found.at[:16].replace('T', ' ')} UTC, SHA-256 of its content `{found.hash}`."
    software = ", ".join(f"{name} {number}" for name, number in found.software.items())
    yield f"Written with {software}."
    for part, cannot in zip(found.parts, cannot_say(found.parts), strict=True):
        yield from ("", f"## {_plain(part.found.title)}", "")
        if part.found.book.methods:
            yield _plain(part.found.book.methods)
        if cannot:
            yield from ("", "What it cannot say:", "", *(f"- {_plain(one)}" for one in cannot))
            yield from ("", f"Each measure with its formula and source: `workbench help {part.audit}`.")
        if part.found.parameters:
            yield from ("", "| choice | value | what it decides | source of the value |", "| --- | --- | --- | --- |")
            for one in part.found.parameters:
                yield f"| {' | '.join(map(_cell, (one.name, one.value, one.meaning, one.source)))} |"
    yield from ("", "## Intervals", "")
    yield from (f"- {what}: {method}" for what, method in interval_sentences(tables))
    yield from ("", "## Limits", "")
    yield from (f"- {line}" for line in limits(found))
    yield from ("", "## Commands", "")
    for group in commands(found):
        yield from (f"{group['title']}:", "", "```sh", *map(_plain, group["lines"]), "```", "")


def _plain(text: str) -> str:
    """Return text as one line without Markdown syntax."""
    return visible(text).replace("<", "&lt;") if "<" in text else visible(text)


def _cell(text: str) -> str:
    return _plain(text).replace("|", "\\|")


def bibtex(references: Sequence[Reference], instruments: Sequence[Instrument]) -> str:
    """Return the publications of audits, and the instruments, as BibTeX."""
    entries = [_entry(one) for one in dict.fromkeys(references)]
    entries += [_instrument(one, place) for place, one in enumerate(instruments, 1)]
    return "\n".join(entries)


def _entry(one: Reference) -> str:
    where = {"article": "journal", "inproceedings": "booktitle"}.get(one.kind, "howpublished")
    fields = [
        ("author", " and ".join(one.authors)), ("title", f"{{{one.title}}}"), (where, one.venue),
        ("year", str(one.year)), *one.more,
    ]  # fmt: skip
    return _written(one.kind, one.key, fields)


def _instrument(one: Instrument, place: int) -> str:
    """Return an instrument as BibTeX; its own citation is quoted in the note."""
    title = f"{{{_escaped(one.title or one.name)}}}"
    parts = (
        one.citation,
        f"Version {one.version}" if one.version else "",
        f"Licence: {one.licence}" * bool(one.licence),
    )
    note = ". ".join(filter(None, parts))
    fields = [("title", title), ("howpublished", _escaped(one.source)), ("note", _escaped(note))]
    return _written("misc", f"instrument{place}", [(name, value) for name, value in fields if value])


def _written(kind: str, key: str, fields: Sequence[tuple[str, str]]) -> str:
    return f"@{kind}{{{key},\n" + "".join(f"  {name} = {{{value}}},\n" for name, value in fields) + "}\n"


def _escaped(text: str) -> str:
    return "".join(_SPECIAL.get(sign, sign) for sign in visible(text))
