"""Prompts whose context a model's window does not hold: found before anything is computed, with what would fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbench.domain.prompts import Prompt
from workbench.errors import ModelError
from workbench.inference.base import Windowed

if TYPE_CHECKING:
    from workbench.inference.base import Model

LOOKED_AT = 24
"of the prompts with a context, the longest by their characters: tokens are counted of these alone"
AFTER = 1
"token that must fit after a prompt"


def check_window(model: Model, prompts: Iterable[Prompt]) -> None:
    """Raise ModelError where a prompt with a context does not fit, saying how many answered questions do.

    A prompt that is too long and not among the longest by characters is refused by itself when it is asked.
    """
    if not isinstance(model, Windowed) or model.window is None:
        return
    with_context = (prompt for prompt in prompts if _pairs(prompt))
    longest = sorted(with_context, key=_characters, reverse=True)[:LOOKED_AT]
    most = model.window - AFTER
    lengths = model.lengths(longest)
    over = [(n, prompt) for n, prompt in zip(lengths, longest, strict=True) if n > most]
    if not over:
        return
    tokens, worst = max(over, key=lambda item: item[0])
    fits = min(_fitting(model, prompt, most) for _, prompt in over)
    raise ModelError(
        f"a context of {_pairs(worst)} answered questions with its target has {tokens:,} tokens, and the window of "
        f"{model.card.name} is {model.window:,}: "
        + (
            f"{fits} of the questions fit. Ask with --context-questions {fits}, or take a model with a longer window"
            if fits
            else "not one question fits. Take a model with a longer window, or ask zero-shot"
        )
    )


def _fitting(model: Windowed, prompt: Prompt, most: int) -> int:
    """Return how many of a prompt's first answered questions fit with the target, by bisection."""
    low, high = 0, _pairs(prompt)
    while low < high:
        middle = (low + high + 1) // 2
        if model.lengths([_first(prompt, middle)])[0] <= most:
            low = middle
        else:
            high = middle - 1
    return low


def _first(prompt: Prompt, pairs: int) -> Prompt:
    """Return a prompt with the first so many answered questions."""
    system = prompt.context % 2
    return Prompt((*prompt.messages[: system + 2 * pairs], *prompt.messages[prompt.context :]), prompt.chat)


def _pairs(prompt: Prompt) -> int:
    return prompt.context // 2


def _characters(prompt: Prompt) -> int:
    return sum(len(message.content) for message in prompt.messages)
