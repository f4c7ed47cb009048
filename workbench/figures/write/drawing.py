"""Pictures drawn with matplotlib, which is imported on use: one drawing, written as SVG and as PDF."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from io import BytesIO
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

from workbench.errors import MissingPackage
from workbench.figures.pictures.kinds import Bars, Grid, Intervals, Lines, Plane, Spider
from workbench.figures.pictures.picture import Picture
from workbench.figures.write.plots.fonts import families
from workbench.figures.write.plots.style import PAPER, RC

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ONE_AT_A_TIME = Lock()
"matplotlib's settings are global"
DRAWN_BY: Mapping[type[Picture], str] = {
    Intervals: "intervals", Grid: "grid", Lines: "lines", Plane: "plane", Spider: "spider", Bars: "bars",
}  # fmt: skip
NOTHING = {
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"metadata of matplotlib and the time, which are removed"


def check_package() -> None:
    """Raise MissingPackage without matplotlib, which costs nothing: it is not imported."""
    if find_spec("matplotlib") is None:
        raise MissingPackage(
            "pictures as files need the package matplotlib; install it with: pip install 'llm-audit-workbench[report]'"
        )


def drawn(picture: Picture, *forms: Literal["svg", "pdf"]) -> list[bytes]:
    """Return a picture in some forms, as matplotlib writes it. Raises MissingPackage without matplotlib.

    The same picture gives the same bytes. Characters that the font lacks are boxes in PDF; a browser uses another font.
    """
    check_package()
    import matplotlib

    with ONE_AT_A_TIME, matplotlib.rc_context({**RC, "font.family": families()}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*missing from font.*")
        draw: Callable[[Any], Figure] = import_module(f"workbench.figures.write.plots.{DRAWN_BY[type(picture)]}").draw
        figure = draw(picture)
        return [_written(figure, form) for form in forms]


def _written(figure: Figure, form: str) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format=form, metadata=NOTHING[form], facecolor="white" if form == "pdf" else PAPER)
    return buffer.getvalue()
