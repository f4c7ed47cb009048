"""The screens of one multiple-choice question in a cell of response biases.

One screen shows both forms side by side with the answers to each. The other shows the prompt of one
form as the model was asked it, with the texts of its answers.
"""

from __future__ import annotations

import math
from asyncio import to_thread
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Container, VerticalScroll
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from workbench.audits.response_bias import AUDIT
from workbench.audits.response_bias.answers import BIASES, CONDITIONS, Place, place_of, place_said
from workbench.domain.names import plural
from workbench.figures.book import Subject
from workbench.figures.shown import number
from workbench.figures.table import Kind
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import beside, following
from workbench.tui.kit.base import worker
from workbench.tui.results.answers import copied
from workbench.tui.results.details import table_help
from workbench.tui.results.following import AmongRows
from workbench.tui.results.loaded import Loaded, Opened
from workbench.tui.results.sheet import Sheet
from workbench.tui.results.sheet_view import SheetView
from workbench.tui.rulings.ruling import ruled_lines
from workbench.tui.rulings.standing import RuledPlace
from workbench.tui.statements.statement_format import MOST_SHOWN, difference, marked
from workbench.tui.widgets.long_text import LongText, folded

if TYPE_CHECKING:
    from workbench.audits.response_bias.judged import ResponseBiasJudged
    from workbench.audits.response_bias.questions import (
        ArmView,
        Changes,
        FormView,
        OptionRow,
        QuestionView,
    )

DIM = "$text-muted"
SIDE_BY_SIDE = 116
"number of terminal columns from which the two forms stand side by side"
NUMBERS = 8
"number of terminal columns of a share, a count or a probability"
UNKNOWN = "(the text of this form is unknown: only answers to it were imported)"


def about(
    changes: Changes, shown: QuestionView, position: tuple[int, int], *, several: bool
) -> Content:
    """Return the question, its model, the change of its answers, and its position in the list.

    `position`: number of the question in the list, or 0 if it is not there, and the list's length.
    `several`: whether several models were asked the question.
    """
    from workbench.audits.response_bias.question_tables import change_said

    row = shown.row
    number_listed, n_listed = position
    change_text = visible(change_said(changes, shown))
    first_line = Content.assemble(
        (visible(row.key), "bold"),
        f" · {visible(row.topic)}" if row.topic else "",
        "  ",
        (visible(shown.subject), "bold $text-accent"),
        (" ← →" if several else "", DIM),
        (f"  question {number_listed} of {n_listed} listed" if number_listed else "", DIM),
    )
    second_line = Content.assemble(
        (visible(place_said(shown.bias, shown.condition, shown.variant)), "bold"),
        _draw_text(shown),
        "  ",
        (change_text, "$text-warning" if row.left_out else ""),
    )
    return Content("\n").join([first_line, second_line])


def _draw_text(shown: QuestionView) -> str:
    """Return which of several draws is visible, or an empty string with a single one."""
    if len(shown.draws) < 2:
        return ""
    return f", draw {shown.draw} of {len(shown.draws)}: d shows the next"


def form_name(found: QuestionView, arm: ArmView) -> str:
    """Return the name of a form: `original`, `changed: odd/even` or `changed: key typo, draw 2`."""
    if arm is found.original:
        return "original"
    if found.condition is None:
        return f"changed: {BIASES[found.bias]}"
    draw = f", draw {found.draw}" if len(found.draws) > 1 else ""
    return f"changed: {CONDITIONS[found.condition]}{draw}"


def _lines(found: QuestionView, arm: ArmView, width: int) -> Iterator[Content]:
    yield Content.styled(f" {form_name(found, arm)} ", "bold reverse")
    yield from _wrapped(_stem(found, arm), width)
    yield Content()
    yield from _OptionLines(found, arm, width).lines()
    yield from _others(arm)
    yield Content.styled(_counted(arm), DIM)


