"""Which arguments of `verdicts` belong to which audit: one command judges several, and each has options of its own."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence

from workbench.domain.seeds import SEED
from workbench.errors import UsageError

RELIABILITY, QUESTIONNAIRE, RESPONSE_BIAS = "reliability", "questionnaire", "response_bias"
AUDITS = (RELIABILITY, QUESTIONNAIRE, RESPONSE_BIAS)

_OPTIONS: Sequence[tuple[tuple[str, ...], tuple[str, ...]]] = (
    (
        ("rule", "reader", "low", "high", "minimum", "tests", "judge_void", "named", "beside", "with_unreadable"),
        (RELIABILITY,),
    ),
    (("sampling", "template", "failed", "baseline"), (RELIABILITY,)),
    (("dtype", "seed"), (RELIABILITY, QUESTIONNAIRE)),
    (("masses", "variability", "error", "show", "against", "target"), (QUESTIONNAIRE,)),
    (("draws", "condition"), (QUESTIONNAIRE, RESPONSE_BIAS)),
    (("definition", "alpha", "holm", "entropy", "bias", "cells", "topics", "questions"), (RESPONSE_BIAS,)),
    (("question", "draw", "validity", "people", "compare"), (RESPONSE_BIAS,)),
)
OF: Mapping[str, tuple[str, ...]] = {name: audits for names, audits in _OPTIONS for name in names}
"option -> audits that have a use for it; those that are not here every audit has"
DEFAULTS: Mapping[str, object] = {"rule": "printed", "low": 0.45, "high": 0.55, "seed": SEED}
"of options that are None where they were not given, so that one given for nothing is noticed"


def check_options(options: argparse.Namespace) -> None:
    """Raise UsageError for an option that the audit has no use for; then give those that were left out their defaults.

    Call after all options were added, with `set_defaults` of those in `DEFAULTS` to None.
    """
    for audits in dict.fromkeys(OF.values()):
        names = [name for name, of in OF.items() if of == audits and options.audit not in of]
        given = [f"--{name.replace('_', '-')}" for name in names if _given(getattr(options, name))]
        if given:
            them = "it" if len(given) == 1 else "them"
            audit = f"audit{'s' * (len(audits) > 1)} {' and '.join(audits)}"
            raise UsageError(
                f"{', '.join(given)} {'is' if len(given) == 1 else 'are'} for verdicts of the {audit}; leave {them} "
                f"out, or choose --audit {' or '.join(audits)}"
            )
    for name, value in DEFAULTS.items():
        if options.audit in OF[name] and getattr(options, name) is None:
            setattr(options, name, value)


def _given(value: object) -> bool:
    return value is not None and value is not False
