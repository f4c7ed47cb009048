"""Forms that were made of questions, as text before they are accepted; pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.choices import Choice, parse_choice
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL
from workbench.tui.format import visible
from workbench.tui.statements.statement_format import MARK_STYLES, difference, marked, variant_name
from workbench.tui.worddiff import Part
from workbench.workshop.choice_forms import OptionLine, option_lines, word_pairs

if TYPE_CHECKING:
    from workbench.pipeline.choice_forms import Proposal, Proposals

SHOWN = 40
"forms that a preview draws; all of them are counted, and written"


def outlook(proposals: Proposals, *, replace: bool) -> str:
    """Say in a line what accepting comes to."""
    ready = [one for one in proposals.made if replace or one.held is None]
    said = proposals.describe().split("\n")[0]
    if ready:
        return f"{said}. F5 writes {plural(len(ready), 'wording')}."
    return f"{said}: tick replace to write them." if proposals.made else f"{said}."


def preview(proposals: Proposals) -> Iterator[Content]:
    """Yield what was made, and what cannot be, as lines."""
    for one in proposals.made[:SHOWN]:
        yield _heading(one)
        yield from _form(one.before, one.text)
        yield from (Content.styled(f"▲ {visible(remark)}", "$text-warning") for remark in one.remarks)
    if len(proposals.made) > SHOWN:
        yield Content.styled(f"… and {len(proposals.made) - SHOWN:,} more", "$text-muted")
    for said in proposals.describe().split("\n")[1:]:
        yield Content.styled(f"– {visible(said)}", "$text-muted")


def side_by_side(before: str, after: str) -> tuple[Content, Content] | None:
    """Return two forms of a question with what differs; None where one of the texts is no question with options."""
    old, new = parse_choice(before), parse_choice(after)
    if not isinstance(old, Choice) or not isinstance(new, Choice):
        return None
    removed, added = difference(old.stem, new.stem)
    options = [
        Content(f"  {letter.upper()}. {visible(text)}") for letter, text in zip(old.letters, old.options, strict=True)
    ]
    lines = Content("\n")
    return lines.join([marked(removed, "−"), *options]), lines.join(
        [marked(added, "+"), *map(_option, option_lines(old, new))]
    )


def _heading(one: Proposal) -> Content:
    """Return where a form goes."""
    new = f"  new, from {visible(one.of)}" if one.of and one.variant == ORIGINAL else ""
    instead = "  ▲ differs from the existing text" if one.held is not None else ""
    return Content.assemble(
        (f"{visible(one.ref)} · {variant_name(one.variant)}", "bold"),
        (new, "$text-muted"),
        (instead, "$text-warning"),
    )


def _form(before: str, after: str) -> Iterator[Content]:
    """Yield a form with what differs; options that are all as they were are left out where the question is another."""
    old, new = parse_choice(before), parse_choice(after)
    if not isinstance(old, Choice) or not isinstance(new, Choice):
        yield Content(visible(after, lines=True))
        return
    yield from _stem(old.stem, new.stem)
    if old.options != new.options or old == new:
        yield from map(_option, option_lines(old, new))


def _stem(before: str, after: str) -> Iterator[Content]:
    if before == after:
        yield Content(visible(after, lines=True))
        return
    if pairs := word_pairs(before, after):
        yield Content(" ").join([_word(old, new) for old, new in pairs])
        return
    removed, added = difference(before, after)
    yield marked(removed, "−")
    yield marked(added, "+")


def _word(old: str, new: str) -> Content:
    """Return a word, with what it was before where an error was put into it."""
    if old == new:
        return Content(visible(new, lines=True))
    return Content(" ").join([marked((Part(text, True),), mark) for text, mark in ((old, "−"), (new, "+"))])


def _option(line: OptionLine) -> Content:
    """Return an option with what became of it."""
    text = f"{line.letter}. {visible(line.text)}"
    if line.mark in MARK_STYLES:
        return Content.assemble((f"{line.mark} ", "dim"), (text, MARK_STYLES[line.mark]))
    return Content.assemble(f"  {text}", (f"  ({line.mark})" if line.mark else "", "$text-accent"))
