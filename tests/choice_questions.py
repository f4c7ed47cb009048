"""A small instrument of multiple-choice questions, without their other forms."""

from __future__ import annotations

from pathlib import Path

from stores.core.store import Store
from tests.conftest import new_store
from workbench.domain.choices import Bias, Choice, ChoicePair
from workbench.domain.instruments import Instrument, with_pairs

NAME = "asked"
SCALE = ("Very good", "Rather good", "Neither good nor bad", "Rather bad", "Very bad")
FOUR = ("Completely", "Largely", "Hardly", "Not at all")
QUESTIONS = {
    "fares": (
        Bias.OPINION_FLOAT,
        "How do you like free buses and trams for everybody in town?",
        SCALE,
    ),
    "weather": (
        Bias.RESPONSE_ORDER,
        "How far do you trust the weather forecast for the coming week?",
        FOUR,
    ),
    "sights": (
        Bias.RESPONSE_ORDER,
        "What should the town show to visitors?",
        ("The harbour", "The castle", "Both"),
    ),
    "views": (
        Bias.ACQUIESCENCE,
        "Which statement comes closer to your view?",
        ("The state should build more flats.", "The state should leave that to others."),
    ),
    "dogs": (Bias.ALLOW_FORBID, "Should dogs be allowed in shops?", ("Yes", "No")),
}


def asked(*keys: str) -> Instrument:
    """Return the instrument, or these of its questions."""
    pairs = [
        ChoicePair(
            key,
            bias,
            Choice(stem, options),
            None,
            topic="town",
            shares=(0.2,) * 5 if key == "fares" else (),
        )
        for key, (bias, stem, options) in QUESTIONS.items()
        if not keys or key in keys
    ]
    return with_pairs(Instrument(NAME, "Asked in town", ()), pairs)


def asked_store(path: Path, *keys: str) -> Store:
    """Return a store with the instrument, open at `path`."""
    store = new_store(path)
    store.instruments.add(asked(*keys))
    return store
