"""The crossing of an audit's prompts with personas.

Every prompt is asked without a persona, and with each persona before it. A run has one persona or
none, as it has one language. So a verdict compares prompts with one persona, and figures of several
personas are side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from workbench.domain.designs import Design
from workbench.domain.names import plural
from workbench.domain.prompts import Persona, PersonaKind, Probe
from workbench.domain.questionnaires import named_few
from workbench.domain.responses import ModelCard
from workbench.errors import UsageError
from workbench.formats.personas import described

SHOWN = 6
"the number of personas of which a plan shows the beginnings"
IN_THE_USER_TURN = "user"
"the family of templates that put everything into the user's turn"


def crossed(probes: Sequence[Probe], personas: Sequence[Persona], family: str) -> tuple[Probe, ...]:
    """Return all probes without a persona, then all with the first one before them, and so on.

    Prompts with the same beginning are next to each other, so it is computed once.
    """
    with_personas = (
        persona.crossed(probe, system_turn=family != IN_THE_USER_TURN)
        for persona in personas
        for probe in probes
    )
    return (*probes, *with_personas)


def check_turns(design: Design, probes: Sequence[Probe], card: ModelCard | None) -> None:
    """Raise UsageError if the model's chat template has no place for the turn of a persona.

    The persona would be part of the user's turn then, which is another treatment.
    """
    # Figures are about personas, too, and need nothing that asks models.
    from workbench.inference.chat_turns import EARLIER_FOLDED, FOLDED, writes_system_turn

    dialogues = [
        persona.name for persona in design.personas if persona.kind == PersonaKind.CONVERSATION
    ]
    if (
        dialogues
        and card is not None
        and EARLIER_FOLDED in card.encoding
        and any(probe.prompt.chat for probe in probes)
    ):
        raise UsageError(
            f"the chat template of {design.chat_format or design.model} writes the last turn "
            f"alone, so the conversations {named_few(dialogues)} would be part of it. Choose "
            "another chat format (--chat-format)"
        )
    names = [persona.name for persona in design.personas if persona.instruction]
    if (
        not names
        or design.family == IN_THE_USER_TURN
        or not any(probe.prompt.chat for probe in probes)
    ):
        return
    if card is None:
        folds = not design.cluster and writes_system_turn(design.model, design.chat_format) is False
    else:
        folds = FOLDED in card.encoding
    if folds:
        raise UsageError(
            f"the chat template of {design.chat_format or design.model} has no place for a system "
            f"turn, and the personas {named_few(names)} are system turns. Put them into the user's "
            f"turn (--family {IN_THE_USER_TURN}, where the audit has such templates), give them as "
            "conversations, or choose another chat format (--chat-format)"
        )


def persona_remarks(design: Design) -> Iterator[str]:
    """Yield the remarks on the personas of a design, before it is run."""
    if not design.personas:
        return
    yield (
        "each prompt is asked without a persona, and with "
        f"{plural(len(design.personas), 'persona')}:"
    )
    yield from (f"  {line}" for line in described(design.personas[:SHOWN]))
    if len(design.personas) > SHOWN:
        yield f"  and {len(design.personas) - SHOWN} more"
    foreign = [
        f"{persona.name} ({persona.language})"
        for persona in design.personas
        if persona.language not in ("", design.language)
    ]
    if foreign:
        yield f"in another language than the statements ({design.language}): {named_few(foreign)}"
    if design.family == IN_THE_USER_TURN and any(
        persona.kind != PersonaKind.CONVERSATION for persona in design.personas
    ):
        yield "templates of the family user have no system turn: a persona opens the user's turn"
