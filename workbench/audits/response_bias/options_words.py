"""The same answers judged by other rules: who compares definitions waits for no reading of the store."""

from __future__ import annotations

from dataclasses import replace

from workbench.audits.response_bias.figures import Options
from workbench.audits.response_bias.judged import ResponseBiasJudged, reports_of


def rejudged(judged: ResponseBiasJudged, options: Options) -> ResponseBiasJudged:
    """Return the reports by other options. Validity and likeness to people rest on none of them."""
    return replace(
        judged,
        choice=replace(judged.choice, options=options),
        reports=reports_of(judged.subjects, judged.pairs, options),
    )
