"""Every answer of every model to one version of a statement, whatever version is current."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.content import Content

from workbench.domain.names import in_words
from workbench.help.sections import section
from workbench.tui.format import literal, visible
from workbench.tui.results.answers import PAGE, AnswersScreen, Page, WholeAnswerScreen, gathered
from workbench.tui.rulings.ruling import ruled_by
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.widgets.fluid_table import FluidTable
from workbench.tui.widgets.record_table import Column, Record

if TYPE_CHECKING:
    from stores.runs.answers import VersionAnswer

EXPLAIN = section("screens-statements", "Answers to a version")


class VersionAnswerTable(FluidTable):
    """Answers to one version."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "select_cursor", "Whole answer", key_display="Enter"),
    ]


class VersionAnswersScreen(AnswersScreen["VersionAnswer"]):
    """The answers that point at one version."""

    EXPLAIN = EXPLAIN
    SEARCHED = True

    def __init__(self, instrument: str, ref: str, version: int) -> None:
        super().__init__()
        self._instrument, self._ref, self._version = instrument, ref, version

    def on_mount(self) -> None:
        self.title_bar.place = self.place

    @property
    def place(self) -> str:
        """Where the answers are, for the title."""
        return f"statements › {self._ref} › version {self._version} › answers"

    def make_table(self) -> FluidTable:
        return VersionAnswerTable(_columns, name="answers")

    def fetch(self, kind: str, offset: int) -> Page[VersionAnswer]:
        from stores.core.store import Store
        from stores.runs.answers import answers_to

        with Store.open(self.store_path) as store:

            def read(at: int) -> tuple[VersionAnswer, ...]:
                where = (self._instrument, self._ref, self._version)
                return answers_to(store.connection, *where, offset=at, limit=PAGE)

            return gathered(kind, offset, read, lambda _: True, self.words)

    def head(self) -> Content:
        about = (f"{self._page.counted}", "$text-muted")
        return Content.assemble((visible(self._ref), "bold"), f" · version {self._version} · ", about)

    def nothing(self, kind: str) -> str:  # noqa: ARG002
        return "No model has answered this version."

    def record(self, number: int, row: VersionAnswer, width: int) -> Record:  # noqa: ARG002
        cells = (
            Text(f"{row.count:>4}×"),
            literal(row.variant, 16),
            literal(f"{row.template}{' swapped' if row.inverted else ''}", 22),
            literal(row.model, 20),
            literal(row.text, 400),
        )
        return str(number), cells

    def pieces(self, row: VersionAnswer) -> tuple[Content, Content, str]:
        asked = Content.assemble((f"{row.variant} · {row.language}: ", "bold"), (visible(row.wording), "$text-muted"))
        ruled = ruled_by(self.standing.on_answer(row.probe, row.text))
        return Content("\n").join([*ruled, asked]), Content(visible(row.text, lines=True)), _provenance(row)

    def ruled_place(self) -> RuledPlace | None:
        row = self.current
        if row is None:
            return None
        return RuledPlace(probe=row.probe, text=None if row.truncated else row.text)

    def whole(self, row: VersionAnswer) -> WholeAnswerScreen:
        title = f"{self._ref} · version {self._version} · {row.model}"
        return WholeAnswerScreen(title, row.text, self.pieces(row)[0], _provenance(row))


class FoundAnswersScreen(VersionAnswersScreen):
    """The answers of the whole store that contain some words."""

    EXPLAIN = section("screens-results", "Answers with certain words")
    PLACE = "answers"

    def __init__(self, words: str) -> None:
        super().__init__("", "", 0)
        self.words = words

    @property
    def place(self) -> str:
        return "answers with certain words"

    def make_table(self) -> FluidTable:
        return VersionAnswerTable(_found_columns, name="answers")

    def fetch(self, kind: str, offset: int) -> Page[VersionAnswer]:
        from stores.core.store import Store
        from stores.runs.answers import answers_with

        with Store.open(self.store_path) as store:

            def read(at: int) -> tuple[VersionAnswer, ...]:
                return answers_with(store.connection, self.words, offset=at, limit=PAGE)

            return gathered(kind, offset, read, lambda _: True, self.words)

    def head(self) -> Content:
        said = (self._page.counted, "$text-muted")
        return Content.assemble("All answers that contain ", (visible(self.words), "bold underline"), " · ", said)

    def record(self, number: int, row: VersionAnswer, width: int) -> Record:
        key, (count, *cells) = super().record(number, row, width)
        return key, (count, literal(row.ref, 14), *cells)

    def whole(self, row: VersionAnswer) -> WholeAnswerScreen:
        title = f"{row.instrument} · {row.ref} · {row.model}"
        return WholeAnswerScreen(title, row.text, self.pieces(row)[0], _provenance(row))


def _found_columns(width: int) -> tuple[Column, ...]:
    count, *others = _columns(width)
    return count, Column("ref", "statement", 14), *others


def _columns(width: int) -> tuple[Column, ...]:
    return (
        Column("count", "  n", 6),
        Column("variant", "wording", 17),
        Column("template", "template", 23 if width >= 100 else 12),
        Column("model", "model", 21, least=100),
        Column("text", "answer", None),
    )


def _provenance(row: VersionAnswer) -> str:
    return visible(
        f"{row.model} · {row.version} · {in_words(row.audit)} · {row.template} · T\u00a0{row.temperature:g} · "
        f"seed {row.seed} · {row.at[:16].replace('T', ' ')} · {row.code_version} · job {row.job}"
    )
