"""The pictures of tables as files, each as SVG and as PDF."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.errors import UsageError
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.table import AnyTable
from workbench.figures.write.drawing import drawn
from workbench.figures.write.svg import cleaned


def picture_files(tables: Iterable[AnyTable]) -> Mapping[str, bytes]:
    """Return file name -> contents: each page of each picture that the tables declare, as SVG and as PDF.

    Raises UsageError if no table has a picture, and MissingPackage without matplotlib.
    """
    files: dict[str, bytes] = {}
    for picture in (page for table in tables for one in pictures_of(table) for page in one.pages()):
        svg, pdf = drawn(picture, "svg", "pdf")
        files |= {f"{picture.stem}.svg": cleaned(svg, picture).encode(), f"{picture.stem}.pdf": pdf}
    if not files:
        raise UsageError("none of these figures has a picture; leave --figures out, or write tables with --csv")
    return files