def _stem(found: QuestionView, arm: ArmView) -> Content:
    """Return a stem, with the words that the other form lacks in brackets."""
    if arm.choice is None:
        return Content.styled(UNKNOWN, f"{DIM} italic")
    if found.original.choice is None or found.changed.choice is None:
        return _whole(arm.choice.stem)
    marked_stems = difference(found.original.choice.stem, found.changed.choice.stem)
    is_changed = arm is found.changed
    return marked(marked_stems[is_changed], "+" if is_changed else "−")


class _OptionLines:
    """The options of a form as lines: letter, bar, share, count, share of people, and text."""

    def __init__(self, question: QuestionView, arm: ArmView, width: int):
        self._question = question
        self._arm = arm
        self._width = width
        self._is_exact = any(not math.isnan(option.probability) for option in arm.options)
        self._has_human_shares = arm is question.original and len(question.shares) == len(
            arm.options
        )
        self._has_new_letters = _renamed(question)

    @property
    def _indent(self) -> int:
        """The columns before the texts of the options."""
        letters = 7 if self._has_new_letters else 3
        n_numbers = 3 if self._has_human_shares else 2
        return letters + _bar(self._width) + NUMBERS * n_numbers + 2

    def lines(self) -> Iterator[Content]:
        """Yield the headings, and then each option with its text wrapped."""
        yield Content.styled(self._headings(), DIM)
        for index, option in enumerate(self._arm.options):
            head = self._head(option, index)
            text = _option_text(self._question, self._arm, option)
            lines = list(_wrapped(text, self._width - self._indent))
            yield Content.assemble(head, lines[0] if lines else "")
            for line in lines[1:]:
                yield Content.assemble(" " * self._indent, line)

    def _headings(self) -> str:
        headings = f"{'p' if self._is_exact else 'answers':>{NUMBERS}}"
        if self._has_human_shares:
            headings += f"{'people':>{NUMBERS + 1}}"
        blanks = self._indent - 2 - len(headings) - NUMBERS
        return f"{'':{blanks}}{'share':>{NUMBERS}}{headings}"

    def _head(self, option: OptionRow, index: int) -> Content:
        """Return the part of an option's first line before its text."""
        origin, human_share = "", ""
        if self._has_new_letters:
            is_changed = self._arm is self._question.changed
            origin = _origin(option, changed=is_changed).ljust(4)
        if self._has_human_shares:
            human_share = _percent(self._question.shares[index])
        numbers = f"{_percent(option.share)}{_count(option, exact=self._is_exact)}"
        return Content.assemble(
            (f" {option.letter.upper()} ", "bold"),
            (origin, DIM),
            (share_bar(option.share, _bar(self._width)), ""),
            (numbers, ""),
            (human_share, DIM),
            "  ",
        )


def _renamed(found: QuestionView) -> bool:
    """Return whether options of the changed form are new or have another letter than originally."""
    origins = [(option.original, option.letter) for option in found.changed.options]
    return any(origin for origin, _ in origins) and any(
        original_letter != changed_letter for original_letter, changed_letter in origins
    )


def _origin(option: OptionRow, *, changed: bool) -> str:
    """Return the original letter of an option of the changed form, or `new` if it has none."""
    if not changed:
        return ""
    return f"={option.original.upper()}" if option.original else "new"


