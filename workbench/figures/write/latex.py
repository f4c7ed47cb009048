"""LaTeX: one file per table, for `booktabs`. Text from data is never read as a command."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping

from workbench.figures.shown import painted
from workbench.figures.table import AnyTable
from workbench.figures.visible import visible

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "✓": r"$\checkmark$",
    "✗": r"$\times$",
    "•": r"$\bullet$",
    "∅": r"$\emptyset$",
    "κ": r"$\kappa$",
    "α": r"$\alpha$",
    "·": r"$\cdot$",
    "–": "--",
    "−": "$-$",
    "τ": r"$\tau$",
    "ρ": r"$\rho$",
    "χ": r"$\chi$",
    "σ": r"$\sigma$",
    "β": r"$\beta$",
    "μ": r"$\mu$",
    "π": r"$\pi$",
    "λ": r"$\lambda$",
    "Δ": r"$\Delta$",
    "Σ": r"$\Sigma$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    "○": r"$\circ$",
    "●": r"$\bullet$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "≈": r"$\approx$",
    "≠": r"$\neq$",
    "→": r"$\rightarrow$",
    "←": r"$\leftarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "∞": r"$\infty$",
    "√": r"$\surd$",
    "∣": r"$\mid$",
}
_ASCII = str.maketrans(
    {character: command for character, command in _SPECIAL.items() if character.isascii()}
)
_SIGNS = ("So", "Sk", "Sm", "Co", "Cn")
"categories of characters that LaTeX's text fonts may lack"


def latex_files(tables: Iterable[AnyTable]) -> Mapping[str, str]:
    """Return file name -> contents. Each file is a `table` environment to \\input."""
    return {f"{table.stem}.tex": latex_table(table) for table in tables}


def latex_table(table: AnyTable) -> str:
    """Return one table in its narrow form.

    A comment names the columns left out. Without rows it has its caption and the message of an
    empty table.
    """
    optional_titles = ", ".join(visible(column.title) for column in table.columns if column.aside)
    comment = (
        f"% columns left out, which CSV and JSON have: {optional_titles}\n"
        if optional_titles
        else ""
    )
    table = table.narrow
    alignment = "".join("r" if column.numeric else "l" for column in table.columns)
    head = " & ".join(escaped(column.title) for column in table.columns)
    cells, notes = painted(table)
    rows = "".join(" & ".join(map(escaped, row)) + " \\\\\n" for row in cells)
    sentences = (
        [*([table.definition] if table.definition else []), *notes] if table.rows else [table.empty]
    )
    caption = escaped(" ".join([f"{table.title.rstrip('.')}.", *sentences]))
    grid = (
        f"\\begin{{tabular}}{{{alignment}}}\n\\toprule\n{head} "
        f"\\\\\n\\midrule\n{rows}\\bottomrule\n\\end{{tabular}}\n"
    )
    return (
        f"{comment}% needs \\usepackage{{booktabs,amssymb}}\n\\begin{{table}}\n\\centering\n"
        + (grid if table.rows else "")
        + f"\\caption{{{caption}}}\n\\label{{tab:{table.stem}}}\n\\end{{table}}\n"
    )


def escaped(text: str) -> str:
    """Return text that LaTeX prints unchanged.

    Examples
    --------
    >>> escaped(r"50 % of \\input{x}")
    '50 \\\\% of \\\\textbackslash{}input\\\\{x\\\\}'
    """
    printable = visible(text).replace("\n", " ")
    if printable.isascii():
        return printable.translate(_ASCII)
    return "".join(_SPECIAL.get(character) or _named(character) for character in printable)


def _named(sign: str) -> str:
    """Return a character, or its number if LaTeX may lack it.

    It may lack an emoji or a control picture.
    """
    if ord(sign) < 0x100 or unicodedata.category(sign) not in _SIGNS:
        return sign
    return f"[U+{ord(sign):04X}]"
