"""Options of changed questions."""

from __future__ import annotations

from workbench.options.option import Option, Type

ERRORS = Option("draws", "of each kind of error", Type.WHOLE, 1, least=1, most=99)
