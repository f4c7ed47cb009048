"""Imports sqlite-utils without pandas. If pandas is installed, sqlite-utils imports it for its time stamp types, which
no store contains; that takes a third of the start time of a worker or a command.
"""

from __future__ import annotations

import sys

_UNLOADED = "pandas" not in sys.modules
if _UNLOADED:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # makes `import` treat it as not installed
try:
    from sqlite_utils import Database, Migrations
finally:
    if _UNLOADED:
        del sys.modules["pandas"]

__all__ = ["Database", "Migrations"]
