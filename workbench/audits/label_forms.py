"""How a model may write a template's labels as its next text: the events whose probabilities exact mode computes.

A label is taken as the template prints it and with a capital first letter; where a prompt is raw text to be continued,
each with the space that parts it from the prompt. Forms are different sequences of tokens, so the events that an answer
begins with one or another exclude each other, and their probabilities add up. What follows the label is left open:
`Agree.` and `Agree, because` both begin with `Agree`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from workbench.domain.prompts import Probe, Template
from workbench.errors import UsageError

VERSION = "1"
"goes up whenever other forms are scored"


@dataclass(frozen=True, slots=True)
class LabelForms:
    """The continuations of a prompt that name one label or the other."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @property
    def all(self) -> tuple[str, ...]:
        return self.positive + self.negative


def label_forms(template: Template) -> LabelForms:
    """Return the forms of a template's two labels.

    Raises UsageError where its answers are not labels, or where one label begins with the other, so that the
    probability of the shorter would hold that of the longer.

    Examples
    --------
    >>> label_forms(Template("t", False, "{statement}", "agree", "disagree")).all
    ('agree', 'Agree', 'disagree', 'Disagree')
    >>> label_forms(Template("t", False, "{statement}", "Yes", "No", chat=False)).all
    (' Yes', ' No')
    """
    if template.scale or not template.positive.strip() or not template.negative.strip():
        raise UsageError(
            f"the answers to template {template.name} are not one of two labels, so there are no label probabilities; "
            "draw answers instead, or choose other templates with --templates"
        )
    space = "" if template.chat else " "
    sides = [_written(label.strip(), space) for label in (template.positive, template.negative)]
    overlap = next(((a, b) for a in sides[0] for b in sides[1] if a.startswith(b) or b.startswith(a)), None)
    if overlap:
        raise UsageError(
            f"of the labels of template {template.name} one begins with the other ({overlap[0]!r}, {overlap[1]!r}), so "
            "their probabilities overlap; draw answers instead, or choose other templates with --templates"
        )
    return LabelForms(*sides)


def _written(label: str, space: str) -> tuple[str, ...]:
    """Return a label as printed and capitalised; of two where one begins with the other, the shorter."""
    forms = dict.fromkeys((space + label, space + label[:1].upper() + label[1:]))
    return tuple(form for form in forms if not any(form != other and form.startswith(other) for other in forms))


def forms_by_prompt(templates: Sequence[Template], probes: Iterable[Probe]) -> dict[bytes, tuple[str, ...]]:
    """Return the forms to score of each prompt, by its key: those of all templates that come to its text.

    Raises UsageError as `label_forms`.
    """
    forms = {(t.name, t.inverted): label_forms(t).all for t in templates}
    found: dict[bytes, dict[str, None]] = defaultdict(dict)
    for probe in probes:
        found[probe.prompt.key] |= dict.fromkeys(forms[probe.template, probe.inverted])
    return {key: tuple(of) for key, of in found.items()}
