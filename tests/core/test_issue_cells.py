"""Where the cursor goes in the grid of statements and policy issues, without store and terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from stores.annotation.issue_annotator import IssueRow, IssueSheet
from stores.instruments.issues import Original
from workbench.domain.instruments import IssueDefinition
from workbench.sessions.issues import IssueGrid

NAMES = ("law", "society", "welfare")


def row(index: int, labelled: set[int]) -> IssueRow:
    statement = Original(index, index, f"a-{index}", f"Statement {index}.", None, None)
    return IssueRow(statement, {NAMES[issue]: 0 for issue in labelled})


def grid(*labelled: set[int], only_unfinished: bool = False) -> IssueGrid:
    """Return a grid of statements, each with labels for these issues."""
    rows = tuple(row(index, issues) for index, issues in enumerate(labelled))
    filled = IssueGrid()
    filled.only_unfinished = only_unfinished
    filled.take(IssueSheet(tuple(IssueDefinition(name) for name in NAMES), rows, None))
    filled.list_rows()
    return filled


ALL = {0, 1, 2}
LABELLED = st.lists(st.sets(st.integers(0, 2)), min_size=1, max_size=5)


@given(LABELLED, st.data())
def test_the_first_open_cell_is_the_next_one_around_the_end(
    labelled: list[set[int]], data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(labelled) - 1))
    after = data.draw(st.integers(-1, 2))
    n_cells = 3 * len(labelled)
    in_order = [(3 * start + after + 1 + step) % n_cells for step in range(n_cells)]
    open_cells = [divmod(cell, 3) for cell in in_order if cell % 3 not in labelled[cell // 3]]
    assert grid(*labelled).first_open_cell(start, after) == next(iter(open_cells), None)


def test_after_a_label_comes_the_next_issue_then_what_is_open_then_the_next_statement() -> None:
    filled = grid({2}, ALL, {0})
    assert filled.cell_after(0, 0, whole_row=False) == (0, 1)
    assert filled.cell_after(0, 2, whole_row=False) == (0, 0)
    assert filled.cell_after(0, 0, whole_row=True) == (1, 0)
    assert filled.cell_after(1, 2, whole_row=False) == (2, 1)
    assert filled.cell_after(2, 0, whole_row=True) is None


def test_a_statement_that_is_finished_stays_listed_until_the_rows_are_listed_again() -> None:
    filled = grid({0}, ALL, only_unfinished=True)
    assert filled.listed == ("a-0",)
    filled.put(row(0, ALL), 12.0)
    assert filled.listed == ("a-0",)
    assert filled.first_open_cell() is None
    filled.list_rows()
    assert filled.listed == ()
    assert (filled.n_finished, len(filled), filled.per_hour) == (2, 2, 12.0)


def test_without_statements_nothing_is_open() -> None:
    assert grid().first_open_cell() is None