def _bar(width: int) -> int:
    return max(6, min(20, width // 5))


def _percent(value: float) -> str:
    return f"{number(value, Kind.SHARE):>{NUMBERS}}"


def _count(option: OptionRow, *, exact: bool) -> str:
    return (
        _percent(option.probability) if exact else f"{number(option.count, Kind.COUNT):>{NUMBERS}}"
    )


def share_bar(value: float, width: int) -> str:
    """Return a share as a bar. A share above 0 has at least half a column.

    Examples
    --------
    >>> share_bar(0.5, 8), share_bar(0.01, 8), share_bar(0.0, 8)
    ('████····', '▌·······', '········')
    """
    if math.isnan(value):
        return " " * width
    halves = max(round(2 * width * min(1.0, value)), 1 if value > 0 else 0)
    half_column = "▌" if halves % 2 else ""
    return ("█" * (halves // 2) + half_column).ljust(width, "·")


def _option_text(question: QuestionView, arm: ArmView, option: OptionRow) -> Content:
    """Return the text of an option, with the words that the other form lacks in brackets."""
    if not option.text:
        return Content()
    counterpart = _counterpart(question, arm, option)
    if counterpart is None or not counterpart.text or counterpart.text == option.text:
        return _whole(option.text)
    if arm is question.changed:
        return marked(difference(counterpart.text, option.text)[1], "+")
    return marked(difference(option.text, counterpart.text)[0], "−")


def _counterpart(question: QuestionView, arm: ArmView, option: OptionRow) -> OptionRow | None:
    """Return the same option of the other form, or None if that lacks it."""
    if arm is question.changed:
        return next(
            (
                other
                for other in question.original.options
                if option.original and other.letter == option.original
            ),
            None,
        )
    return next(
        (
            other
            for other in question.changed.options
            if option.letter and other.original == option.letter
        ),
        None,
    )


def _whole(text: str) -> Content:
    """Return a text that is safe to print, truncated to `MOST_SHOWN` characters."""
    ellipsis = "…" if len(text) > MOST_SHOWN else ""
    return Content(visible(text[:MOST_SHOWN], lines=True) + ellipsis)


def _others(arm: ArmView) -> Iterator[Content]:
    for letter, n_times in arm.others:
        warning = f" {visible(letter).upper()}  answered {n_times:,}×, but it was not offered"
        yield Content.styled(warning, "$text-warning")


def _counted(arm: ArmView) -> str:
    """Return the numbers of valid and excluded answers, or total probability, with the entropy."""
    entropy = f"entropy {number(arm.entropy, Kind.COEFFICIENT)}"
    probabilities = [
        option.probability for option in arm.options if not math.isnan(option.probability)
    ]
    if probabilities:
        return f"all offered letters together {number(sum(probabilities), Kind.SHARE)} · {entropy}"
    texts = []
    if math.isnan(arm.drawn):
        texts.append("no answers")
    else:
        texts.append(f"{plural(round(arm.valid), 'valid answer')} of {arm.drawn:,.0f}")
    if arm.invalid:
        texts.append(f"{arm.invalid:,} without an offered letter, drawn again")
    if arm.truncated:
        texts.append(f"{arm.truncated:,} cut off in thought, drawn again")
    return " · ".join([*texts, entropy])


def _wrapped(content: Content, width: int) -> Iterator[Content]:
    """Yield a text in lines of a width, broken at blanks where possible."""
    for start, stop in folded(content.plain, max(8, width)):
        yield content[start:stop]


QUESTION = f"{section('screens-results', 'Two forms of a question')}\n\n{AUDIT.explain}"
READING_ANSWERS = "Reading the answers …"


@dataclass(frozen=True, slots=True)
class QuestionKey:
    """The question, cell and draw that a screen shows."""

    name: str
    "model that answered, as the report names it"
    place: Place
    key: str
    draw: int


class Forms(VerticalScroll, inherit_bindings=False):
    """The scrollable view of both forms. The left and right keys belong to the screen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "scroll_up", "Up", show=False, tooltip="Go up"),
        Binding("down,j", "scroll_down", "Down", show=False, tooltip="Go down"),
        Binding("pageup", "page_up", "Page up", show=False, tooltip="Go up by a page"),
        Binding("pagedown", "page_down", "Page down", show=False, tooltip="Go down by a page"),
        Binding("home,g", "scroll_home", "Top", show=False, tooltip="Go to the beginning"),
        Binding("end,G", "scroll_end", "Bottom", show=False, tooltip="Go to the end"),
    ]


class QuestionScreen(AmongRows):
    """The screen of one question in both of its forms."""

    PLACE = "results › response bias › question"
    EXPLAIN = QUESTION
    DEFAULT_CSS = """
    QuestionScreen #about {
        height: auto;
        max-height: 4;
        padding: 0 1;
    }
    QuestionScreen #ruled {
        display: none;
        height: auto;
        max-height: 4;
        padding: 0 1;
    }
    QuestionScreen #ruled.-shown {
        display: block;
    }
    QuestionScreen #forms {
        height: 1fr;
        margin: 1 0 0 0;
        scrollbar-size-vertical: 1;
    }
    QuestionScreen #sides {
        height: auto;
        layout: vertical;
    }
    QuestionScreen #sides.-beside {
        layout: horizontal;
    }
    QuestionScreen .side {
        height: auto;
        width: 1fr;
        margin: 0 1 1 1;
    }
    QuestionScreen #sides.-beside #changed {
        margin: 0 1 0 2;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter",
            "answers",
            "Prompts",
            key_display="Enter",
            tooltip="Show the exact prompts and answers",
        ),
        Binding("p", "answers", "Prompts", show=False, tooltip="Show the exact prompts"),
        Binding(
            "right_square_bracket,n",
            "question(1)",
            "Next",
            key_display="[ ]",
            tooltip="Show the next question in the list",
        ),
        Binding(
            "left_square_bracket,N",
            "question(-1)",
            "Previous question",
            show=False,
            tooltip="Go to the previous question",
        ),
        Binding(
            "c", "condition(1)", "Bias/typos", tooltip="Show the bias, or a typo, of this question"
        ),
        Binding(
            "C",
            "condition(-1)",
            "Previous condition",
            show=False,
            tooltip="Show the previous condition",
        ),
        Binding("d", "draw(1)", "Draw", tooltip="Show the next draw of this typo"),
        Binding(
            "left", "subject(-1)", "Previous model", show=False, tooltip="Show the previous model"
        ),
        Binding("right", "subject(1)", "Next model", show=False, tooltip="Show the next model"),
        Binding("escape", "dismiss(None)", "Back", key_display="Esc", tooltip="Go back"),
    ]

    def __init__(self, loaded: Loaded, shown: QuestionView) -> None:
        super().__init__()
        self._shown = shown
        self._take(loaded)
        cell = (shown.bias, shown.condition, shown.variant)
        self._wanted = self._in_sight = QuestionKey(shown.subject, cell, shown.row.key, shown.draw)

    def _take(self, loaded: Loaded) -> None:
        self._loaded = loaded
        self._findings: Changes = loaded.source
        self._judged: ResponseBiasJudged = self._findings.judged

    def ruled_place(self) -> RuledPlace | None:
        """Return the original form as it was asked here, or the question itself if it was not."""
        probe = self._shown.original.probe
        return (
            RuledPlace(probe=probe)
            if probe
            else RuledPlace((self._judged.instrument.name,), (self._shown.row.ref,))
        )

    def ruled_places(self) -> Sequence[RuledPlace]:
        """Return the prompts of both forms of the question."""
        probes = (self._shown.original.probe, self._shown.changed.probe)
        prompt_places = [RuledPlace(probe=probe) for probe in probes if probe]
        return prompt_places or super().ruled_places()

    @property
    def bringing(self) -> bool:
        return self._in_sight != self._wanted

    def show_standing(self) -> None:
        """Show the rulings of auditors, and judge the question again if they changed."""
        self.read_rulings(self.ruled_places())
        self.judge_if_ruled(self._loaded)

    def on_screen_resume(self) -> None:
        self.read_standing()

    def show_ruled(self) -> None:
        """Do nothing, because `show_standing` follows every ruling."""

    def show_judged(self, loaded: Loaded) -> None:
        self._take(loaded)
        self.read_question(self._wanted)

    def show_rulings(self, lines: Sequence[str]) -> None:
        ruling_lines = self.query_one("#ruled", Static)
        ruling_lines.update(ruled_lines(lines))
        ruling_lines.set_class(bool(lines), "-shown")

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield Static(id="ruled", markup=False)
        with Forms(id="forms"), Container(id="sides"):
            yield Static(id="original", markup=False, classes="side")
            yield Static(id="changed", markup=False, classes="side")

    def on_mount(self) -> None:
        self.query_one(Forms).focus()
        self._paint()

    def on_resize(self, event: events.Resize) -> None:
        self.query_one("#sides").set_class(event.size.width >= SIDE_BY_SIDE, "-beside")
        self._paint()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        choices_by_action = {
            "condition": self._conditions,
            "draw": lambda: self._draws(self._wanted),
            "subject": self._names,
            "question": self._listed,
        }
        return action not in choices_by_action or len(choices_by_action[action]()) > 1

    def put(self, wanted: QuestionKey, shown: QuestionView) -> None:
        if wanted == self._wanted:
            self._shown, self._in_sight = shown, wanted
            self.title_bar.note = ""
            self.trouble.hide()
            self._paint()
            self.read_rulings(self.ruled_places())
            self.refresh_bindings()

    def action_answers(self) -> None:

        self.app.push_screen(FormScreen(self._loaded, self._shown))

    def action_question(self, step: int) -> None:
        """Go to a neighbouring question of the list, around the ends."""
        self.query_one(Forms).scroll_home(animate=False)
        self._ask(following(self._listed(), self._wanted, step))

    def action_condition(self, step: int) -> None:
        """Go to the bias, or the next typo, with which this question was asked."""
        self._ask(
            replace(self._wanted, place=following(self._conditions(), self._wanted.place, step))
        )

    def action_draw(self, step: int) -> None:
        self._ask(
            replace(
                self._wanted, draw=following(self._draws(self._wanted), self._wanted.draw, step)
            )
        )

    def action_subject(self, step: int) -> None:
        """Show the same question of the next model that was asked it."""
        self._ask(replace(self._wanted, name=beside(self._names(), self._wanted.name, step)))

    def _asked(self, of: QuestionKey) -> bool:
        """Return whether a question was asked in a cell."""
        cell = self._findings.reports[of.name].find(*of.place)
        return cell is not None and (
            of.key in cell.deltas.keys
            or any(left_out_delta.key == of.key for left_out_delta in cell.deltas.left_out)
        )

    def _draws(self, of: QuestionKey) -> tuple[int, ...]:
        """Return the draws in which the question was asked. Some draws have only some questions."""
        from workbench.audits.response_bias.questions import draws_of

        return draws_of(self._judged, of.name, of.place, of.key)

    def _conditions(self) -> list[Place]:
        bias, _, variant = self._wanted.place
        matching_places = [
            place for place in self._findings.places if (place[0], place[2]) == (bias, variant)
        ]
        return [
            place for place in matching_places if self._asked(replace(self._wanted, place=place))
        ]

    def _names(self) -> list[str]:
        return [
            name for name in self._findings.reports if self._asked(replace(self._wanted, name=name))
        ]

    def _listed(self) -> list[QuestionKey]:
        """Return the questions of the list.

        A list of one cell gets the current model and condition.
        """
        subjects = [row_link.subject for row_link in self.links]
        if len({subject[:3] for subject in subjects}) > 1:
            all_kinds = self._findings.every_kind
            questions = [
                QuestionKey(
                    subject[0],
                    place_of(subject[1], subject[2], all_kinds),
                    subject[3],
                    self._wanted.draw,
                )
                for subject in subjects
            ]
        else:
            questions = [replace(self._wanted, key=row_subject[3]) for row_subject in subjects]
        return [self._with_draw(candidate) for candidate in questions if self._asked(candidate)]

    def _with_draw(self, of: QuestionKey) -> QuestionKey:
        """Return a question with its first draw if it was not asked in the wanted draw."""
        draws = self._draws(of)
        return of if of.draw in draws else replace(of, draw=draws[0])

    def _ask(self, wanted: QuestionKey) -> None:
        wanted = self._with_draw(wanted)
        if wanted != self._wanted:
            self._wanted = wanted
            self.title_bar.note = READING_ANSWERS
            self.refresh_bindings()
            self.read_question(wanted)

    def _paint(self) -> None:
        questions, names = self._listed(), self._names()
        position = next(
            (index for index, candidate in enumerate(questions, 1) if candidate == self._wanted), 0
        )
        heading = about(
            self._findings, self._shown, (position, len(questions)), several=len(names) > 1
        )
        self.query_one("#about", Static).update(heading)
        width = self.size.width
        form_width = (width - 7) // 2 if width >= SIDE_BY_SIDE else width - 3
        for selector, arm in (
            ("#original", self._shown.original),
            ("#changed", self._shown.changed),
        ):
            self.query_one(selector, Static).update(
                Content("\n").join(_lines(self._shown, arm, form_width))
            )

    @worker("question")
    async def read_question(self, wanted: QuestionKey) -> None:
        question_key = (wanted.name, wanted.place, wanted.key, wanted.draw)
        self.put(wanted, await to_thread(self._findings.question, *question_key))


