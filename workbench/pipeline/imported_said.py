"""What an import did, or would do, in words: for the shell and the screen alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.domain.counting import plural
from workbench.domain.questionnaires import Questionnaire, Role
from workbench.domain.statements import ORIGINAL

if TYPE_CHECKING:
    from stores.instruments.choice_imports import AddedChoices
    from stores.instruments.instruments import Imported
    from stores.instruments.questionnaire_imports import AddedRespondents
    from workbench.domain.instruments import Instrument
    from workbench.pipeline.importing import Material, Outcome

NOTHING = "Nothing was written."
Rows = tuple[tuple[str, ...], list[tuple[str, ...]]]
"headings, and rows of texts"


def said(outcome: Outcome, store: Path) -> tuple[str, ...]:
    """Return sentences on what came, what of it is new, what is odd, and what to look at next."""
    return tuple(_of_answers(outcome, store) if outcome.imported is None else _of_instrument(outcome, store))


def data(outcome: Outcome) -> dict[str, object]:
    """Return the same for a program."""
    from dataclasses import asdict

    material = outcome.material
    about: dict[str, object] = {"format": material.format, "written": outcome.written}
    if outcome.added is not None:
        return {"instrument": material.name, **asdict(outcome.added), "notes": material.notes,
                "findings": outcome.odd, **about}  # fmt: skip
    instrument, imported = material.instrument, outcome.imported
    assert instrument is not None
    assert imported is not None
    return {**asdict(imported), "languages": dict(languages(instrument)), "notes": notes_of(instrument), **about}


def first_rows(material: Material, limit: int) -> Rows:
    """Return the first rows of what was read: statements, answers of models where there are none, or people."""
    instrument = material.instrument
    if instrument is None:
        refs = tuple(dict.fromkeys(ref for one in material.people for ref in one.answers))[:4]
        people: list[tuple[str, ...]] = [
            (one.name, *(one.answers.get(ref, "") for ref in refs)) for one in material.people[:limit]
        ]
        return ("respondent", *refs), people
    if not instrument.statements:
        sets: list[tuple[str, ...]] = [
            (one.model, str(one.bias), str(one.condition or ""), f"{len(one.pairs):,}")
            for one in instrument.answer_sets[:limit]
        ]
        return ("model", "bias", "error", "questions"), sets
    rows: list[tuple[str, ...]] = []
    for statement in instrument.statements[:limit]:
        held = statement.wordings
        text = next((w.text for w in held if w.variant == ORIGINAL), held[0].text if held else "")
        rows.append((statement.ref, f"{len(held):,}", text))
    return ("ref", "wordings", "original"), rows


def languages(instrument: Instrument) -> Counter[str]:
    """Return how many wordings there are of each language."""
    return Counter(w.language for s in instrument.statements for w in s.wordings)


def notes_of(instrument: Instrument) -> tuple[str, ...]:
    """Return what is to be known of an instrument's files, and which questions cannot show their bias."""
    if not instrument.choices:
        return instrument.notes
    from workbench.audits.response_bias.plan import uncounted

    found = uncounted(instrument.statements, instrument.language, {item.ref: item for item in instrument.choices})
    return (*instrument.notes, *found)


def said_of(added: AddedRespondents) -> str:
    """Say what an import of answers changed."""
    parts = [
        f"{plural(added.added, 'respondent')} new, {added.known:,} "
        f"{'was' if added.known == 1 else 'were'} here with the same answers",
        f"{plural(added.answers, 'answer')} new",
    ]
    absent, skipped = added.absent, added.skipped
    if absent:
        they = "that one stays" if absent == 1 else "they stay"
        parts.append(f"{plural(absent, 'respondent')} {_are(absent)} here and not in the file: {they}")
    if skipped:
        parts.append(f"{plural(skipped, 'answer')} to questions that were taken out here {_are(skipped)} left out")
    return "; ".join(parts)


