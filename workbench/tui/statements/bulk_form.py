"""A form for one change of many statements, with a preview word by word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Input, Label, Select, Static

from workbench.domain.names import plural
from workbench.domain.statements import Statement
from workbench.errors import UsageError
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.kit.edit_form import PreviewedForm, row
from workbench.tui.statements.statement_format import difference, marked, variant_name

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.pipeline.editing import Done

SHOWN = 40
"maximum number of changed wordings that the preview shows; all of them are counted"

ACTS = {
    "add a tag": "tag",
    "remove a tag": "untag",
    "set the topic": "topic",
    "set the country": "country",
    "set the source": "source",
    "set the dimension": "dimension",
    "set the leaning": "leaning",
    "find and replace in wordings": "replace",
    "strip stray spaces": "strip",
    "archive": "archive",
}
SEEN_FIRST = ("replace", "strip", "archive")
"acts that need a finished preview before they are saved"
HINTS = {
    "tag": "the tag",
    "untag": "the tag",
    "dimension": "economic, cultural, or empty",
    "leaning": "left, right, or empty",
    "replace": "find (case-sensitive)",
}

EXPLAIN = section("screens-statements", "Several statements at once")


@dataclass(frozen=True, slots=True)
class BulkTyped:
    """The input of the form."""

    act: str
    value: str
    new: str


@dataclass(frozen=True, slots=True)
class ChangePreview:
    """The result of a change."""

    seen: Mapping[str, Statement]
    after: Mapping[str, Statement]
    "the statements that would change, after the change"


class BulkForm(PreviewedForm):
    """A form that changes the marked statements alike."""

    SAVE = "Change"
    EXPLAIN = EXPLAIN
    FIRST = "#act"

    _preview: ChangePreview | None

    def __init__(self, instrument: str, refs: tuple[str, ...]) -> None:
        super().__init__(instrument, refs)
        self.HEADING = (
            f"Change {plural(len(refs), 'statement')}" if len(refs) > 1 else f"Change {refs[0]}"
        )

    def compose_fields(self) -> ComposeResult:
        act_options = list(ACTS.items())
        yield row(
            "change", Select(act_options, id="act", value="tag", allow_blank=False, compact=True)
        )
        yield row("to", Input(id="value", compact=True, placeholder=HINTS["tag"]))
        yield row(
            "replace by", Input(id="new", compact=True, placeholder="empty: delete the words")
        )
        yield Static(id="preview", classes="shown", markup=False)

    def on_mount(self) -> None:
        super().on_mount()
        self._show_fields("tag")

    def values(self) -> BulkTyped:
        return BulkTyped(self.chosen("act"), self.typed("value"), self.typed("new"))

    @property
    def dirty(self) -> bool:
        return bool(self.typed("value") or self.typed("new"))

    def input_fault(self) -> str:
        return _typed_fault(self.values())

    @on(Select.Changed, "#act")
    def change_fields(self, event: Select.Changed) -> None:
        self._show_fields(str(event.value))

    def say_fault(self, fault: str) -> None:
        """Show what is still to be typed, without marking it as an error."""
        self.say(fault)

    def work_out(self, store: Store, typed: BulkTyped) -> ChangePreview:
        return previewed(
            {ref: store.statements.get(self._instrument, ref) for ref in self._refs}, typed
        )

    def show_outcome(self, typed: BulkTyped, preview: ChangePreview) -> None:
        self.draw(list(preview_lines(preview, typed)))
        total, changing = len(preview.seen), len(preview.after)
        if changing:
            meanwhile = (
                "Somebody changed some of these statements; the preview shows their current state. "
                if self._refused
                else ""
            )
            self.say(
                f"{meanwhile}{changing:,} of {plural(total, 'statement')} would change: F5.",
                wrong=self._refused,
            )
        else:
            self.say("Nothing would change.")

    def entered(self) -> None:
        """Show the preview, because Enter changes nothing here."""
        if not self.input_fault():
            self.preview_now()

    def action_save(self) -> None:
        """Make the change of the preview.

        Without a finished preview, compute it first. The acts in `SEEN_FIRST` then have to be
        confirmed again.
        """
        if self.input_fault():
            super().action_save()
        elif self._preview is None:
            self._wanted = self.values().act not in SEEN_FIRST
            self.preview_now()
        elif self._preview.after:
            super().action_save()

    def write(self, store: Store, person: str, values: Any) -> Done:
        from workbench.pipeline.editing import change_all, outcome

        typed: BulkTyped = values
        if self._preview is None:
            raise UsageError("the preview is not ready yet")
        seen_statements = {ref: self._preview.seen[ref] for ref in self._preview.after}
        if typed.act == "archive":
            changed = store.statements.archive(self._instrument, seen_statements, person=person)
            return outcome(store, self._instrument, changed)
        change, act_text = change_of(typed)
        return change_all(
            store, self._instrument, seen_statements, change, person=person, act=act_text
        )

    def _show_fields(self, act: str) -> None:
        """Show the fields that an act needs."""
        box = self.query_one("#value", Input)
        box.placeholder = HINTS.get(act, "empty: remove it")
        names = [label for label in self.query(Label) if label.has_class("name")]
        names[1].update("find" if act == "replace" else "to")
        box.parent.display = act not in ("strip", "archive")  # type: ignore[union-attr]
        self.query_one("#new", Input).parent.display = act == "replace"  # type: ignore[union-attr]


def change_of(typed: BulkTyped) -> tuple[Callable[[Statement], Statement], str]:
    """Return the change of one statement, and its name in the history."""
    from workbench.workshop.edits import replaced, stripped, with_field, with_tag, without_tag

    value = typed.value.strip()
    if typed.act == "tag":
        return partial(with_tag, tag=value), f"tagged {value}"
    if typed.act == "untag":
        return partial(without_tag, tag=value), f"untagged {value}"
    if typed.act == "replace":
        return partial(
            replaced, old=typed.value, new=typed.new
        ), f"replaced “{typed.value}” by “{typed.new}”"
    if typed.act == "strip":
        return stripped, "stripped spaces"
    return partial(
        with_field, field=typed.act, text=value
    ), f"set {typed.act} to {value or 'nothing'}"


def previewed(seen: Mapping[str, Statement], typed: BulkTyped) -> ChangePreview:
    """Return the preview of a change. Raises WorkbenchError for the first error."""
    if typed.act == "archive":
        return ChangePreview(seen, seen)
    change, _ = change_of(typed)
    return ChangePreview(
        seen,
        {
            ref: changed_statement
            for ref, statement in seen.items()
            if (changed_statement := change(statement)) != statement
        },
    )


def preview_lines(preview: ChangePreview, typed: BulkTyped) -> Iterator[Content]:
    """Yield the lines of a preview, at most `SHOWN` of them."""
    n_left = SHOWN
    for ref, updated in preview.after.items():
        if n_left <= 0:
            yield Content.styled("…", "dim")
            return
        lines = list(_changes(preview.seen[ref], updated, typed))[:n_left]
        n_left -= len(lines)
        yield from lines


def _changes(before: Statement, after: Statement, typed: BulkTyped) -> Iterator[Content]:
    ref = Content.styled(f"{visible(before.ref)}  ", "bold")
    if typed.act == "archive":
        text = before.wordings[0].text[:200] if before.wordings else ""
        yield Content.assemble(ref, ("archived: ", "$text-muted"), visible(text))
    elif typed.act in ("tag", "untag"):
        yield Content.assemble(ref, f"tags {visible(', '.join(after.tags) or 'none')}")
    elif typed.act not in ("replace", "strip"):
        old_value, new_value = (
            visible(str(getattr(version, typed.act) or "nothing")) for version in (before, after)
        )
        yield Content.assemble(ref, f"{typed.act} {old_value} → {new_value}")
    for old, new in zip(before.wordings, after.wordings, strict=True):
        if old.text != new.text:
            name = (f"{variant_name(old.variant)} {visible(old.language)}  ", "$text-muted")
            yield from _text_lines(
                Content.assemble(ref, name), old.text, new.text, blanks=typed.act == "strip"
            )


def _text_lines(head: Content, old: str, new: str, *, blanks: bool) -> Iterator[Content]:
    """Yield a text before and after a change. If only blanks change, they are drawn."""
    if blanks:
        marked_text = re.sub(r"^\s+|\s+$|(?<=\s)\s+", lambda match: "␣" * len(match[0]), old)
        yield Content.assemble(head, visible(marked_text, lines=True))
        return
    removed, added = difference(old, new)
    yield Content.assemble(head, marked(removed, "−"))
    yield Content.assemble("    ", marked(added, "+"))


def _typed_fault(typed: BulkTyped) -> str:
    if typed.act in ("tag", "untag") and not typed.value.strip():
        return "Type the tag."
    if typed.act == "replace" and not typed.value:
        return "Type the words to find."
    return ""
