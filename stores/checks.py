"""Embeddings and entailments of texts, and findings that people waived."""

from __future__ import annotations

from stores.base import Aggregate


class Checks(Aggregate):
    """The verbs of checks."""
