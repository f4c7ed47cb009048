"""SVG: a standalone file, or a part of a page with the page's colours.

There are no inline styles and no unused ids, so a page with a strict Content-Security-Policy may contain many pictures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree as Tree

from workbench.figures.pictures.picture import Picture
from workbench.figures.visible import visible
from workbench.figures.write.drawing import drawn
from workbench.figures.write.plots.style import INK, PAPER

SVG, LINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"
FAMILY = "'DejaVu Sans', Verdana, system-ui, sans-serif"
"Verdana is as wide as DejaVu Sans, which was used for the layout"
ALONE = {INK: "#1a1a1a", PAPER: "#ffffff"}
WITHIN = {INK: "currentColor", PAPER: "var(--paper, Canvas)"}
"a page's colours for ink and paper; a page with its own background sets `--paper`"
REFERENCE = re.compile(r"url\(#([^)]*)\)")
LEFT_OUT = ("font-family", "font")


def svg(picture: Picture, *, within: str | None = None) -> str:
    """Return a picture as SVG; the same picture gives the same text. Raises MissingPackage without matplotlib.

    Parameters
    ----------
    within : None: a standalone file, dark on white. Else the picture is a part of a page, with the page's colours, and
        this is the prefix of its ids, which must be unique within the page
    """
    (found,) = drawn(picture, "svg")
    return cleaned(found, picture, within=within)


def cleaned(found: bytes, picture: Picture, *, within: str | None = None) -> str:
    """Return matplotlib's output with a description for screen readers, without styles, in the colours of `svg`."""
    root = Tree.fromstring(found)  # noqa: S314  our own
    prefix = "" if within is None else f"{within}-"
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    used = set(_referred_to(root))
    colours = ALONE if within is None else WITHIN
    for element in root.iter():
        _put(element, prefix, used, colours)
    if within is not None:
        _clear_background(root)
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
    """Convert the style of an element to attributes, which a strict policy allows, and prefix its ids."""
    for part in element.attrib.pop("style", "").split(";"):
        name, _, value = part.partition(":")
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


def _clear_background(root: Tree.Element) -> None:
    """Make the background transparent: the first path is the paper."""
    paper = next(root.iter(f"{{{SVG}}}path"))
    paper.set("fill", "none")


def _tell(root: Tree.Element, picture: Picture, prefix: str) -> None:
    """Add title and description for screen readers and browsers."""
    root.tail = None
    root.set("role", "img")
    root.set("font-family", FAMILY)
    root.set("stroke-linejoin", "round")
    root.set("stroke-linecap", "butt")
    root.set("aria-labelledby", f"{prefix}title {prefix}desc")
    for tag, text in (("desc", picture.alt), ("title", picture.heading)):
        said = Tree.Element(f"{{{SVG}}}{tag}", {"id": f"{prefix}{tag}"})
        said.text, said.tail = visible(text), "\n"
        root.insert(0, said)