FORM = section("screens-results", "One form of a question")
READING_FORM = "Reading …"
IMPORTED = """These answers were imported: the store has neither the prompt around the question nor the text of each \
answer. The instrument's form is shown above."""  # noqa: E501
NOTHING = "No answer to this form is stored yet."


class FormScreen(AmongRows):
    """The screen of one form of a question: its prompt and its answers."""

    PLACE = "results › response bias › prompt"
    EXPLAIN = FORM
    DEFAULT_CSS = """
    FormScreen #about {
        height: auto;
        max-height: 2;
        padding: 0 1;
    }
    FormScreen #prompt {
        height: 1fr;
        border: round $panel;
    }
    FormScreen #prompt:focus {
        border: round $accent;
    }
    FormScreen #none {
        height: auto;
        padding: 1 2;
        color: $text-muted;
    }
    FormScreen SheetView.-tall #preview-title, FormScreen SheetView.-tall #preview {
        display: none;
    }
    """
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(
            "enter,v", "whole", "Whole answer", key_display="Enter", tooltip="Show the whole answer"
        ),
        Binding("o", "other", "Other form", tooltip="Show the other form of the question"),
        Binding(
            "tab",
            "turn",
            "Text",
            key_display="Tab",
            tooltip="Move to the prompt or the answers, to scroll",
        ),
        Binding("y", "copy", "Copy", tooltip="Copy the prompt"),
        Binding("escape", "back", "Back", key_display="Esc", tooltip="Go back"),
    ]

    view = query_one(SheetView)
    text = query_one("#prompt", LongText)

    def __init__(self, loaded: Loaded, shown: QuestionView, arm: str = "") -> None:
        """Create the screen.

        `arm` is the form that is shown first, the original one if it is empty.
        """
        super().__init__()
        self._findings: Changes = loaded.source
        self._shown = shown
        judged: ResponseBiasJudged = self._findings.judged
        run = judged.subjects[shown.subject].run
        self._run = (
            (run.model, run.version, run.backend, run.dtype, str(run.sampling))
            if run is not None
            else ()
        )
        self._changed = arm == shown.changed.arm
        self._forms: Sequence[tuple[FormView, Sheet]] = ()

    def compose_body(self) -> ComposeResult:
        yield Static(id="about", markup=False)
        yield LongText("", name="prompt")
        yield SheetView()
        yield Static(id="none", markup=False)

    def on_mount(self) -> None:
        self.title_bar.note = READING_FORM
        self.read_forms()
        self.read_standing()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:  # noqa: ARG002
        if action in ("turn", "whole"):
            return bool(self._forms and self._sheet.table.rows)
        return action not in ("copy", "other") or bool(self._forms)

    def explain(self) -> str:
        return f"{FORM}\n\n{table_help(self._sheet.table)}" if self._forms else FORM

    def put(self, forms: Sequence[tuple[FormView, Sheet]]) -> None:
        self._forms = forms
        self.title_bar.note = ""
        self._paint()

    def action_whole(self) -> None:
        self.view.show_whole()

    def show_standing(self) -> None:
        self.view.rulings = self._rulings_on
        if self._forms:
            self.view.follow()

    def show_ruled(self) -> None:
        self.read_forms()

    def _rulings_on(self, at: int) -> Sequence[str]:
        """Return the rulings on an answer, on the form's prompt, its wording and the question."""
        return self.standing.on_answer(
            self._form.shown.probe or 0, self._sheet.table.rows[at][1].text
        )

    def ruled_place(self) -> RuledPlace | None:
        """Return the form's prompt, with the answer under the cursor if it was sampled."""
        probe = self._form.shown.probe if self._forms else None
        if not probe:
            return None
        row_index, rows = self.view.row_index, self._sheet.table.rows
        answer = rows[row_index][1] if row_index is not None and row_index < len(rows) else None
        is_sampled = answer is not None and answer.count is not None
        return RuledPlace(
            probe=probe, text=answer.text if answer is not None and is_sampled else None
        )

    def action_other(self) -> None:
        self._changed = not self._changed
        self._paint()

    def action_turn(self) -> None:
        (self.view.table if self.focused is self.text else self.text).focus()

    def action_copy(self) -> None:
        copied(self, as_copied(self._form))

    def action_back(self) -> None:
        if not self.view.show_all_rows():
            self.dismiss(None)

    @property
    def _form(self) -> FormView:
        return self._forms[self._changed][0]

    @property
    def _sheet(self) -> Sheet:
        return self._forms[self._changed][1]

    def _paint(self) -> None:
        question_forms, form = self._shown, self._form
        name = form_name(
            question_forms, question_forms.changed if self._changed else question_forms.original
        )
        heading = Content.assemble(
            (visible(question_forms.row.key), "bold"),
            f"  {name}  ",
            (visible(question_forms.subject), "bold $text-accent"),
            (
                f"\n{' · '.join(visible(setting) for setting in self._run if setting)}"
                if self._run
                else "",
                "$text-muted",
            ),
        )
        self.query_one("#about", Static).update(heading)
        self.text.show(prompt_text(form))
        has_no_answers, empty_note = not self._sheet.table.rows, self.query_one("#none", Static)
        empty_note.update(NOTHING if form.messages else IMPORTED)
        empty_note.display, self.view.display = has_no_answers, not has_no_answers
        self.view.show(self._sheet)
        if has_no_answers:
            self.text.focus()
        self.refresh_bindings()

    @worker("form")
    async def read_forms(self) -> None:
        """Read both forms, each with the table of its answers."""

        def load() -> Sequence[tuple[FormView, Sheet]]:
            from workbench.audits.response_bias import question_tables as tables

            forms = self._findings.forms(self._shown)
            arms = ((form, form.shown.arm) for form in forms)
            return [
                (form, Sheet(tables.answers(self._shown, forms, arm), (arm,))) for form, arm in arms
            ]

        self.put(await to_thread(load))


