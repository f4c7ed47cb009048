"""What a person is told who imported multiple-choice questions, and answers of models to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from workbench.cli.output import say, say_wrapped
from workbench.domain.counting import plural

if TYPE_CHECKING:
    from stores.instruments.choice_imports import AddedChoices
    from workbench.domain.instruments import Instrument


def say_choices(instrument: Instrument, added: AddedChoices) -> None:
    """Say how many questions and answers there are, and what of them is new."""
    if instrument.choices:
        groups = Counter(f"{item.bias} ({item.variant})" if item.variant else item.bias for item in instrument.choices)
        told = ", ".join(f"{n:,} {group}" for group, n in groups.items())
        other = (
            f"; of {added.changed:,} the key, bias, middle option or shares were others here" if added.changed else ""
        )
        say(f"multiple-choice questions: {told}{other}")
    if instrument.answer_sets:
        new = f"{plural(added.answer_sets, 'new set')}, {plural(added.answers, 'answer')}"
        known = f"; {added.known:,} {'was' if added.known == 1 else 'were'} here already" if added.known else ""
        say(f"answers of models: {new} ({', '.join(added.models)}){known}")


def uncounted_choices(instrument: Instrument) -> tuple[str, ...]:
    """Say which questions cannot show their bias by the usual definition."""
    if not instrument.choices:
        return ()
    from workbench.audits.response_bias.plan import uncounted

    return uncounted(instrument.statements, instrument.language, {item.ref: item for item in instrument.choices})


def say_notes(notes: Sequence[str], models: Sequence[str]) -> None:
    """Say what is to be known of the files: of the questions, then model by model."""
    of_models = [list(_of_model(notes, model)) for model in models]
    told = {note for own in of_models for note in own}
    for note in notes:
        if note not in told:
            say_wrapped(f"- {note}")
    for model, own in zip(models, of_models, strict=True):
        for note in own:
            head = note.startswith(f"{model}: ")
            say_wrapped(note if head else f"- {note.removeprefix(f'{model}, ')}")


def _of_model(notes: Sequence[str], model: str) -> Iterator[str]:
    return (note for note in notes if note.startswith((f"{model}: ", f"{model}, ")))
