"""Statements as people write them: created, changed, undone, archived, with every version kept."""

from __future__ import annotations

from stores.base import Aggregate


class Statements(Aggregate):
    """The verbs of the editor."""
