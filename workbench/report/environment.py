"""The templates of the page. All text that they print passes `figures.visible` and is escaped."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from workbench.errors import MissingPackage
from workbench.figures.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

MISSING = "a report needs the package jinja2; install it with: pip install 'llm-audit-workbench[report]'"


@cache
def environment() -> Environment:
    """Return the templates. Raises MissingPackage without jinja2."""
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
        from markupsafe import Markup, escape
    except ImportError as error:
        raise MissingPackage(MISSING) from error

    def painted(value: Any) -> Any:
        return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value

    def lines(value: str) -> Markup:
        return escape(visible(value, lines=True))

    made = Environment(
        loader=FunctionLoader(read),
        autoescape=True,
        finalize=painted,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
        lstrip_blocks=True,
    )
    made.filters["lines"] = lines
    return made


def read(name: str) -> str:
    """Return a file of this folder."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def policy(style: str, script: str) -> str:
    """Return a Content-Security-Policy that allows only this style and script, and loads nothing."""
    return (
        f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'; "
        "form-action 'none'"
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
