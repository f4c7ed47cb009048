"""Options of drafts and checks of wordings."""

from __future__ import annotations

from workbench.options.option import Option, Type
from workbench.options.shared import DRAWN, SEED, THINKING

CALLS = Option("calls", "to each statement", Type.WHOLE, none="as published, 5 or 1", least=1)
PER_CALL = Option("per_call", "wordings a call is asked for", Type.WHOLE, none="20", least=1)
KEEP = Option("keep", "sample of a statement's drafts; 0: all", Type.WHOLE, none="50", least=0)
DRAFTED = tuple(one.but(none="the prompt's") for one in DRAWN)
DRAFTING = (
    CALLS,
    PER_CALL,
    KEEP,
    SEED.of("the drafts"),
    *DRAFTED,
    THINKING.but(none="the prompt's"),
)


def _cosine(name: str, label: str, help_: str) -> Option:
    return Option(
        name, help_, Type.NUMBER, none="as it is", least=-1, most=1, label=label, metavar="COSINE"
    )


COSINES = (
    _cosine(
        "low",
        "too different below",
        "a variant whose cosine with its original is below this may have lost the meaning",
    ),
    _cosine(
        "low_negation", "negation", "the same for negations, which keep the words of their original"
    ),
    _cosine("high", "nearly identical from", "a paraphrase from this cosine on hardly varies"),
    _cosine(
        "twin", "duplicates from", "two statements of one country from this cosine on say the same"
    ),
)
"names are the same as in `meaning.Thresholds`"

ERRORS = Option("draws", "of each kind of error", Type.WHOLE, 1, least=1, most=99)
