"""The form of any command that starts a job, made of the command's options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.containers import Horizontal
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Checkbox, Label, Select, SelectionList, Static

from workbench.commands.registry import job_command
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.options.option import Option, Type
from workbench.tui.kit.base import say_below, worker
from workbench.tui.kit.start_form import JobPreview, StartForm, row, select, titled
from workbench.tui.widgets.fields import Field, Tick, TickList

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.commands.command import JobCommand, OptionChoices

NO_JOB = 0
"the number that stands for work that was done at once, without a job"
LONGEST_LABEL = 22
MOST_LISTED = 6
"names of a list that are in sight"
BELOW_FIELDS = 10
"lines of the form for its border, the preview and the buttons"


class CommandForm(StartForm):
    """The options of a command, and below them what it would do.

    Dismisses the number of the job, or None if there is none.
    """

    def __init__(self, kind: str, *, like: int | None = None, **texts: str) -> None:
        """`kind` of the job; `texts` are in the fields at first, by the names of the options."""
        super().__init__(like=like)
        self.command = job_command(kind)
        self.HEADING = f"New job: {self.command.HEADING}"
        self.EXPLAIN = section(*self.command.HELP)
        self.FIRST = f"#{self.command.FIRST or self.command.form_lines()[0][0]}"
        self._texts: dict[str, Any] = dict(texts)
        "what the fields hold in place of their defaults"
        self._defaults: dict[str, Any] = {}
        "values of the fields that nobody has changed"
        self._in_store: dict[str, tuple[str, ...]] = {}
        "the names in the store that a list offers"
        self._ready = False
        "whether the store is read"
        self._leading: dict[str, str] = {}
        "the texts of leading options that the choices belong to"
        self._sentence = ""
        "the outcome of work that was done at once"

    def compose_fields(self) -> ComposeResult:
        options, declared = self.command.options(), self.command.declared()
        for names in self.command.form_lines():
            fields = [self._field(name, options[name]) for name in names]
            has_list = any(declared[name].ticked for name in names)
            if len(fields) == 1 and not has_list:
                yield fields[0]
            else:
                yield Horizontal(*fields, classes="pair lists" if has_list else "pair")
        yield Static(id="note", classes="note", markup=False)

    def _field(self, name: str, option: Option) -> Widget:
        declared = self.command.declared()[name]
        if declared.ticked:
            return titled(option.title, TickList(id=name, compact=True))
        if option.type is Type.FLAG:
            return Tick(option.title, id=name, compact=True)
        if declared.selected or option.choices:
            return row(option.title, select(name))
        hint = option.none or option.help
        return row(option.title, Field(option.text(), id=name, compact=True, placeholder=hint))

    def on_mount(self) -> None:
        titles = [option.title for option in self.command.options().values()]
        width = min(max(map(len, titles)) + 1, LONGEST_LABEL)
        for label in self.query(".row > Label").results(Label):
            label.styles.width = width
        self._defaults = {name: self._value(name) for name in self.command.declared()}

    def read_choices(self, store: Store) -> Mapping[str, OptionChoices]:
        return self.command.choices(store, self._texts)

    @worker("open")
    async def read(self) -> None:
        """Offer what the store has; fields begin with the options of the job that this is like."""
        if self._like is not None:
            self._texts = await self.with_store(self._texts_of_job)
        self.fill(await self.with_store(self.read_choices))

    def _texts_of_job(self, store: Store) -> dict[str, Any]:
        job = store.jobs.get(self._like or 0)
        return self.command.from_specification(store, job.spec).texts()

    def fill(self, choices: Mapping[str, OptionChoices]) -> None:
        """Show the choices in the fields. An unchanged field gets its default."""
        self._texts |= self._changed()
        for name, option in self.command.options().items():
            offered = choices.get(name)
            self._fill_field(name, option, offered)
        notes = [offered.note for offered in choices.values() if offered.note]
        self.query_one("#note", Static).update(Content(visible(" · ".join(notes))))
        self._leading = self._leading_texts()
        self._fit_height()
        self._texts = {}
        self._ready = True
        self.ask()

    def _fit_height(self) -> None:
        """Give lists as many lines as they have names, and the form as many as it needs."""
        for line in self.query(".lists"):
            longest = max(len(self.listed(str(each.id))) for each in line.query(TickList))
            line.styles.height = 1 + min(max(longest, 1), MOST_LISTED)
        lines = self.query_one("#fields").children
        heights = [line.styles.height.value if line.styles.height else 1 for line in lines]
        self.query_one(".form").styles.max_height = int(sum(heights)) + BELOW_FIELDS

    def _fill_field(self, name: str, option: Option, offered: OptionChoices | None) -> None:
        default = option.text()
        if offered is not None and offered.default is not None:
            default = offered.default
        field = self.query_one(f"#{name}")
        text = self._texts.get(name, default)
        self._defaults[name] = default
        if isinstance(field, SelectionList):
            self._defaults[name] = self._fill_list(name, default, offered)
        elif isinstance(field, Select):
            values = _selectable(option, offered)
            known = {value for _, value in values}
            self.offer(name, values, text if text in known else default)
        elif isinstance(field, Checkbox):
            self._defaults[name] = False
            with field.prevent(Checkbox.Changed):
                field.value = bool(self._texts.get(name, False))
        else:
            self.put(name, text)

    def _fill_list(self, name: str, default: str, offered: OptionChoices | None) -> tuple[str, ...]:
        """Offer names to be ticked, and return those that are ticked by default.

        What a job was told is offered even if the store no longer has it: the preview says so.
        """
        names = [value for _, value in offered.values] if offered else []
        self._in_store[name] = tuple(names)
        by_default = tuple(value for value in names if value in default.split(","))
        ticked = tuple(self._texts.get(name, by_default))
        if not self._ready:
            names += [value for value in ticked if value not in names]
        if not set(ticked) & set(names):
            ticked = by_default
        self.tick(name, names, ticked)
        return by_default

    def refill(self, command: JobCommand) -> None:
        """Fields begin with the options of a job in `read`."""

    def values(self) -> dict[str, Any] | None:
        """Return the texts, ticks and flags of the fields, or None until the store is read."""
        if not self._ready:
            return None
        values: dict[str, Any] = {}
        for name, declared in self.command.declared().items():
            value = self._value(name)
            if declared.ticked:
                has_all = value == self._in_store[name]
                value = None if has_all and (declared.all_by_default or not value) else value
            values[name] = value
        return values

    def _value(self, name: str) -> Any:
        field = self.query_one(f"#{name}")
        if isinstance(field, SelectionList):
            return self.ticked(name)
        if isinstance(field, Checkbox):
            return field.value
        return self.chosen(name) if isinstance(field, Select) else self.typed(name)

    def _leading_texts(self) -> dict[str, str]:
        declared = self.command.declared()
        return {name: str(self._value(name)) for name in declared if declared[name].leading}

    def plan_now(self) -> None:
        """Show what the command would do; after a change of a leading option, offer anew first."""
        if self._ready and self._leading_texts() != self._leading:
            self.no_longer()
            self.offer_again()
        else:
            super().plan_now()

    @worker("open", beside=True)
    async def offer_again(self) -> None:
        texts = self._leading_texts()
        self.fill(await self.with_store(lambda store: self.command.choices(store, texts)))

    def _changed(self) -> dict[str, Any]:
        """Return the values of the fields that somebody has changed."""
        values = {name: self._value(name) for name in self.command.declared()}
        return {name: value for name, value in values.items() if value != self._defaults[name]}

    def work_out(self, store: Store, values: Mapping[str, Any]) -> JobPreview:
        command = self.command.from_form(values)
        preview = command.preview(store)
        if preview.n_units:
            return JobPreview(preview.text, lambda opened: command.start(opened, preview))
        immediate = preview.immediate
        if immediate is None or not preview.immediate_label:
            return JobPreview(f"{preview.text}\nThere is nothing to start.", None)

        def do_at_once(opened: Store) -> int:
            self._sentence = immediate(opened).sentence
            return NO_JOB

        return JobPreview(f"{preview.text}\nF5 {preview.immediate_label}.", do_at_once)

    def dismiss(self, result: int | None = None) -> AwaitComplete:
        """Leave. The outcome of work without a job is shown on the screen below."""
        if result == NO_JOB and self._sentence:
            say_below(self, self._sentence)
        return super().dismiss(result or None)


def _selectable(option: Option, offered: OptionChoices | None) -> Sequence[tuple[str, str]]:
    if offered is not None and offered.values:
        return offered.values
    return [(value, value) for value in option.choices]
