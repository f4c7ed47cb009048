"""Measure how the rule reads the labelled texts of every language: `python -m
tests.core.measure_lexicons` writes the numbers into the lexicons and the table into the help page.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterable
from pathlib import Path

from workbench import data
from workbench.readers.label_words import PARTS, LabelledText, quality
from workbench.readers.lexicon import Lexicon, Quality

FOLDER = Path(__file__).parent / "lexicons"
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.csv")))
PAGE = Path(data.__file__).parent / "help" / "languages.md"
BEGIN, END = "<!-- table -->\n", "<!-- end -->\n"
HEADS = (
    "language",
    "texts",
    "stance precision",
    "stance recall",
    "refusal precision",
    "refusal recall",
    "native speaker's review",
)
MARK = "\n[quality]\n"


def texts(language: str) -> list[LabelledText]:
    """Return the labelled texts of a language."""
    with (FOLDER / f"{language}.csv").open(encoding="utf-8", newline="") as file:
        return [LabelledText(**row) for row in csv.DictReader(file)]


def measured(words: Lexicon, of: Iterable[LabelledText]) -> dict[str, Quality]:
    """Return how the texts that a lexicon was tuned on are read, and those held back."""
    held = list(of)
    return {part: quality(words, [one for one in held if one.part == part]) for part in PARTS}


def table() -> str:
    """Return the table of the help page."""
    rows = [HEADS, tuple("---" for _ in HEADS)]
    for language in LANGUAGES:
        words = data.lexicon(language)
        for part, of in words.quality:
            shares = (
                of.stance_precision,
                of.stance_recall,
                of.refusal_precision,
                of.refusal_recall,
            )
            said = "" if words.reviewed else "none yet"
            rows.append(
                (f"{language}, {part}", str(of.texts), *(f"{share:.1%}" for share in shares), said)
            )
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    """Write what was measured."""
    for language in LANGUAGES:
        path = data.data_folder() / "lexicons" / f"{language}.toml"
        kept = path.read_text(encoding="utf-8").partition(MARK)[0].rstrip("\n") + "\n"
        found = measured(Lexicon.parse(tomllib.loads(kept)), texts(language))
        lines = [
            f'"{part}" = [{one.texts}, {one.stance_precision}, {one.stance_recall}, '
            f"{one.refusal_precision}, "
            f"{one.refusal_recall}]\n"
            for part, one in found.items()
        ]
        path.write_text(kept + MARK + "".join(lines), encoding="utf-8")
    data.lexicon.cache_clear()
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    after = "\n" + (rest.partition(END)[2] if END in rest else rest).lstrip("\n")
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
