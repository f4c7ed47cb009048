"""The fonts of pictures: a subset of DejaVu Sans, then the full font as shipped with matplotlib.

A PDF embeds the glyphs that it uses. Extracting them from the full font takes two thirds of the
time of a PDF (0.14 s per font, and most PDFs have two). From a subset with the letters of most
texts and no layout rules it takes a tenth of that. Characters that the subset lacks come from the
full font.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

WHOLE, PART = "DejaVu Sans", "Workbench DejaVu Sans"
FILES = ("DejaVuSans.ttf", "DejaVuSans-Oblique.ttf")
SIGNS = (
    (0x20, 0x7F),
    (0xA0, 0x180),
    (0x370, 0x460),
    (0x2000, 0x2070),
    (0x2190, 0x2200),
    (0x2208, 0x2270),
    (0x25A0, 0x2600),
    (0x2713, 0x2718),
)
"code points of the subset: Latin, Greek, Russian, punctuation, arrows, relations, marks"
FAMILY_NAMES = (1, 16)
"""name records that are changed

The PostScript name, which a PDF contains, stays.
"""


@cache
def families() -> list[str]:
    """Return the font families of texts, the subset first.

    It is created on first use.

    The subset is left out if the fonts of matplotlib are elsewhere, as in some Linux distributions.
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
def characters_in_part() -> frozenset[str]:
    """Return the characters that the subset has. Line breaks need no glyph."""
    from matplotlib.font_manager import get_font

    fonts = [get_font(str(Path(_folder().name) / name)) for name in FILES]
    code_points = set.intersection(*(set(font.get_charmap()) for font in fonts))
    return frozenset(["\n", *map(chr, code_points)])


@cache
def _folder() -> TemporaryDirectory[str]:
    """Return a folder that is deleted when the process ends."""
    return TemporaryDirectory(prefix="workbench-fonts-")


def _reduce(font: Path, to: Path) -> None:
    """Write the subset of a font under its own name. The same font gives the same bytes."""
    from fontTools import subset

    options: Any = subset.Options(
        glyph_names=True, recommended_glyphs=True, hinting=False, legacy_kern=True
    )
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
    loaded: Any = subset.load_font(str(font), options)
    subsetter = subset.Subsetter(options=options)
    subsetter.populate(
        unicodes=[code_point for low, high in SIGNS for code_point in range(low, high)]
    )
    subsetter.subset(loaded)
    for record in loaded["name"].names:
        if record.nameID in FAMILY_NAMES:
            loaded["name"].setName(
                PART, record.nameID, record.platformID, record.platEncID, record.langID
            )
    loaded.save(to)
