"""The list of statements: what is read for a page of it, and its rows as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import BindingType
from textual.content import Content
from textual.message import Message

from workbench.domain.choices import Choice, parse_choice
from workbench.domain.names import plural
from workbench.help.sections import section
from workbench.tui.format import issue_sign, literal, visible
from workbench.tui.kit.short_refs import LEAST, short_refs, width_of
from workbench.tui.widgets.folding import in_all_rows, same_in_all
from workbench.tui.widgets.record_table import Column, Record, RecordTable, moving

if TYPE_CHECKING:
    from stores.core.store import Store
    from stores.instruments.instruments import Filters, StatementLine

PAGE = 200
CELL_CHARACTERS = 400
"of a text that a list shows: wider than any terminal, and 100 kB of model text costs nothing"
MARK = "●"
NARROWEST_TEXT = 28
"columns that a statement keeps where others need the room"
FOLDED = ("languages", "variants", "country", "tags", "role", "issues")
"columns that a line above says, where they are the same in all rows and the text needs their room"
LEFT_OUT = ("languages", "variants", "tags", "country", "issues", "role", "ruled")
"columns that go where the text has too little room, the first of them first"
NOWHERE = 100_000
"columns from which a list shows what it has nothing of"

COLUMNS = (
    Column("mark", "", 1),
    Column("ref", "id", LEAST),
    Column("text", "statement", None),
    Column("ruled", "ruled", 5, least=NOWHERE),
    Column("role", "role", 7, least=NOWHERE),
    Column("country", "country", 7, least=100),
    Column("tags", "tags", 16, least=120),
    Column("issues", "issues", 24, least=100),
    Column("variants", "texts", 5),
    Column("languages", "lang.", 5),
)

EXPLAIN = section("screens-statements", "The list of statements")


class StatementTable(RecordTable, inherit_bindings=False):
    """The list. Here g and G are the screen's: the policy issues."""

    BINDINGS: ClassVar[list[BindingType]] = moving("home", "end")

    class Folded(Message):
        """Other columns than before say the same in all rows, and are left out."""

    _spared: frozenset[str] = frozenset()
    "columns that are left out for the text"
    folded = ""
    "what these say in all rows"

    def show_page(self, page: Page, marks: Collection[str], at: int | None, ruled: Mapping[str, int]) -> None:
        """Show statements, in a column of refs that is as wide as they need; `marks`: refs of the marked ones; `ruled`:
        ref -> rulings that stand on the statement and what is below it.
        """
        names = short_refs([line.ref for line in page.lines])
        rows = tuple(
            record(
                line,
                names[line.ref],
                page.roles.get(line.ref, ""),
                marked=line.ref in marks,
                ruled=ruled.get(line.ref, 0),
            )
            for line in page.lines
        )
        before = self.current
        self._make_room(width_of(names), {"role": bool(page.roles), "ruled": bool(ruled)}, rows)
        if at is None and before in self.keys:
            at = self.keys.index(before)
        self.show(rows, at=at)

    def _lay_out(self, width: int) -> None:
        self._spare(width, self._records)
        super()._lay_out(width)

    def _has(self, column: Column) -> bool:
        return super()._has(column) and column.key not in self._spared

    def _spare(self, width: int, records: Sequence[Record]) -> None:
        """Find out which columns are left out for the text in a width: empty ones, those that are the same in all rows,
        and where that is too little, others.
        """
        columns = {column.key: column for column in self._all_columns if width >= column.least}
        said = {
            key: [cells[place].plain.strip() for _, cells in records]
            for place, key in enumerate(column.key for column in self._all_columns)
        }
        columns = {key: of for key, of in columns.items() if key not in FOLDED or any(said[key]) or not records}

        def room() -> int:
            others = sum((of.width or 0) + 2 * self.cell_padding for key, of in columns.items() if key != "text")
            return width - 1 - 2 * self.cell_padding - others

        longest, folded = max((len(text) for text in said["text"]), default=0), []
        for key in FOLDED:
            if key in columns and room() < longest and same_in_all(said[key]):
                folded.append((columns.pop(key).label, said[key][0]))
        for key in LEFT_OUT:
            if key in columns and room() < min(longest, NARROWEST_TEXT):
                del columns[key]
        self._spared = frozenset(column.key for column in self._all_columns if column.key not in columns)
        if (line := in_all_rows(folded)) != self.folded:
            self.folded = line
            self.post_message(self.Folded())

    def _make_room(self, width: int, there: Mapping[str, bool], records: Sequence[Record]) -> None:
        by_key = {column.key: column for column in self._all_columns}
        by_key["ref"] = replace(by_key["ref"], width=width)
        by_key |= {key: replace(by_key[key], least=0 if shown else NOWHERE) for key, shown in there.items()}
        columns, spared = tuple(by_key.values()), self._spared
        anew, self._all_columns = columns != self._all_columns, columns
        if self._laid_out >= 0:
            self._spare(self._laid_out, records)
            if anew or spared != self._spared:
                self._records = tuple(records)
                self._lay_out(self._laid_out)


@dataclass(frozen=True, slots=True)
class Query:
    """What the list shows."""

    instrument: str = ""
    search: str = ""
    issue: str = ""
    country: str = ""
    language: str = ""
    tag: str = ""
    offset: int = 0

    @property
    def filtered(self) -> bool:
        """Whether it leaves statements out."""
        return bool(self.search or self.issue or self.country or self.tag)

    @property
    def filters(self) -> Filters:
        from stores.instruments.instruments import Filters

        return Filters(search=self.search, issue=self.issue, country=self.country, tag=self.tag, language=self.language)