def _of_instrument(outcome: Outcome, store: Path) -> Iterator[str]:
    instrument, imported = outcome.material.instrument, outcome.imported
    assert instrument is not None
    assert imported is not None
    yield (
        f"{imported.name}: {len(instrument.statements):,} statements ({imported.added:,} new, {imported.changed:,} "
        f"changed, {imported.unchanged:,} as before, {imported.retired:,} retired), {imported.wordings:,} wordings, "
        f"{imported.templates} templates"
    )
    for name, version in imported.edited:
        yield f"- the template {name} was edited: this is version {version}; answers to the versions before stay"
    if instrument.questionnaire is not None:
        yield f"questionnaire: {_counted(instrument.questionnaire)}"
    if imported.choices is not None:
        yield from _choices(instrument, imported.choices)
    if found := languages(instrument):
        yield "wordings by language: " + ", ".join(f"{language} {n:,}" for language, n in sorted(found.items()))
    yield from _notes(notes_of(instrument), imported.choices.models if imported.choices is not None else ())
    yield from _left(outcome, imported, store)
    if instrument.answer_sets:
        yield f"Next: workbench verdicts {store} --audit response_bias --instrument {instrument.name}"
    else:
        yield f"Next: workbench lint {store}"


def _left(outcome: Outcome, imported: Imported, store: Path) -> Iterator[str]:
    """Say what stays as it is here, what was left out, and what is odd."""
    if imported.kept:
        yield f"- {imported.kept:,} statements were changed here, and not in the file: they stay as they are here"
    if imported.answers is not None and (imported.answers.added or imported.answers.known):
        yield f"- {said_of(imported.answers)}"
    yield from (f"- {odd}" for odd in outcome.odd)
    yield from _numbers(outcome, store)
    if imported.skipped:
        yield f"- {imported.skipped:,} labels or answers on statements that the instrument does not have were left out"
    if imported.choices is not None and imported.choices.without_text:
        yield f"- {imported.choices.without_text:,} questions that models answered are no statements here: no text"


def _of_answers(outcome: Outcome, store: Path) -> Iterator[str]:
    assert outcome.added is not None
    yield f"{outcome.material.name}: {said_of(outcome.added)}"
    yield from (f"- {note}" for note in (*outcome.material.notes, *outcome.odd))
    yield from _numbers(outcome, store)


def _numbers(outcome: Outcome, store: Path) -> Iterator[str]:
    """Say what answers in numbers were taken for: nothing in a file shows that its scale runs the other way."""
    for scale, taken in outcome.numbers:
        adjust = f"workbench questionnaire {store} --scale {scale} --map ANSWER=MEANING"
        yield f"- {scale}: answers in numbers were read as {taken}; adjust: {adjust}"


def _choices(instrument: Instrument, added: AddedChoices) -> Iterator[str]:
    """Say how many questions and answers there are, and what of them is new."""
    if instrument.choices:
        groups = Counter(f"{item.bias} ({item.variant})" if item.variant else item.bias for item in instrument.choices)
        told = ", ".join(f"{n:,} {group}" for group, n in groups.items())
        other = (
            f"; of {added.changed:,} the key, bias, middle option or shares were others here" if added.changed else ""
        )
        yield f"multiple-choice questions: {told}{other}"
    if instrument.answer_sets:
        new = f"{plural(added.answer_sets, 'new set')}, {plural(added.answers, 'answer')}"
        known = f"; {added.known:,} {'was' if added.known == 1 else 'were'} here already" if added.known else ""
        yield f"answers of models: {new} ({', '.join(added.models)}){known}"


def _notes(notes: Sequence[str], models: Sequence[str]) -> Iterator[str]:
    """Say what is to be known of the files: of the questions, then model by model."""
    of_models = [[note for note in notes if note.startswith((f"{model}: ", f"{model}, "))] for model in models]
    told = {note for own in of_models for note in own}
    yield from (f"- {note}" for note in notes if note not in told)
    for model, own in zip(models, of_models, strict=True):
        for note in own:
            head = note.startswith(f"{model}: ")
            yield note if head else f"- {note.removeprefix(f'{model}, ')}"


def _counted(questionnaire: Questionnaire) -> str:
    """Say how large a questionnaire is: `6 context and 2 target questions, 15 respondents`."""
    context, target = (len(questionnaire.of_role(role)) for role in (Role.CONTEXT, Role.TARGET))
    people = len(questionnaire.respondents)
    return f"{context:,} context and {plural(target, 'target question')}, {plural(people, 'respondent')}"


def _are(n: int) -> str:
    return "is" if n == 1 else "are"
