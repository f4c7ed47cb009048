"""The number of tokens that a network can attend to, and the message for longer prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SHOWN = 48
"characters of a prompt that identify it in a message"


@dataclass(frozen=True, slots=True)
class Window:
    """The most tokens that a network was built for."""

    tokens: int | None
    "None: no limit (relative positions, recurrent states)"
    apart: bool = False
    "an encoder reads the prompt and a decoder writes the answer; each has the full window"

    def misfit(self, text: str, prompt: int, more: int, what: str) -> str:
        """Return why a prompt of `prompt` tokens with `more` tokens after it does not fit; empty if it does.

        `what` names the tokens that follow. Beyond its window a network still computes, but was never trained to.
        """
        if self.tokens is None:
            return ""
        left = self.tokens if self.apart else self.tokens - prompt
        if more <= left and prompt <= self.tokens:
            return ""
        begun = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        said = f"the prompt {begun!r} has {prompt:,} tokens"
        if prompt > self.tokens or left < 1:
            most = self.tokens - (0 if self.apart else 1)
            return (
                f"{said}, and the model's window is {self.tokens:,}, so at most {most:,} fit. "
                "Shorten the prompt, or take a model with a longer window"
            )
        return (
            f"{said}, and {more:,} more {what} do not fit into the model's window of {self.tokens:,}. "
            f"At most {left:,} do: ask for fewer, or shorten the prompt"
        )


def window_of(config: Any) -> Window:
    """Return a network's window. A sliding window limits how far back a token sees, not the number of tokens."""
    found = getattr(config.get_text_config(decoder=True), "max_position_embeddings", None)
    tokens = found if isinstance(found, int) and found > 0 else None
    return Window(tokens, bool(config.is_encoder_decoder))
