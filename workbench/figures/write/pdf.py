"""PDF: a page of the picture's size with embedded fonts, for papers."""

from __future__ import annotations

from workbench.figures.pictures.picture import Picture
from workbench.figures.write.drawing import drawn


def pdf(picture: Picture) -> bytes:
    """Return a picture as PDF; the same picture gives the same bytes. Raises MissingPackage without matplotlib."""
    (found,) = drawn(picture, "pdf")
    return found
