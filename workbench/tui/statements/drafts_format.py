"""Drafts as text before a reviewer; pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.content import Content

from workbench.domain.choices import Bias
from workbench.domain.drafting import SINGLE, CallLabel, kind_words
from workbench.domain.names import plural
from workbench.domain.statements import RELATION_OF, Relation, Statement, VariantKind, Wording
from workbench.help.sections import section
from workbench.tui.format import visible
from workbench.tui.statements.statement_format import difference, marked
from workbench.workshop.drafting import draft_hints, drafted, fault_in_words

if TYPE_CHECKING:
    from stores.instruments.drafts import Draft

SHOWN = 300
"characters of a text that a list shows"
LEAST_COMMON = 0.25
"share of a draft that the original has, too; below it marks would be on nearly every word"
MOST_HELD = 4
"wordings of the same kind that are shown beside a draft, the newest first; more of them are counted"
MOST_LINES = 400
"lines that cannot be wordings: more of them are counted"

EXPLAIN = section("screens-statements", "Reviewing drafts")


@dataclass(frozen=True, slots=True)
class Case:
    """A draft and the statement that it is for."""

    draft: Draft
    statement: Statement
    bias: Bias | None = None
    "that a multiple-choice question stands under"

    @property
    def text(self) -> str:
        """The wording that accepting lets in."""
        return drafted(self.draft.kind, self.draft.line)

    @property
    def wordings(self) -> tuple[Wording, ...]:
        """What the statement has in the draft's language."""
        return tuple(w for w in self.statement.wordings if w.language == self.draft.language)


def heading(case: Case) -> Content:
    """Return which draft it is and what is expected of it."""
    draft = case.draft
    under = case.bias.value.replace("_", "/") if case.bias else expected(draft.kind)
    parts = [case.statement.topic or "", draft.language, under]
    return Content.assemble(
        (visible(f"{draft.ref} · {kind_words(draft.kind)}"), "bold"),
        ("  " + " · ".join(visible(part) for part in parts if part), "$text-muted"),
    )


def expected(kind: VariantKind) -> str:
    """Return how the stance on a wording of a kind should stand to that on the original, in words."""
    if kind is VariantKind.ORIGINAL:
        return "becomes the original"
    return {
        Relation.SAME: "expected: the same stance as the original",
        Relation.FLIPPED: "expected: the opposite stance",
        Relation.FREE: "no expected stance",
    }[RELATION_OF[kind]]


def texts(case: Case) -> tuple[Content, Content]:
    """Return what the draft was made from and the draft, their differences marked; unmarked where most differs."""
    (before, options), (after, others) = (_asked(text, case.draft.kind) for text in (case.draft.basis, case.text))
    left, right = difference(before, after)
    common = sum(len(part.text) for part in right if not part.changed)
    if common < LEAST_COMMON * len(after):
        return Content(visible(case.draft.basis, lines=True)), Content(visible(case.text, lines=True))
    plain = (Content(visible(text, lines=True)) for text in (options, others))
    return marked(left, "−") + next(plain), marked(right, "+") + next(plain)


def _asked(text: str, kind: VariantKind) -> tuple[str, str]:
    """Return a text and its options, which are compared line by line by whoever reads them; most have none."""
    stem, first, options = text.partition("\nA. ") if kind is VariantKind.CHANGED else (text, "", "")
    return stem, first + options


def case_texts(case: Case) -> dict[str, Content]:
    """Return what each part of the screen says of a draft, by its selector."""
    basis, draft = texts(case)
    return {
        "#heading": heading(case),
        "#basis-name": Content(basis_name(case)),
        "#basis": basis,
        "#draft": draft,
        "#existing": existing(case),
        "#hints": hint_content(hint_lines(case)),
        "#provenance": Content(provenance(case.draft)),
    }


def basis_name(case: Case) -> str:
    return "question" if case.draft.kind is VariantKind.ORIGINAL else "original"