def prompt_text(form: FormView) -> str:
    """Return the prompt as text that is safe to print, its roles before its turns.

    Without a prompt, return the form alone.
    """
    if not form.messages:
        form_text = form.shown.choice.lettered() if form.shown.choice is not None else ""
        return visible(form_text, lines=True) or "The text of this form is unknown."
    role_texts = (
        (visible(message.role), visible(message.content, lines=True)) for message in form.messages
    )
    return "\n\n".join(
        f"{role}\n  " + turn_text.replace("\n", "\n  ") for role, turn_text in role_texts
    )


def as_copied(form: FormView) -> str:
    """Return the whole prompt as it was sent, for the clipboard."""
    if not form.messages:
        return form.shown.choice.lettered() if form.shown.choice is not None else ""
    return "\n\n".join(f"{message.role}: {message.content}" for message in form.messages)


def question(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return a function that opens the screen of a question.

    The subject is a model, a bias, a condition, a question and, optionally, a draw.
    """
    question_forms = _read(loaded, subject)
    return lambda: QuestionScreen(loaded, question_forms)


def answers(path: Path, loaded: Loaded, subject: Subject) -> Opened | str:  # noqa: ARG001
    """Return a function that opens the answers to one form.

    The subject is that of a question, and the form.
    """
    *question_subject, arm = subject
    question_forms = _read(loaded, question_subject)
    return lambda: FormScreen(loaded, question_forms, arm)


def _read(loaded: Loaded, subject: Subject | list[str]) -> QuestionView:
    from workbench.audits.response_bias.answers import place_of

    changes: Changes = loaded.source
    model, bias, condition, key, *draw = subject
    return changes.question(
        model, place_of(bias, condition, changes.every_kind), key, int(draw[0]) if draw else None
    )
