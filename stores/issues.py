"""Policy-issue labels, as each annotator gave them, and the gold labels made of them."""

from __future__ import annotations

from stores.base import Aggregate


class Issues(Aggregate):
    """The verbs of issues."""
