"""One person who sits at two terminals is told where both are about the same item, and nothing is
stored unseen.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from stores.annotation.annotator import Annotator
from stores.core.store import Store
from tests.cli.test_hostile_texts import hostile as hostile  # the store, made once
from tests.tui.annotation_stores import QUEUE, answers, labelling_store
from tests.tui.seats import at_screen
from tests.tui.test_issue_grid import path as grid_path  # noqa: F401  a fixture
from workbench.errors import ConflictError
from workbench.sessions.labels import QueueSession
from workbench.tui.annotation.annotate import AnnotateScreen


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """A store with a queue of three answers."""
    path = tmp_path / "a.db"
    with Store.open(path, create=True):
        pass
    labelling_store(path, answers(3))
    return path


def test_a_label_of_another_session_is_not_replaced_unseen(queue: Path) -> None:
    with (
        closing(QueueSession(queue, QUEUE, "ana")) as first,
        closing(QueueSession(queue, QUEUE, "ana")) as second,
    ):
        item = first.next().item
        other = second.next().item
        assert item is not None
        assert other is not None
        assert (item.unit, item.elsewhere) == (other.unit, False)
        assert other.elsewhere, "the second is told at once"
        first.label(item.unit, "agree", 1000, None)
        with pytest.raises(ConflictError, match="another session of ana labelled this item: agree"):
            second.label(other.unit, "disagree", 1000, None)
        assert second.store.item(other.unit).label == "agree"
        second.label(other.unit, "disagree", 1000, None)
        assert second.store.item(other.unit).label == "disagree", "pressed again it is meant"


async def test_the_screen_says_that_another_session_has_the_item(queue: Path) -> None:
    with Annotator.open(queue, QUEUE, "ana") as elsewhere:
        elsewhere.next()
        async with at_screen(queue, AnnotateScreen(QUEUE, "ana"), "ana", size=(140, 40)) as seat:
            await seat.until(lambda: seat.screen.ready)
            assert "another session of ana has this item" in seat.words
