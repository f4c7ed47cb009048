"""The codebook on screen: read, changed, its versions word by word; and who is labelling meanwhile
is told.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from textual.widgets import Input, TextArea

from stores.core.store import Store
from tests.tui.annotation_stores import answers, labelling_store, labels_of
from tests.tui.seats import at_screen
from workbench.data import shipped_codebook
from workbench.tui.annotation.annotate import AnnotateScreen
from workbench.tui.annotation.annotate_format import CHANGED
from workbench.tui.annotation.codebook import CodebookForm, CodebookScreen

pytestmark = pytest.mark.usefixtures("no_pause")
STANCE = shipped_codebook("stance")


async def test_the_guideline_is_changed_and_compared_word_by_word(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(2))
    async with at_screen(path, CodebookScreen(), size=(100, 50)) as seat:
        seat.app.annotator = "lena"  # type: ignore[attr-defined]
        await seat.until(lambda: "Read the statement" in seat.text)
        await seat.pilot.press("e")
        await seat.until(lambda: isinstance(seat.app.screen, CodebookForm))
        form = seat.app.screen
        assert not form.dirty  # type: ignore[attr-defined]
        form.query_one("#key-0", Input).value = "s"
        await seat.pilot.press("f5")
        await seat.until(lambda: "a key that annotating itself needs" in seat.text)
        form.query_one("#key-0", Input).value = "a"
        box = form.query_one("#guideline", TextArea)
        box.text = box.text.replace("A hedged or partial", "A hedged, halting or partial")
        await seat.pilot.press("f5")
        await seat.until(
            lambda: isinstance(seat.app.screen, CodebookScreen) and "2 versions" in seat.text
        )
        await seat.pilot.press("down")
        await seat.until(lambda: "Version 1 (−) and version 2 (+)" in seat.text)
        assert "+[" in seat.text
        assert "halting" in seat.text
        assert "Unrelated: there is no answer" not in seat.text, "a paragraph that is the same"
        await seat.pilot.press("r")
        await seat.until(lambda: "Version 1 counts again." in seat.text)
    with Store.open(path) as store:
        assert store.queues.get("first").codebook == STANCE


async def test_who_is_labelling_is_told_and_the_new_keys_count(tmp_path: Path) -> None:
    path = labelling_store(tmp_path / "a.db", answers(4))
    first = STANCE.options[0]
    other = replace(
        STANCE, options=(replace(first, key="t"), *STANCE.options[1:]), guideline="Decide quickly."
    )
    async with at_screen(path, AnnotateScreen("first", "ana")) as seat:
        await seat.until(lambda: seat.screen.ready)
        with Store.open(path) as store:
            store.codebooks.change(STANCE, other, "lena")
        await seat.press("a")
        await seat.until(lambda: CHANGED in seat.text and seat.screen.ready)
        await seat.press("a")
        await seat.press("t")
        await seat.until(lambda: len(labels_of(path)) == 2)
        await seat.pilot.press("g")
        await seat.until(lambda: "Decide quickly." in seat.text)
    with Store.open(path) as store:
        assert [version.labels for version in store.codebooks.versions(other)] == [1, 1]
