"""Writes every figure of a store into a folder, to be compared before and after the code moves.

    python -m tests.dump STORE FOLDER [AUDIT …]

JSON and CSV of every result of every audit, the findings of the report, Home's lines, and each
table of each audit's screen at 140x40. `diff -r` of two folders shows what changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from stores.core.store import Store
from tests.tui.conftest import screen_text, until
from workbench import registry
from workbench.audits.audit import Audit, Given
from workbench.audits.claims import sentences_of
from workbench.audits.reported import ReportRequest
from workbench.cli.main import main
from workbench.tui.app import WorkbenchApp
from workbench.tui.results.book_screen import BookScreen

SIZE = (140, 40)


def results(path: Path, audits: Sequence[Audit]) -> Iterator[tuple[Audit, Given]]:
    """Yield the audits with the options of each result."""
    with Store.open(path) as store:
        for audit in audits:
            if audit.answered(store):
                yield from ((audit, one) for one in audit.results(store, audit.usual()))


def figures(path: Path, folder: Path, audits: Sequence[Audit]) -> None:
    """Write what the command line prints of every result."""
    for number, (audit, given) in enumerate(results(path, audits)):
        verb, *rest = audit.command.replace("STORE", "").split()
        named = {"model": given.model, "instrument": given.instrument}
        more = [word for name, value in named.items() if value for word in (f"--{name}", value)]
        for form, words in (
            ("txt", ()),
            ("json", ("--json",)),
            ("csv", ("--csv", str(folder / f"{audit.name}-{number}"))),
        ):
            out = io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
                main([verb, str(path), *rest, *more, *words])
            (folder / f"{audit.name}-{number}.{form}.txt").write_text(
                out.getvalue(), encoding="utf-8"
            )


def told(path: Path, folder: Path, audits: Sequence[Audit]) -> None:
    """Write the findings of a report, and Home's lines."""
    found: dict[str, object] = {}
    with Store.open(path) as store:
        shared: dict[object, object] = {}
        for audit in audits:
            if audit.answered(store):
                parts = list(audit.reported(store, ReportRequest()))
                found[audit.name] = {
                    "home": [str(replaced) for replaced in audit.home(store, shared)],
                    "parts": [
                        {
                            "title": part.title,
                            "findings": list(map(str, sentences_of(part.findings).sentences)),
                            "shown": list(part.shown),
                            "parameters": list(map(str, part.parameters)),
                            "items": {name: list(map(str, of)) for name, of in part.items.items()},
                            "command": part.command,
                            "limits": list(part.limits),
                        }
                        for part in parts
                    ],
                }
    (folder / "told.json").write_text(
        json.dumps(found, indent=1, ensure_ascii=False), encoding="utf-8"
    )


async def screens(path: Path, folder: Path, audits: Sequence[Audit]) -> None:
    """Write what each table of each audit's screen looks like."""
    for audit in audits:
        if audit.place is None:
            continue
        app = WorkbenchApp(path, start=audit.place.mode)
        async with app.run_test(size=SIZE) as pilot:
            await until(
                pilot,
                lambda app=app: isinstance(app.screen, BookScreen) and app.screen._book is not None,
            )
            assert isinstance(app.screen, BookScreen)
            assert app.screen._book is not None
            for entry in app.screen._book.contents:
                await until(pilot, lambda app=app: app.screen._shown.look == app.screen._look)
                (folder / f"{audit.name}-{entry.name}.screen").write_text(
                    screen_text(app), encoding="utf-8"
                )
                await pilot.press("tab")


if __name__ == "__main__":
    store, target = map(Path, sys.argv[1:3])
    wanted = tuple(map(registry.audit, sys.argv[3:])) or registry.every_audit()
    target.mkdir(parents=True, exist_ok=True)
    figures(store, target, wanted)
    told(store, target, wanted)
    asyncio.run(screens(store, target, wanted))
