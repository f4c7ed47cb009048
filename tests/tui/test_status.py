"""What a key did is said on the title line; toasts are for what comes from elsewhere."""

from __future__ import annotations

import re
from pathlib import Path

import workbench.tui
from tests.tui.conftest import screen_text, status, until
from workbench.tui.app import WorkbenchApp
from workbench.tui.home.home import HomeScreen
from workbench.tui.kit.base import say
from workbench.tui.widgets.frame import TitleBar

FROM_ELSEWHERE = {
    "app.py": 4,  # the keymap, two keys of one name, the store's file
    "jobs/jobs.py": 1,  # a job that lost its worker
    "statements/checks.py": 1,  # a job that ended
}
"module -> how many toasts it shows"


def test_no_key_is_answered_by_a_toast() -> None:
    root = Path(str(workbench.tui.__file__)).parent
    found = {
        str(file.relative_to(root)): n
        for file in root.rglob("*.py")
        if (n := len(re.findall(r"\.notify\b", file.read_text(encoding="utf-8"))))
    }
    assert found == FROM_ELSEWHERE | {"app.py": found["app.py"]}
    assert found["app.py"] <= 5


async def test_what_was_done_stands_on_the_title_line_and_moves_nothing(path: Path) -> None:
    app = WorkbenchApp(path)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(
            pilot, lambda: isinstance(app.screen, HomeScreen) and "Instrument" in screen_text(app)
        )
        before = screen_text(app).splitlines()
        say(app.screen, "Accepted as paraphrase-1 of [bold]s-01\x1b[31m.")
        await pilot.pause()
        after = screen_text(app).splitlines()
        assert "✓ Accepted as paraphrase-1 of [bold]s-01␛[31m." in after[0]
        assert "home" in after[0]
        assert after[1:] == before[1:]
        say(app.screen, "Changed the text: s-01. " * 5, warns=True)
        await pilot.pause()
        assert screen_text(app).split().count("s-01.") == 5, "a long one is not cut"
        assert status(app).startswith("Changed")
        app.screen.query_one(TitleBar).unsay()
        await pilot.pause()
        assert screen_text(app).splitlines() == before
