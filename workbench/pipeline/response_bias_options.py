"""The same answers judged by other rules: who compares definitions waits for no reading of the store."""

from __future__ import annotations

from dataclasses import replace

from workbench.audits.response_bias_figures import Options
from workbench.audits.response_bias_score import judge
from workbench.pipeline.response_bias import ResponseBiasJudged


def rejudged(judged: ResponseBiasJudged, options: Options) -> ResponseBiasJudged:
    """Return the reports by other options. Validity, likeness to people and notes rest on none of them."""
    topics = {(bias, key): pair.topic for (bias, _, key), pair in judged.pairs.items() if pair.topic}
    return replace(
        judged,
        choice=replace(judged.choice, options=options),
        reports={name: judge(subject.tables, options, topics) for name, subject in judged.subjects.items()},
    )
