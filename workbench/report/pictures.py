"""The pictures of tables, drawn once: within the page in its colours, and as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbench.domain.counting import plural
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.pictures.picture import Picture
from workbench.figures.write.svg import cleaned
from workbench.report.drawing_process import DrawingProcess
from workbench.report.markup import Drawn
from workbench.report.shown import Shown, Stems

MOST_PAGES = 4
"most pages of multi-page pictures in a report: drawing a page takes as long as judging 10,000 prompts"


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture on the page, with its files."""

    table: str
    "stem of its table"
    shown: Drawn
    files: tuple[tuple[str, bytes], ...]


def declared(tables: Sequence[Shown]) -> list[tuple[Shown, Picture]]:
    """Return the pictures of the tables that are on the page."""
    return [(one, picture) for one in tables if one.on_page for picture in pictures_of(one.table)]


def chosen(
    every: Sequence[tuple[Shown, Picture]], parts: int
) -> tuple[list[tuple[Shown, Picture]], list[tuple[str, str]]]:
    """Return the pictures that a report draws, by page, and (part, reason) for each one left out.

    Of pictures that take several pages, those are drawn for which `MOST_PAGES` has room, as shared among `parts`.
    """
    found: list[tuple[Shown, Picture]] = []
    left: list[tuple[str, str]] = []
    room = MOST_PAGES // max(1, parts)
    for one, picture in every:
        pages = picture.pages()
        if len(pages) > max(1, room):
            said = f"takes {plural(len(pages), 'page')}; --figures FOLDER draws it"
            left.append((one.part, f"The picture of {picture.title}: {said} beside the command that prints the table."))
            continue
        room -= len(pages) if len(pages) > 1 else 0
        found += [(one, page) for page in pages]
    return found, left


def drawings(pictures: Sequence[tuple[Shown, Picture]], stems: Stems, process: DrawingProcess) -> Iterator[Drawing]:
    """Yield pictures with their files. Raises MissingPackage without matplotlib."""
    from markupsafe import Markup

    for one, picture in pictures:
        stem = stems.of(f"{one.stem}-picture" if picture.of == 1 else f"{one.stem}-picture-{picture.page}")
        svg, pdf = process.drawn(picture)
        inside = Markup(cleaned(svg, picture, within=stem))  # noqa: S704  what the SVG writer escaped
        files = ((f"figures/{stem}.svg", cleaned(svg, picture).encode()), (f"figures/{stem}.pdf", pdf))
        yield Drawing(one.stem, Drawn(inside, picture.heading, stem), files)
