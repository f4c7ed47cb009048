"""Tokenised pairs of premise and hypothesis, each text only once for all hypotheses.

The special tokens of a pair are taken from one pair encoded by the tokenizer itself, so that
results equal `tokenizer(premise, hypothesis)` for BERT, RoBERTa and BART.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbench.classifier.config import TrainConfig
from workbench.errors import ModelError, UsageError

Encoded = tuple[list[int], list[int]]
"token ids and segment numbers of a pair"


def encodable_text(text: str) -> str:
    """Return text that UTF-8 can encode: surrogate pairs joined, lone surrogates as U+FFFD."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


class PairEncoder:
    """The encoder of one model's inputs for the hypotheses of one configuration."""

    def __init__(self, tokenizer: Any, config: TrainConfig):
        self._tokenizer = tokenizer
        limit = tokenizer.model_max_length  # a huge number if the tokenizer has no limit
        if config.max_length > limit:
            raise UsageError(
                f"max_length is {config.max_length}; {config.base} reads at most {limit} tokens"
            )
        self._read_frame(config.base)
        self._hypotheses = self._tokens(config.hypotheses(), None)
        specials = sum(map(len, self._ids))
        self._room = config.max_length - specials - max(map(len, self._hypotheses))
        if self._room < 1:
            raise UsageError(
                f"the hypothesis {config.hypothesis!r} leaves no room for a response in "
                f"max_length {config.max_length}"
            )

    def _read_frame(self, base: str) -> None:
        """Read the special tokens around two texts, with their segments, from a pair "a", "b".

        They are before, between and after the texts.
        """
        encoded = self._tokenizer(
            "a", "b", return_special_tokens_mask=True, return_token_type_ids=True
        )
        mask, ids, types = (
            encoded["special_tokens_mask"],
            encoded["input_ids"],
            encoded["token_type_ids"],
        )
        first, last = mask.index(0), len(mask) - 1 - mask[::-1].index(0)
        middle = [index for index in range(first, last) if mask[index]]
        if not middle or self._tokenizer.pad_token_id is None:
            raise ModelError(
                f"{base}: its tokenizer has no token between two texts, or none to pad with, so it "
                "is no model of sentence pairs. Choose an encoder such as BERT, RoBERTa or BART"
            )
        spans = (slice(0, first), slice(middle[0], middle[-1] + 1), slice(last + 1, len(ids)))
        self._ids = [ids[span] for span in spans]
        self._types = [types[span] for span in spans]
        self._segments = (types[first], types[last])

    def _tokens(self, texts: Sequence[str], room: int | None) -> list[list[int]]:
        """Return token ids without special tokens.

        Text that spells one (`</s>`, `[SEP]`) is read as characters: as a token it would end the
        premise, and BART refuses a batch whose pairs differ in their number of ends.
        """
        limit = (
            {"truncation": True, "max_length": room} if room is not None else {"truncation": False}
        )
        encoded = self._tokenizer(
            [encodable_text(text) for text in texts],
            add_special_tokens=False,
            split_special_tokens=True,
            **limit,
        )
        ids: list[list[int]] = encoded["input_ids"]
        return ids

    def premises(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of premises, truncated if a pair would be too long."""
        return self._tokens(texts, self._room) if texts else []

    def pair(self, premise: list[int], label: int) -> Encoded:
        """Return a premise with the hypothesis of one label, by the label's index."""
        hypothesis = self._hypotheses[label]
        before, between, after = self._ids
        ids = [*before, *premise, *between, *hypothesis, *after]
        segments = self._types[0] + [self._segments[0]] * len(premise) + self._types[1]
        return ids, segments + [self._segments[1]] * len(hypothesis) + self._types[2]

    @property
    def overhead(self) -> int:
        """The largest number of tokens of a pair besides its premise."""
        return sum(map(len, self._ids)) + max(map(len, self._hypotheses))

    def batch(self, pairs: Iterable[Encoded]) -> dict[str, Any]:
        """Return tensors (pairs, longest) padded on the right.

        They are the inputs that the model's tokenizer names.
        """
        import torch

        rows = list(pairs)
        shape = (len(rows), max(len(ids) for ids, _ in rows))
        tokens = torch.full(shape, self._tokenizer.pad_token_id, dtype=torch.long)
        segments, mask = torch.zeros(shape, dtype=torch.long), torch.zeros(shape, dtype=torch.long)
        for row, (ids, types) in enumerate(rows):
            tokens[row, : len(ids)] = torch.tensor(ids)
            segments[row, : len(ids)] = torch.tensor(types)
            mask[row, : len(ids)] = 1
        inputs = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": segments}
        return {name: inputs[name] for name in inputs if name in self._tokenizer.model_input_names}
