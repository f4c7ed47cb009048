"""The first screen of a report as a picture: its own markup and style inside an SVG, without a
browser.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

SIZE = (880, 850)
CHOICE = ("--audit", "bias_score", "--title", "Which way do two scripted models lean?")
FIXED = """
.page { width: 100%; height: 100%; background: var(--paper); color: var(--ink); font: 1rem/1.6 var(--sans);
  color-scheme: light; overflow: hidden; }
.page header { padding-top: 2.5rem; } .page h1 { font-size: 2.1rem; }
"""
"what depends on the size of a window or on its theme in a report is fixed here"


def report_of(store: Path) -> str:
    """Write a report of what is chosen here and return its page."""
    folder = store.with_name("report")
    command = [sys.executable, "-m", "workbench", "report", str(store), str(folder), *CHOICE]
    subprocess.run(command, check=True, capture_output=True)
    return (folder / "report.html").read_text(encoding="utf-8")


def first_screen(page: str) -> str:
    """Return the heading and the first audit with its findings and its picture as SVG that loads
    nothing.
    """
    style = _without_media(_between(page, "<style>", "</style>"))
    heading, audit = (
        _element(page, "<header>", "header"),
        _element(page, '<section class="audit"', "section"),
    )
    width, height = SIZE
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}">'
        f'<style>{style}{FIXED}</style><foreignObject width="{width}" height="{height}">'
        f'<div xmlns="http://www.w3.org/1999/xhtml" class="page">{heading}<div '
        f'class="frame"><main>{audit}'
        f"</main></div></div></foreignObject></svg>\n"
    )


def _between(text: str, begin: str, end: str) -> str:
    start = text.index(begin) + len(begin)
    return text[start : text.index(end, start)]


def _element(text: str, begin: str, name: str) -> str:
    return f"{begin}{_between(text, begin, f'</{name}>')}</{name}>"


def _without_media(style: str) -> str:
    return re.sub(r"@(?:media|page)[^{]*\{(?:[^{}]|\{[^{}]*\})*\}", "", style)
