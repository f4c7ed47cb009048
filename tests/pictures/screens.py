"""Screens of a store of scripted personas, drawn at a fixed size from fixed seeds."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from tests.pictures.report_page import first_screen, report_of
from workbench.tui.app import WorkbenchApp

FOLDER = Path(__file__).parents[2] / "workbench" / "help" / "screens"
SIZE = (110, 27)
STORE, MODEL = "veldania.db", "scripted:order-minded"
DATED = re.compile(r"\d{4}-\d\d-\d\d.*")
SECONDS = 2.5
"that a frame of the animation stands"


@dataclass(frozen=True, slots=True)
class Screen:
    """A picture: where the terminal opens, and the keys that lead to what is shown."""

    start: str
    keys: Sequence[str] = ()


SCREENS: Mapping[str, Screen] = {
    "statements": Screen("audit", ["left"]),
    "answers": Screen("audit", ["left", "enter", "enter"]),
    "comparison": Screen("audit", ["B", "space", "down", "space", "down", "space", "enter", "tab"]),
    "response-biases": Screen("response_bias"),
    "review": Screen("audit", ["left", "V"]),
}
SESSION = [
    Screen("audit", ["left", *["down"] * 2]),
    Screen("audit", ["left", *["down"] * 2, "enter"]),
    Screen("audit", ["left", *["down"] * 2, "enter", "enter"]),
]
"from a verdict to the words it was made of"


def make_store(folder: Path) -> Path:
    """Make the store of the demonstration, with the answers of the scripted personas alone."""
    path = folder / STORE
    command = [
        sys.executable,
        "-m",
        "workbench",
        "demo",
        str(path),
        "--personas",
        "--model",
        MODEL,
        "--no-screen",
    ]
    subprocess.run(command, check=True, capture_output=True)
    return path


async def drawn(store: Path, screen: Screen) -> str:
    """Return a screen as SVG that loads nothing."""
    app = WorkbenchApp(store, start=screen.start)
    async with app.run_test(size=SIZE) as pilot:
        await _quiet(pilot)
        for key in screen.keys:
            await pilot.press(key)
            await _quiet(pilot)
        svg = app.export_screenshot(title="workbench")
    return re.sub(r"@font-face \{.*?\}\s*|<!--.*?-->\s*", "", svg, flags=re.DOTALL)


async def every(store: Path) -> dict[str, str]:
    """Return all pictures by the names of their files."""
    made = {f"{name}.svg": await drawn(store, screen) for name, screen in SCREENS.items()}
    made["session.svg"] = animated([await drawn(store, screen) for screen in SESSION])
    made["report.svg"] = first_screen(report_of(store))
    return made


def animated(frames: Sequence[str]) -> str:
    """Return frames as one SVG that shows one after the other, and the first alone where nothing
    moves.
    """
    box = re.search(r'viewBox="([^"]+)"', frames[0])
    assert box is not None
    total, share = SECONDS * len(frames), 100 / len(frames)
    style = (
        f"@keyframes turn {{ 0%, {share:.2f}% {{ visibility: visible }} {share + 0.01:.2f}%, 100% "
        "{ visibility: hidden } } "
        f".frame {{ visibility: hidden; animation: turn {total:g}s step-end infinite }} "
        "@media (prefers-reduced-motion: reduce) { .frame { animation: none } .first { "
        "visibility: visible } }"
    )
    groups = "".join(
        f'<g class="frame{" first" * (at == 0)}" style="animation-delay: '
        f'{at * SECONDS:g}s">{frame}</g>'
        for at, frame in enumerate(frames)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="{box[1]}"><style>{style}</style>{groups}</svg>\n'
    )


def said(svg: str) -> list[str]:
    """Return the words of a picture without dates and versions: another font or colour makes no
    picture stale.
    """
    parts = re.sub(r"<style>.*?</style>|<[^>]+>", "\n", svg, flags=re.DOTALL).splitlines()
    words = [html.unescape(text).replace("\xa0", " ") for text in parts if text]
    return [DATED.sub("…", text) for text in words if "torch" not in text]


async def _quiet(pilot: Pilot[Any]) -> None:
    """Wait until nothing is worked out any more."""
    app = pilot.app
    for _ in range(3):
        await pilot.pause(0.2)
        while any(not worker.is_finished for worker in app.workers):
            await pilot.pause(0.05)
