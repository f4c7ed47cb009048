"""People's own stances on wordings: the human upper bound, asked in shuffled order."""

from __future__ import annotations

from stores.base import Aggregate


class Surveys(Aggregate):
    """The verbs of surveys."""
