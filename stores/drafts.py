"""Wordings that a model or a rule proposed, and what people decided about them."""

from __future__ import annotations

from stores.base import Aggregate


class Drafts(Aggregate):
    """The verbs of drafts."""
