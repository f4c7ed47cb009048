"""Pictures as files: SVG and PDF, drawn with matplotlib."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree as Tree

from workbench.errors import MissingPackage, UsageError
from workbench.figures.pictures.of_table import pictures_of
from workbench.figures.pictures.picture import Picture
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible
from workbench.figures.write.plots.fonts import WHOLE, characters_in_part, families
from workbench.figures.write.plots.style import INK, PAPER, RC
from workbench.installed import install

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE_AT_A_TIME = Lock()
"a lock, because matplotlib's settings are global"
NOTHING = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"metadata of matplotlib and the time, which are removed"


def check_package() -> None:
    """Raise MissingPackage without matplotlib. It costs nothing, as the package is not imported."""
    if find_spec("matplotlib") is None:
        raise MissingPackage(
            f"pictures as files need the package matplotlib; install it with: {install('report')}"
        )


def prepare() -> None:
    """Import the packages for drawing, which takes a second.

    Raises MissingPackage without matplotlib.
    """
    check_package()
    import workbench.figures.write.plots.draw  # noqa: F401

    families()


def drawn(picture: Picture, *forms: Literal["svg", "pdf"]) -> list[bytes]:
    """Return a picture in some forms, as matplotlib writes it.

    Raises MissingPackage without matplotlib.

    The same picture gives the same bytes on every machine. A PDF holds fonts of one family, because
    matplotlib writes them in the order of their paths: two families from two folders would have
    another order elsewhere. Characters that no family has are boxes in PDF, while a browser uses
    another font.
    """
    check_package()
    import matplotlib

    from workbench.figures.write.plots.draw import draw
    from workbench.figures.write.plots.texts import characters_of

    with ONE_AT_A_TIME, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*missing from font.*")
        for family in families():
            with matplotlib.rc_context({**RC, "font.family": family}):
                figure = draw(picture)
                if family == WHOLE or characters_of(figure) <= characters_in_part():
                    return [_written(figure, form) for form in forms]
    raise AssertionError("the whole font is the last of the families")


def _written(figure: Figure, form: str) -> bytes:
    buffer = BytesIO()
    figure.savefig(
        buffer, format=form, metadata=NOTHING[form], facecolor="white" if form == "pdf" else PAPER
    )
    return buffer.getvalue()


def pdf(picture: Picture) -> bytes:
    """Return a picture as PDF.

    The same picture gives the same bytes. Raises MissingPackage without matplotlib.
    """
    (content,) = drawn(picture, "pdf")
    return content


SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FAMILY = "'DejaVu Sans', Verdana, system-ui, sans-serif"
"font families, where Verdana is as wide as DejaVu Sans, which was used for the layout"
ALONE = {INK: "#1a1a1a", PAPER: "#ffffff"}
WITHIN = {INK: "currentColor", PAPER: "var(--paper, Canvas)"}
"a page's colours for ink and paper, where a page with its own background sets `--paper`"
REFERENCE = re.compile(r"url\(#([^)]*)\)")
LEFT_OUT = ("font-family", "font")


def svg(picture: Picture, *, within: str | None = None) -> str:
    """Return a picture as SVG.

    The same picture gives the same text. Raises MissingPackage without matplotlib.

    Parameters
    ----------
    within : None: a standalone file, dark on white. Else the picture is a part of a page, with the
        page's colours, and this is the prefix of its ids, which must be unique within the page
    """
    (content,) = drawn(picture, "svg")
    return cleaned(content, picture, within=within)


def cleaned(svg: bytes, picture: Picture, *, within: str | None = None) -> str:
    """Return matplotlib's output with a description for screen readers, without styles.

    Its colours are those of `svg`.
    """
    root = Tree.fromstring(svg)  # noqa: S314  our own
    prefix = "" if within is None else f"{within}-"
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    used_ids = set(_referred_to(root))
    colours = ALONE if within is None else WITHIN
    for element in root.iter():
        _put(element, prefix, used_ids, colours)
    if within is not None:
        # the first path is the paper: the background becomes transparent
        paper = next(root.iter(f"{{{SVG}}}path"))
        paper.set("fill", "none")
    _tell(root, picture, prefix)
    Tree.register_namespace("", SVG)
    Tree.register_namespace("xlink", LINK)
    return Tree.tostring(root, encoding="unicode") + "\n"


def _referred_to(root: Tree.Element) -> Iterator[str]:
    for element in root.iter():
        for value in element.attrib.values():
            yield from REFERENCE.findall(value)
        if link := element.get(f"{{{LINK}}}href"):
            yield link.removeprefix("#")


def _put(element: Tree.Element, prefix: str, used: set[str], colours: dict[str, str]) -> None:
    """Convert the style of an element to attributes, which a strict policy allows.

    Its ids get a prefix.
    """
    for declaration in element.attrib.pop("style", "").split(";"):
        name, _, value = declaration.partition(":")
        if value and name.strip() not in LEFT_OUT:
            element.set(name.strip(), value.strip())
    for name, value in list(element.attrib.items()):
        if value in colours:
            element.set(name, colours[value])
        elif name == "id":
            if value in used:
                element.set(name, prefix + value)
            else:
                del element.attrib[name]
        elif name == f"{{{LINK}}}href":
            element.set(name, f"#{prefix}{value.removeprefix('#')}")
        elif value.startswith("url(#"):
            element.set(name, REFERENCE.sub(lambda match: f"url(#{prefix}{match[1]})", value))
        elif name == "d":
            element.set(name, " ".join(value.split()))
        elif name == "transform" and value.startswith("rotate(-0 "):
            del element.attrib[name]
    if element.tag != f"{{{SVG}}}text":
        element.text = None
    element.tail = "\n"


def _tell(root: Tree.Element, picture: Picture, prefix: str) -> None:
    """Add title and description for screen readers and browsers."""
    root.tail = None
    root.set("role", "img")
    root.set("font-family", FAMILY)
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    root.set("aria-labelledby", f"{prefix}title {prefix}desc")
    for tag, text in (("desc", picture.alt), ("title", picture.heading)):
        label = Tree.Element(f"{{{SVG}}}{tag}", {"id": f"{prefix}{tag}"})
        label.text, label.tail = visible(text), "\n"
        root.insert(0, label)


def picture_files(tables: Iterable[AnyTable]) -> Mapping[str, bytes]:
    """Return file name -> contents of each page of each picture that the tables declare.

    Each page is an SVG and a PDF.

    Raises UsageError if no table has a picture, and MissingPackage without matplotlib.
    """
    files: dict[str, bytes] = {}
    for picture in (
        page for table in tables for declared in pictures_of(table) for page in declared.pages()
    ):
        svg, pdf = drawn(picture, "svg", "pdf")
        files |= {f"{picture.stem}.svg": cleaned(svg, picture).encode(), f"{picture.stem}.pdf": pdf}
    if not files:
        raise UsageError(
            "none of these figures has a picture; leave --figures out, or write tables with --csv"
        )
    return files
