"""The texts of a statement's sheet and the short refs of lists. They use no store."""

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
from workbench.tui.format import TextPart, word_diff

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
"characters of a text in a comparison, twice the limit of a wording; imports may be longer"

EXPLAIN = section("screens-statements", "The editor of a statement")


def variant_name(variant: VariantId) -> str:
    """Return a readable variant: `paraphrase-2`, `political opposite`."""
    return str(variant).replace("_", " ")


def difference(before: str, after: str) -> tuple[tuple[TextPart, ...], tuple[TextPart, ...]]:
    """Return the parts of two texts, each truncated to `MOST_SHOWN` characters."""
    return word_diff(before[:MOST_SHOWN], after[:MOST_SHOWN])


def marked(parts: tuple[TextPart, ...], mark: str) -> Content:
    """Return a wording whose changed words have a mark besides their style: `+[short]`."""
    content_parts: list[Content | tuple[str, str]] = []
    for part in parts:
        text = part.text.rstrip()
        blank = visible(part.text[len(text) :], lines=True)
        if part.changed and text:
            content_parts += [
                (mark + "[", "dim"),
                (visible(text, lines=True), MARK_STYLES[mark]),
                ("]", "dim"),
            ]
        else:
            content_parts.append(Content(visible(text, lines=True)))
        content_parts.append(Content(blank))
    return Content.assemble(*content_parts)


def wording_heading(wording: Wording, *, at: bool, compared: bool) -> Content:
    """Return the line above a wording: the cursor, the expected stance, and the author."""
    parts: list[Content | tuple[str, str]] = [("▸ " if at else "  ", "bold $text-accent")]
    parts.append((variant_name(wording.variant), "bold reverse" if at else "bold"))
    is_form = wording.variant.kind in FORMS and wording.stated is None
    if compared and wording.variant != ORIGINAL and not is_form:
        parts.append((f"  {RELATION_WORDS[wording.relation]}", "$text-muted"))
        if wording.stated is not None:
            parts.append(
                (f" (set here; the kind implies {wording.variant.relation.value})", "$text-warning")
            )
    if wording.author:
        parts.append((f" · by {visible(wording.author)}", "$text-muted"))
    return Content.assemble(*parts)


@dataclass(frozen=True, slots=True)
class StatementContent:
    """The content of the screen of one statement."""

    statement: Statement
    language: str
    languages: tuple[str, ...]
    "languages of the statement, the instrument's own first"
    wordings: tuple[Wording, ...]
    "wordings in the language, with any original first"
    lacks: tuple[str, ...]
    "languages of the instrument that the statement lacks"
    answers: int
    "number of answers of models to this version"
    parties: tuple[str, ...]
    "a line for each party"
    findings: tuple[str, ...]
    rulings: tuple[str, ...] = ()
    "auditors' rulings on the statement and on anything below it"

    @property
    def original(self) -> Wording | None:
        return next((wording for wording in self.wordings if wording.variant == ORIGINAL), None)


def about(sheet: StatementContent) -> Content:
    """Return the lines at the top of a sheet."""
    statement = sheet.statement
    first_line = [
        statement.ref,
        statement.country or "",
        (statement.topic or "").replace("_", " "),
        sheet.language,
    ]
    if len(sheet.languages) > 1:
        first_line[-1] += f" (of {', '.join(sheet.languages)})"
    if statement.dimension:
        first_line.append(statement.dimension.value)
    if statement.leaning:
        first_line.append(f"agreeing is {statement.leaning.value}")
    if statement.source:
        first_line.append(f"from {statement.source}")
    second_line = [f"version {statement.version}"]
    if sheet.answers:
        second_line.append(f"{plural(sheet.answers, 'answer')} to it")
    if statement.tags:
        second_line.append(f"tags {', '.join(statement.tags)}")
    if statement.derived_from:
        second_line.append(f"derived from {statement.derived_from}")
    if sheet.lacks:
        second_line.append(f"not in {', '.join(sheet.lacks)}")
    return Content("\n").join(_joined(line) for line in (first_line, second_line))


def _joined(parts: list[str]) -> Content:
    return Content(" · ".join(visible(text) for text in parts if text))


def party_lines(instrument: Instrument, ref: str) -> tuple[str, ...]:
    """Return the answers of the parties to a statement, a line each."""
    from workbench.tui.format import stance_in_words

    answers = [answer for answer in instrument.party_answers if answer.statement == ref]
    width = max((len(answer.party) for answer in answers), default=0)
    return tuple(
        f"{stance_in_words(answer.stance):<12}  {answer.party:<{min(width, 30)}}  "
        f"{answer.country}  “{answer.answer}”"
        for answer in sorted(
            answers,
            key=lambda party_answer: (
                -9 if party_answer.stance is None else -party_answer.stance,
                party_answer.country,
                party_answer.party,
            ),
        )
    )


LEAST, MOST = 12, 24
"columns of refs: of an ordinary instrument, and of long keys in a small terminal"

SHORT_BY_BIAS = {
    Bias.ACQUIESCENCE.value: "acq",
    Bias.ALLOW_FORBID.value: "allow",
    Bias.RESPONSE_ORDER.value: "order",
    Bias.OPINION_FLOAT.value: "float",
    Bias.ODD_EVEN.value: "odd",
}


def short_refs(refs: Sequence[str]) -> dict[str, str]:
    """Return a unique name of at most `MOST` columns for each ref.

    Examples
    --------
    >>> list(short_refs(["response_order.q5", "acquiescence-reword.GAP_W82", "env-1"]).values())
    ['order.q5', 'acq-reword.GAP_W82', 'env-1']
    """
    names = {ref: _cut(_shortened(ref), MOST) for ref in refs}
    n_by_name = Counter(names.values())
    n_seen: Counter[str] = Counter()
    for ref, name in names.items():
        if n_by_name[name] > 1:
            n_seen[name] += 1
            number = f"·{n_seen[name]}"
            names[ref] = _cut(name, MOST - len(number)) + number
    return names


def width_of(names: dict[str, str]) -> int:
    """Return the number of columns that such names need."""
    return max([LEAST, *map(len, names.values())])


def _shortened(ref: str) -> str:
    """Return a ref with a short name of its bias, if it starts with one: `order.q5`."""
    kind, dot, key = visible(ref).partition(".")
    bias, dash, variant = kind.partition("-")
    short_name = SHORT_BY_BIAS.get(bias)
    if not key or short_name is None:
        return visible(ref)
    prefix = f"{short_name}{dash}{variant}"
    room = max(len(short_name) + 1, MOST - len(dot) - len(key))
    if len(prefix) > room:
        prefix = f"{prefix[: room - 1]}…"
    return prefix + dot + key


def _cut(text: str, length: int) -> str:
    """Return a text truncated in its middle, because refs differ at their ends or starts."""
    if len(text) <= length:
        return text
    head = length // 2 - 1
    return f"{text[:head]}…{text[len(text) - (length - head - 1) :]}"