def existing(case: Case) -> Content:
    """Return what the statement has of the kind already, and what accepting does to it."""
    kind = case.draft.kind
    held = [w for w in case.wordings if w.variant.kind is kind]
    name = kind_words(kind)
    if not held:
        return Content.styled(f"The statement has no {name} in {visible(case.draft.language)} yet.", "$text-muted")
    newest = held[::-1][:MOST_HELD]
    shown = [Content.assemble((f"{w.variant}  ", "$text-muted"), _short(w.text)) for w in newest]
    if len(held) > MOST_HELD:
        shown.append(Content.styled(f"and {len(held) - MOST_HELD:,} more, from {held[0].variant} on", "$text-muted"))
    if kind in SINGLE:
        shown.append(Content.styled("▲ accepting replaces it", "$text-warning"))
    return Content("\n").join(shown)


def hint_lines(case: Case) -> tuple[str, ...]:
    """Return what is worth a look before deciding."""
    draft = case.draft
    held = case.statement.wordings
    found = draft_hints(draft.kind, draft.language, draft.basis, draft.line, held, case.bias)
    return (fault_in_words(draft.fault), *found) if draft.fault else found


def hint_content(found: Sequence[str]) -> Content:
    if not found:
        return Content.styled("· no hints", "$text-muted")
    return Content("\n").join(Content.styled(f"▲ {visible(one)}", "$text-warning") for one in found)


def provenance(draft: Draft) -> str:
    """Return where a draft comes from, in one line."""
    label = CallLabel.parse(draft.label)
    if draft.made is None:
        return visible(f"{draft.drafter} · {label.name} · {draft.at[:10]}")
    made = draft.made
    parts = [
        f"{made.model} {made.revision}".strip(),
        f"prompt {label.name}, call {label.call}",
        str(made.sampling),
        f"seed {draft.seed}",
        f"job {made.job}",
        f"{draft.at[:10]} {draft.at[11:16]} UTC",
    ]
    return visible(" · ".join(parts))


def place(at: int, of: int, counts: Mapping[str, int]) -> str:
    """Return `3 of 57 waiting · 12 accepted · 4 rejected`."""
    taken = counts.get("accepted", 0) + counts.get("edited", 0)
    parts = [f"{at + 1} of {of:,} pending"] if of else ["none pending"]
    return " · ".join([*parts, f"{taken:,} accepted", f"{counts.get('rejected', 0):,} rejected"])


def filter_words(kind: VariantKind | None, ref: str | None) -> str:
    """Return what the stack is limited to, "" where it is whole."""
    parts = [f"only {kind_words(kind)}"] if kind else []
    parts += [f"only {visible(ref)}"] if ref else []
    return " · ".join(parts)


def nothing_left(counts: Mapping[str, int], narrowed: str) -> Content:
    """Return what stands there where no draft waits."""
    if narrowed:
        return Content(f"No pending drafts ({narrowed}).\n\nk and t clear the filters.")
    decided = [f"{n:,} {state}" for state, n in counts.items() if n]
    if not decided:
        return Content("No drafts yet.\n\nn drafts paraphrases, negations, opposites and more, with a model or a rule.")
    lines = ["You have decided every draft." if any(counts.get(s) for s in ("accepted", "edited", "rejected"))
             else "No pending drafts.", " · ".join(decided)]  # fmt: skip
    if counts.get("unusable"):
        lines.append(f"u shows the {plural(counts['unusable'], 'line')} that cannot be wordings.")
    return Content("\n\n".join([*lines, "n drafts more."]))


def fault_list(drafts: Sequence[Draft]) -> str:
    """Return lines that cannot be wordings, each with why, the newest first."""
    if not drafts:
        return "Every line of the answers can be a wording."
    counts: dict[str, int] = {}
    for draft in drafts:
        counts[draft.fault] = counts.get(draft.fault, 0) + 1
    head = [f"{n:>6,}  {fault_in_words(fault, n)}" for fault, n in sorted(counts.items(), key=lambda item: -item[1])]
    newest = list(reversed(drafts))[:MOST_LINES]
    rows = [
        f"{d.id} · {d.ref} · {kind_words(d.kind)} · {d.drafter}: {fault_in_words(d.fault)}\n    “{_cut(d.line)}”"
        for d in newest
    ]
    more = [f"and {len(drafts) - MOST_LINES:,} more"] if len(drafts) > MOST_LINES else []
    return "\n".join([*head, "", *rows, *more])


def _short(text: str) -> str:
    return visible(_cut(text))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