@dataclass(frozen=True, slots=True)
class Page:
    """What the store has for a query, and what one may filter by."""

    query: Query
    lines: tuple[StatementLine, ...] = ()
    total: int = 0
    instruments: tuple[str, ...] = ()
    issues: tuple[str, ...] = ()
    countries: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    "the instrument's own first"
    tags: tuple[str, ...] = ()
    drafts: int = 0
    "that wait for a person"
    questions: int = 0
    "statements that are multiple-choice questions, in the whole instrument"
    roles: Mapping[str, str] = field(default_factory=dict)
    "ref -> context or target; empty where the instrument is no questionnaire"
    archived: int = 0
    gone: frozenset[str] = frozenset()
    "of the marked ones: archived meanwhile, renamed, or retired by an import"

    def choices(self, name: str) -> tuple[str, ...]:
        """Return what a filter may be set to."""
        return {
            "issue": self.issues,
            "country": self.countries,
            "language": self.languages,
            "instrument": self.instruments,
            "tag": self.tags,
        }[name]


def read_page(path: Path, query: Query, marked: Collection[str] = ()) -> Page:
    """Read a page of the list, what it may be filtered by, and which of the marked ones are no longer there."""
    from stores.core.store import Store

    with Store.open(path) as store:
        summaries = {summary.name: summary for summary in store.instruments.summaries()}
        if not summaries:
            return Page(query)
        name = query.instrument if query.instrument in summaries else next(iter(summaries))
        query = replace(query, instrument=name)
        main = summaries[name].language
        others = tuple(other for other in summaries[name].languages if other and other != main)
        return Page(
            query=query,
            lines=store.instruments.lines(name, query.filters, offset=query.offset, limit=PAGE),
            total=store.instruments.count(name, query.filters),
            instruments=tuple(summaries),
            issues=store.instruments.issues(name),
            countries=store.instruments.countries(name),
            languages=(main, *others),
            tags=store.instruments.tags(name),
            drafts=store.drafts.counts(name).get("pending", 0),
            questions=len(store.choices.items(name)),
            roles={question.ref: question.role.value for question in store.questionnaires.questions(name)},
            archived=len(store.statements.archived(name)),
            gone=_gone(store, name, marked) if marked else frozenset(),
        )


def _gone(store: Store, name: str, marked: Collection[str]) -> frozenset[str]:
    return frozenset(marked).difference(line.ref for line in store.instruments.lines(name))


def read_refs(path: Path, query: Query) -> tuple[str, ...]:
    """Return the refs of all statements that a query lists, those of other pages included."""
    from stores.core.store import Store

    with Store.open(path) as store:
        return tuple(line.ref for line in store.instruments.lines(query.instrument, query.filters))


def record(line: StatementLine, name: str, role: str = "", *, marked: bool, ruled: int = 0) -> Record:
    """Return a row of the list; `name`: its ref as the list shows it."""
    issues = "  ".join(issue_sign(issue, label) for issue, label in line.issues)
    return (
        line.ref,
        (
            Text(MARK if marked else " ", style="bold"),
            literal(name),
            literal(_question(line.text), CELL_CHARACTERS),
            ruled_cell(ruled),
            Text(role),
            literal(line.country or "", 4),
            literal(", ".join(line.tags), 16),
            literal(issues, 60),
            Text(str(line.variants), justify="right"),
            Text(str(line.languages), justify="right"),
        ),
    )


def ruled_cell(rulings: int) -> Text:
    """Return how many rulings stand, for a list."""
    return Text(f"{rulings:,}" if rulings else "", justify="right")


def _question(text: str) -> str:
    """Return a multiple-choice question without its options, any other text as it is."""
    choice = parse_choice(text)
    return choice.stem if isinstance(choice, Choice) else text


def position(page: Page) -> str:
    """Return which lines of how many are shown."""
    if not page.lines:
        return "none"
    first = page.query.offset + 1
    return f"{first:,}–{first + len(page.lines) - 1:,} of {page.total:,}"


def filter_line(page: Page, marks: int, folded: str = "") -> Content:
    """Return what the list is limited to, what is marked, what waits, and what is `folded`: the same in all rows."""
    query = page.query
    language = query.language or (page.languages[0] if page.languages else "")
    parts = [Content.styled(visible(query.instrument), "bold"), Content(visible(language))]
    if query.country:
        parts.append(Content.assemble("country ", (visible(query.country), "bold")))
    if query.issue:
        parts.append(Content.assemble("issue ", (visible(query.issue).replace("_", " "), "bold")))
    if query.tag:
        parts.append(Content.assemble("tag ", (visible(query.tag), "bold")))
    if query.search:
        parts.append(Content.assemble("find ", (visible(query.search), "bold underline")))
    if marks:
        parts.append(Content.styled(f"{MARK} {marks:,} marked", "bold $text-accent"))
    if page.drafts:
        parts.append(Content.assemble(("R ", "bold"), f"{plural(page.drafts, 'draft')} to review"))
    if folded:
        parts.append(Content(visible(folded)))
    return Content(" · ").join(parts)


def empty_text(page: Page) -> str:
    """Return what to do where the list is empty."""
    if not page.instruments:
        return (
            "The store has no instrument yet.\n\n"
            "I starts a new one here. h goes home: i there imports the shipped one.\n"
            "Files are imported on the command line: workbench import STORE --help"
        )
    if page.query.filtered:
        return "No statement matches.\n\n0 clears search and filters."
    archived = f"\n\nA lists {plural(page.archived, 'archived statement')}." if page.archived else ""
    return f"This instrument has no statements yet.\n\nn writes the first one or turns a question into one.{archived}"
