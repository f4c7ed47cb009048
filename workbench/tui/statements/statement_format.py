"""What a statement's sheet says, and how its ref is shortened in lists, as text; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.choices import Bias
from workbench.domain.drafting import TYPED
from workbench.domain.names import plural
from workbench.domain.statements import ORIGINAL, Relation, VariantId, VariantKind, Wording
from workbench.figures.visible import visible
from workbench.help.sections import section
from workbench.tui.format import Part, word_diff

if TYPE_CHECKING:
    from workbench.domain.instruments import Instrument
    from workbench.domain.statements import Statement

MARK_STYLES = {"−": "$text-error strike", "+": "$text-success bold underline"}
RELATION_WORDS = {
    Relation.SAME: "expected stance: same",
    Relation.FLIPPED: "expected stance: opposite",
    Relation.FREE: "no expected stance",
}
FORMS = frozenset((VariantKind.CHANGED, *TYPED))
"kinds of a multiple-choice question, which has no stance"
MOST_SHOWN = 20_000
"""characters of a text that a comparison draws: twice what a wording may have; imported ones may be
longer"""

EXPLAIN = section("screens-statements", "The editor of a statement")


def variant_name(variant: VariantId) -> str:
    """Return a variant as people read it: `paraphrase-2`, `political opposite`."""
    return str(variant).replace("_", " ")


def difference(before: str, after: str) -> tuple[tuple[Part, ...], tuple[Part, ...]]:
    """Return the parts of two texts, cut where nobody would read on."""
    return word_diff(before[:MOST_SHOWN], after[:MOST_SHOWN])


def marked(parts: tuple[Part, ...], mark: str) -> Content:
    """Return a wording whose changed words carry a mark as well as a style: `+[short]`."""
    pieces: list[Content | tuple[str, str]] = []
    for part in parts:
        words = part.text.rstrip()
        blank = visible(part.text[len(words) :], lines=True)
        if part.changed and words:
            pieces += [
                (mark + "[", "dim"),
                (visible(words, lines=True), MARK_STYLES[mark]),
                ("]", "dim"),
            ]
        else:
            pieces.append(Content(visible(words, lines=True)))
        pieces.append(Content(blank))
    return Content.assemble(*pieces)


def wording_heading(wording: Wording, *, at: bool, compared: bool) -> Content:
    """Return the line above a wording: where the cursor is, what is expected, and who wrote it."""
    parts: list[Content | tuple[str, str]] = [("▸ " if at else "  ", "bold $text-accent")]
    parts.append((variant_name(wording.variant), "bold reverse" if at else "bold"))
    form = wording.variant.kind in FORMS and wording.stated is None
    if compared and wording.variant != ORIGINAL and not form:
        parts.append((f"  {RELATION_WORDS[wording.relation]}", "$text-muted"))
        if wording.stated is not None:
            parts.append(
                (f" (set here; the kind implies {wording.variant.relation.value})", "$text-warning")
            )
    if wording.author:
        parts.append((f" · by {visible(wording.author)}", "$text-muted"))
    return Content.assemble(*parts)


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that the screen shows."""

    statement: Statement
    language: str
    languages: tuple[str, ...]
    "that the statement stands in; the instrument's own first"
    wordings: tuple[Wording, ...]
    "of the language; the original first where there is one"
    lacks: tuple[str, ...]
    "languages of the instrument that the statement does not stand in"
    answers: int
    "answers of models to this version"
    parties: tuple[str, ...]
    "a line each"
    findings: tuple[str, ...]
    rulings: tuple[str, ...] = ()
    "of auditors, on the statement and on anything below it"

    @property
    def original(self) -> Wording | None:
        return next((w for w in self.wordings if w.variant == ORIGINAL), None)


def about(sheet: Sheet) -> Content:
    """Return the lines at the top of a sheet."""
    statement = sheet.statement
    parts = [
        statement.ref,
        statement.country or "",
        (statement.topic or "").replace("_", " "),
        sheet.language,
    ]
    if len(sheet.languages) > 1:
        parts[-1] += f" (of {', '.join(sheet.languages)})"
    if statement.dimension:
        parts.append(statement.dimension.value)
    if statement.leaning:
        parts.append(f"agreeing is {statement.leaning.value}")
    if statement.source:
        parts.append(f"from {statement.source}")
    second = [f"version {statement.version}"]
    if sheet.answers:
        second.append(f"{plural(sheet.answers, 'answer')} to it")
    if statement.tags:
        second.append(f"tags {', '.join(statement.tags)}")
    if statement.derived_from:
        second.append(f"derived from {statement.derived_from}")
    if sheet.lacks:
        second.append(f"not in {', '.join(sheet.lacks)}")
    return Content("\n").join(_joined(line) for line in (parts, second))


def _joined(parts: list[str]) -> Content:
    return Content(" · ".join(visible(part) for part in parts if part))


def party_lines(instrument: Instrument, ref: str) -> tuple[str, ...]:
    """Return what the parties said to a statement, a line each."""
    from workbench.tui.format import stance_in_words

    answers = [answer for answer in instrument.party_answers if answer.statement == ref]
    width = max((len(answer.party) for answer in answers), default=0)
    return tuple(
        f"{stance_in_words(answer.stance):<12}  {answer.party:<{min(width, 30)}}  "
        f"{answer.country}  “{answer.answer}”"
        for answer in sorted(
            answers, key=lambda a: (-9 if a.stance is None else -a.stance, a.country, a.party)
        )
    )


LEAST, MOST = 12, 24
"columns of refs: of an ordinary instrument, and of long keys in a small terminal"

SHORT = {
    Bias.ACQUIESCENCE: "acq",
    Bias.ALLOW_FORBID: "allow",
    Bias.RESPONSE_ORDER: "order",
    Bias.OPINION_FLOAT: "float",
    Bias.ODD_EVEN: "odd",
}


def short_refs(refs: Sequence[str]) -> dict[str, str]:
    """Return a name of at most `MOST` columns for each ref; no two are alike.

    Examples
    --------
    >>> list(short_refs(["response_order.q5", "acquiescence-reword.GAP_W82", "env-1"]).values())
    ['order.q5', 'acq-reword.GAP_W82', 'env-1']
    """
    names = {ref: _cut(_shortened(ref), MOST) for ref in refs}
    alike = Counter(names.values())
    seen: Counter[str] = Counter()
    for ref, name in names.items():
        if alike[name] > 1:
            seen[name] += 1
            number = f"·{seen[name]}"
            names[ref] = _cut(name, MOST - len(number)) + number
    return names


def width_of(names: dict[str, str]) -> int:
    """Return how many columns such names need."""
    return max([LEAST, *map(len, names.values())])


def _shortened(ref: str) -> str:
    kind, dot, key = visible(ref).partition(".")
    bias, dash, variant = kind.partition("-")
    short = (
        next((name for each, name in SHORT.items() if each.value == bias), None) if key else None
    )
    if short is None:
        return visible(ref)
    before = f"{short}{dash}{variant}"
    room = max(len(short) + 1, MOST - len(dot) - len(key))
    return (before if len(before) <= room else f"{before[: room - 1]}…") + dot + key


def _cut(text: str, length: int) -> str:
    """Return a text cut in its middle: refs differ in their ends, or begin with what differs."""
    if len(text) <= length:
        return text
    head = length // 2 - 1
    return f"{text[:head]}…{text[len(text) - (length - head - 1) :]}"
