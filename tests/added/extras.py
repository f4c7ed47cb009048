"""A reader, a format and a lexicon, as another package would bring them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from workbench.domain.instruments import Instrument
from workbench.domain.readings import ReaderCard, ReaderKind, Reading, Stance
from workbench.domain.statements import ORIGINAL, Statement, Wording

LEXICON = Path(__file__).with_name("xx.toml")


@dataclass(frozen=True, slots=True)
class Contrary:
    """Reads every answer that names a label as the other one."""

    positive: str
    negative: str

    @property
    def card(self) -> ReaderCard:
        return ReaderCard(ReaderKind.RULE, "contrary", "1")

    def read(self, text: str) -> Reading:
        words = text.casefold().split()
        if self.negative in words:
            return Reading(Stance.AGREE.value)
        return (
            Reading(Stance.DISAGREE.value) if self.positive in words else Reading(None, "no label")
        )


def contrary(positive: str, negative: str, language: str) -> Contrary:
    """Return the reader of answers to a template with these labels."""
    return Contrary(positive, negative)


def lines(path: Path, name: str | None) -> Instrument:
    """Read a text file with a statement on each line."""
    texts = path.read_text(encoding="utf-8").splitlines()
    made = tuple(
        Statement(f"s-{n}", (Wording(ORIGINAL, "en", text),)) for n, text in enumerate(texts, 1)
    )
    return Instrument(name or path.stem, path.stem, made)
