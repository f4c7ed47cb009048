"""What a job of multiple-choice questions asks, in a few words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from workbench.domain.choices import Bias


def said(spec: Mapping[str, Any]) -> list[str]:
    """Return the family of templates, and the biases where they are not all."""
    refs = spec.get("statements")
    named = {str(ref).partition(".")[0].partition("-")[0] for ref in refs} if isinstance(refs, list) else set()
    biases = [bias.value.replace("_", " ") for bias in Bias if bias.value in named]
    return [words for words in (str(spec.get("family", "")), ", ".join(biases)) if words]
