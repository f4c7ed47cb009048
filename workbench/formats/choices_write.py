"""Multiple-choice questions as the files that `read_choices` reads back to the same values.

Questions that a file cannot represent are refused, never changed: an option of two lines, a stem that ends in a line
like an option, spaces around a key.
"""

from __future__ import annotations

from collections.abc import Sequence

import tomli_w

from workbench.csv_files import csv_text, guarded
from workbench.domain.choice_texts import Fault, parse_choice
from workbench.domain.choices import Choice, ChoicePair
from workbench.errors import UsageError
from workbench.formats.about import TEXTS, About
from workbench.formats.choices import ABOUT, CHOICES, PERTURBED, PERTURBED_COLUMNS, SHARE, WARNINGS
from workbench.formats.choices_rules import form_fault, original_fault

VARIANT = "variant"
COLUMNS = ("key", "bias", VARIANT, "topic", "original", "changed", "middle_removed", WARNINGS)
"empty columns are left out, except key, bias, original and changed"
ALWAYS = ("key", "bias", "original", "changed")


def write_choices(pairs: Sequence[ChoicePair], about: About) -> dict[str, str]:
    """Return the files of a folder: name -> text. Only the texts, templates and notes of `about` are used.

    `perturbed.csv` is written even if it is empty, so that no older one is read with the others.

    Raises UsageError for questions that would not read back unchanged, naming the first.
    """
    _check(pairs)
    rows = [_row(pair) for pair in pairs]
    shares = max((len(pair.shares) for pair in pairs), default=0)
    filled = {name for row in rows for name, cell in row.items() if cell}
    columns = [name for name in COLUMNS if name in ALWAYS or name in filled]
    columns += [f"{SHARE}{place}" for place in range(1, shares + 1)]
    return {
        ABOUT: _about(about),
        CHOICES: _csv(columns, rows),
        PERTURBED: _perturbed(pairs),
    }


def _row(pair: ChoicePair) -> dict[str, str]:
    middle = {True: "yes", False: "no", None: ""}[pair.middle_removed]
    cells = (
        *(pair.key, pair.bias.value, pair.variant, pair.topic or "", pair.original.lettered()),
        *(pair.changed.lettered() if pair.changed else "", middle, "\n".join(pair.warnings)),
    )
    shares = {f"{SHARE}{place}": repr(share) for place, share in enumerate(pair.shares, start=1)}
    return {**dict(zip(COLUMNS, cells, strict=True)), **shares}


def _perturbed(pairs: Sequence[ChoicePair]) -> str:
    rows = [
        {"key": pair.key, "bias": pair.bias.value, VARIANT: pair.variant}
        | {"perturbation": perturbation.value, "draw": str(draw), "text": choice.lettered()}
        for pair in pairs
        for (perturbation, draw), choice in pair.perturbed.items()
    ]
    named = any(row[VARIANT] for row in rows)
    return _csv([*PERTURBED_COLUMNS, VARIANT] if named else PERTURBED_COLUMNS, rows)


def _csv(columns: Sequence[str], rows: Sequence[dict[str, str]]) -> str:
    return csv_text(columns, ([guarded(row.get(column, "")) for column in columns] for row in rows))


def _about(about: About) -> str:
    texts: dict[str, str] = {name: getattr(about, name) for name in TEXTS if getattr(about, name)}
    lists = {} if about.templates is None else {"templates": about.templates}
    return tomli_w.dumps({**texts, **lists, **({"notes": about.notes} if about.notes else {})})


def _check(pairs: Sequence[ChoicePair]) -> None:
    seen = set()
    for pair in pairs:
        at = (pair.bias, pair.variant, pair.key)
        why = "two questions have this key" if at in seen else _fault(pair)
        if why:
            raise UsageError(f"{pair.key!r} ({pair.bias}) cannot be written: {why}. Correct the question.")
        seen.add(at)


def _fault(pair: ChoicePair) -> str | None:
    """Return why a question would not read back unchanged; None if it would."""
    words = (pair.key, pair.variant, pair.topic or "")
    if not pair.key or any(word != word.strip() for word in words) or pair.topic == "":
        return "its key is empty, or its key, variant or topic has outer spaces"
    for choice in (pair.original, *([pair.changed] if pair.changed else []), *pair.perturbed.values()):
        why = _text_fault(choice)
        if why:
            return why
        if choice in pair.perturbed.values() and len(choice.options) != len(pair.original.options):
            return "a perturbed form has another number of options"
    if pair.shares and (len(pair.shares) != len(pair.original.options) or abs(sum(pair.shares) - 1) > 1e-9):
        return f"{len(pair.shares)} shares that add up to {sum(pair.shares):g}"
    fault = original_fault(pair) or form_fault(pair)
    return f"{fault.found}, where {fault.expected}" if fault else None


def _text_fault(choice: Choice) -> str | None:
    text = choice.lettered()
    if "\x00" in text or any("\ud800" <= sign <= "\udfff" for sign in text):
        return "its text holds a NUL or half a surrogate pair"
    found = parse_choice(text)
    if isinstance(found, Fault):
        return f"its text would be {found.found}"
    return None if found == choice else f"the text {text[:60]!r} would read back as another question"
