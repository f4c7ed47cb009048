"""sqlite-utils, imported without pandas: wherever pandas is installed, sqlite-utils imports it to know the types of its
time stamps, which no store holds, and that is a third of the time in which a worker or a command comes up.
"""

from __future__ import annotations

import sys

_UNLOADED = "pandas" not in sys.modules
if _UNLOADED:
    sys.modules["pandas"] = None  # type: ignore[assignment]  # to `import`, a module that is not installed
try:
    from sqlite_utils import Database, Migrations
finally:
    if _UNLOADED:
        del sys.modules["pandas"]

__all__ = ["Database", "Migrations"]
