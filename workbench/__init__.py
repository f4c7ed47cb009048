"""Workbench: annotate and audit the political and survey-response biases of language models.

`workbench.open("x.db")` opens a store from Python; `workbench help python` shows the rest. These
names are loaded when somebody uses them: to import the package costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from workbench.version import __version__

if TYPE_CHECKING:
    from workbench.api import Plan, Result, Rows, Run, Store, Table, open, run  # noqa: A004  types: nothing is imported

DISTRIBUTION = "llm-audit-workbench"
"by which `start` knows that this package is ours"
__all__ = ["Plan", "Result", "Rows", "Run", "Store", "Table", "__version__", "open", "run"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("workbench.api"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
