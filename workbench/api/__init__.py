"""The Python interface: `import workbench`, then `workbench.open("x.db")`.

It takes the same options as the command line, and returns rows and figures as values.
"""

from workbench.api.plans import Plan
from workbench.api.results import Result, Table
from workbench.api.rows import Rows
from workbench.api.running import Run, run
from workbench.api.store import Store, open  # noqa: A004  as in `workbench.open`

__all__ = ["Plan", "Result", "Rows", "Run", "Store", "Table", "open", "run"]
