"""Writes the spellings of a template's labels at the beginning of an answer.

Exact mode computes the probabilities of these events. A spelling consists of an optional space,
optionally a quotation mark or one or two asterisks (Markdown), and the label as printed, in small
letters, capitalised or in capitals. Each ends with the label's last word: `agree` is not the
beginning of `agreement` (`Model.score`, whole words). Any text may follow: `Agree.` and `Agree,
because` both begin with `Agree`.

No spelling is the beginning of another one, neither as text nor as tokens, so an answer begins with
at most one of them and their probabilities add up. Other beginnings (`I agree`, `„agree`) are not
included: the total probability of the labels shows how much is missing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import exp

from workbench.domain.prompts import SPELLINGS, Probe, Template
from workbench.errors import UsageError
from workbench.readers.lexicon import continues_word

VERSION = SPELLINGS
"increases whenever other spellings are scored, or the scoring changes"
FIRST = "1"
"""the version without word ends

It has each label as printed and capitalised, whatever follows, and for raw prompts after a space.
"""
RULES = {
    FIRST: "each label as printed and capitalised, whatever follows it",
    VERSION: "each label as printed, in small letters, capitalised and in capitals, after a "
    "blank or none and after "
    '", *, ** or none, ended by its last word',
}
"version -> description of the spellings"

MARKS = ("", '"', "*", "**")
BLANKS = ("", " ")


@dataclass(frozen=True, slots=True)
class Verbalizers:
    """The spellings that name one label or the other."""

    positive: tuple[str, ...]
    negative: tuple[str, ...]

    @property
    def words(self) -> tuple[str, str]:
        """The cases of each label for display.

        Each is scored with every mark, with and without a space.
        """
        cases = [
            [form for form in side if form[:1].isalnum()] for side in (self.positive, self.negative)
        ]
        return ", ".join(cases[0]), ", ".join(cases[1])

    @property
    def all(self) -> tuple[str, ...]:
        return self.positive + self.negative


def verbalizers(template: Template) -> Verbalizers:
    """Return the spellings of a template's two labels.

    Raises UsageError if its answers are not labels, or if one label begins with the words of the
    other, so that the probability of the shorter would include that of the longer.

    Examples
    --------
    >>> forms = verbalizers(Template("t", False, "{statement}", "agree", "disagree"))
    >>> len(forms.positive), forms.positive[:6]
    (24, ('agree', 'Agree', 'AGREE', '"agree', '"Agree', '"AGREE'))
    >>> forms.words
    ('agree, Agree, AGREE', 'disagree, Disagree, DISAGREE')
    """
    labels = _labels(template)
    return Verbalizers(*(_written(label) for label in labels))


def forms_of(template: Template, version: str) -> Verbalizers:
    """Return the spellings that a version scores for a template's labels.

    Raises as `verbalizers` does.
    """
    return first_verbalizers(template) if version == FIRST else verbalizers(template)


def first_verbalizers(template: Template) -> Verbalizers:
    """Return the spellings that the first version scored for a template's labels."""
    space = "" if template.chat else " "
    sides = []
    for label in _labels(template):
        forms = dict.fromkeys((space + label, space + label[:1].upper() + label[1:]))
        sides.append(
            tuple(
                form
                for form in forms
                if not any(form != other and form.startswith(other) for other in forms)
            )
        )
    return Verbalizers(sides[0], sides[1])


def _labels(template: Template) -> tuple[str, str]:
    positive, negative = template.positive.strip(), template.negative.strip()
    if template.scale or not positive or not negative:
        raise UsageError(
            f"the answers to template {template.name} are not one of two labels, so there are no "
            "label probabilities; draw answers instead, or choose other templates with --templates"
        )
    for label, other in ((positive, negative), (negative, positive)):
        rest = other[len(label) :]
        if other.casefold().startswith(label.casefold()) and not continues_word(rest):
            raise UsageError(
                f"of the labels of template {template.name} one begins with the other ({label!r}, "
                f"{other!r}), so their probabilities overlap; draw answers instead, or choose "
                "other templates with --templates"
            )
    return positive, negative


def _written(label: str) -> tuple[str, ...]:
    return tuple(
        blank + mark + case for blank in BLANKS for mark in MARKS for case in _cases(label)
    )


def _cases(label: str) -> tuple[str, ...]:
    cases = (label, label.lower(), label[:1].upper() + label[1:], label.upper())
    return tuple(dict.fromkeys(cases))


def forms_by_prompt(
    templates: Sequence[Template], probes: Iterable[Probe]
) -> dict[bytes, tuple[str, ...]]:
    """Return the spellings to score for each prompt, by its key.

    They are those of all templates that produce its text. Raises UsageError as `verbalizers` does.
    """
    forms = {
        (template.name, template.inverted): verbalizers(template).all for template in templates
    }
    found_forms: dict[bytes, dict[str, None]] = defaultdict(dict)
    for probe in probes:
        found_forms[probe.prompt.key] |= dict.fromkeys(forms[probe.template, probe.inverted])
    return {key: tuple(spellings) for key, spellings in found_forms.items()}


PUBLISHED_TOP = 10
"""number of most likely next tokens over which the published masses are summed

Haller et al. 2025, section 3.1.
"""


def mass(tokens: Sequence[tuple[str, float]], label: str) -> float:
    """Return the probability of the tokens that spell a label.

    Surrounding spaces and case are ignored. `tokens`: (text, log-probability in nats). Haller et
    al. 2025, section 3.1, footnote 2.

    Examples
    --------
    >>> round(mass([(" Yes", -1.0), ("yes", -2.0), ("no", -3.0), ("Yesterday", -4.0)], "yes"), 4)
    0.5032
    """
    spelling = label.strip().casefold()
    return sum(
        exp(log_probability)
        for text, log_probability in tokens
        if text.strip().casefold() == spelling
    )
