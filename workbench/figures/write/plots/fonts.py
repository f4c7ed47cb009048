"""The font of pictures: DejaVu Sans as matplotlib ships it, and before it a small part of it.

A PDF holds the glyphs that it uses. To take them out of the whole font is two thirds of the time of a PDF (0.14 s a
font, of which most PDFs have two); out of a part that has the letters of most texts and no layout rules it is a tenth
of that. A sign that the part lacks comes from the whole font.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

WHOLE, PART = "DejaVu Sans", "Workbench DejaVu Sans"
FILES = ("DejaVuSans.ttf", "DejaVuSans-Oblique.ttf")
SIGNS = (
    (0x20, 0x7F), (0xA0, 0x180), (0x370, 0x460), (0x2000, 0x2070), (0x2190, 0x2200), (0x2208, 0x2270),
    (0x25A0, 0x2600), (0x2713, 0x2718),
)  # fmt: skip
"code points of the part: Latin, Greek, Russian, punctuation, arrows, relations, marks"
FAMILY_NAMES = (1, 16)
"of the records of a font's names; its PostScript name, which a PDF says, stays"


@cache
def families() -> list[str]:
    """Return the families that texts are drawn with, the part first. They are made on first use.

    The part is left out where the fonts of matplotlib are elsewhere, as in some Linux distributions.
    """
    import matplotlib
    from matplotlib.font_manager import fontManager

    shipped = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    if not all((shipped / name).is_file() for name in FILES):
        return [WHOLE]
    folder = Path(_folder().name)
    for name in FILES:
        _reduce(shipped / name, folder / name)
        fontManager.addfont(folder / name)
    return [PART, WHOLE]


@cache
def _folder() -> TemporaryDirectory[str]:
    """Return a folder that goes when the process ends."""
    return TemporaryDirectory(prefix="workbench-fonts-")


def _reduce(font: Path, to: Path) -> None:
    """Write the part of a font under a name of its own. The same font gives the same bytes."""
    from fontTools import subset

    options: Any = subset.Options(glyph_names=True, recommended_glyphs=True, hinting=False, legacy_kern=True)
    options.layout_features = []
    options.name_IDs = ["*"]
    options.drop_tables = [
        *(tag for tag in options.drop_tables if tag != "kern"),
        "GSUB",
        "GPOS",
        "GDEF",
        "FFTM",
        "MATH",
    ]
    part: Any = subset.load_font(str(font), options)
    subsetter = subset.Subsetter(options=options)
    subsetter.populate(unicodes=[sign for low, high in SIGNS for sign in range(low, high)])
    subsetter.subset(part)
    for record in part["name"].names:
        if record.nameID in FAMILY_NAMES:
            part["name"].setName(PART, record.nameID, record.platformID, record.platEncID, record.langID)
    part.save(to)
