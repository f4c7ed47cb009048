"""Models of natural language inference: whether one text entails another, contradicts it, or neither.

Any sequence classifier with the labels entailment, neutral and contradiction, in any order: a folder or a hub id. Only
safetensors are read and no code of a model is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbench.domain.findings import LABELS, Entailment
from workbench.domain.responses import ModelCard
from workbench.errors import ModelError
from workbench.inference.embedded import locate
from workbench.inference.encoder import quiet
from workbench.installed import need_local

BACKEND = "entailment"
MOST_TOKENS = 512
"most tokens of a pair; the longer text is truncated"


def load_entailment(name: str, device: str | None = None) -> EntailmentModel:
    """Load a model in fp32, on a GPU if there is one. Raises ModelError saying what was found."""
    need_local(name)
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    quiet()
    source = locate(name)
    try:
        source = source.pinned()
        config: Any = AutoConfig.from_pretrained(source.place, trust_remote_code=False, **source.version)
        places = label_places(name, config.id2label or {})
        tokenizer: Any = AutoTokenizer.from_pretrained(source.place, trust_remote_code=False, **source.version)
        network: Any = AutoModelForSequenceClassification.from_pretrained(
            source.place, dtype=torch.float32, use_safetensors=True, trust_remote_code=False, **source.version
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no inference model could be loaded. Tried it as a folder and a hub id (safetensors only); "
            f"transformers says: {reason}"
        ) from error
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    revision, name = source.revision or "unknown", source.place if source.asked else name
    return EntailmentModel(name, network.to(device).eval(), tokenizer, places, revision)


def label_places(name: str, labels: dict[int, str]) -> tuple[int, int, int]:
    """Return the indices of the outputs for entailment, neutral and contradiction, by the labels' names.

    Raises ModelError if one of them is missing, or there are others: such a model was trained for another task.

    Examples
    --------
    >>> label_places("m", {0: "CONTRADICTION", 1: "neutral", 2: "entailment"})
    (2, 1, 0)
    """
    places = {str(label).casefold(): int(place) for place, label in labels.items()}
    if set(places) != set(LABELS) or len(labels) != len(LABELS):
        found = ", ".join(str(label) for label in labels.values()) or "none"
        raise ModelError(
            f"{name}: its labels are {found}; the check needs a model of natural language inference with the three "
            f"labels {', '.join(LABELS)}, such as those trained on MNLI"
        )
    entailment, neutral, contradiction = (places[label] for label in LABELS)
    return entailment, neutral, contradiction


class EntailmentModel:
    """A network, its tokenizer, and the meaning of its outputs."""

    def __init__(self, name: str, network: Any, tokenizer: Any, places: tuple[int, int, int], revision: str):
        self._network, self._tokenizer, self._places = network, tokenizer, places
        self.card = ModelCard(name, revision, BACKEND, "float32", "none")
        longest = min(
            int(tokenizer.model_max_length), int(getattr(network.config, "max_position_embeddings", 0)) or 512
        )
        self._longest = max(8, min(MOST_TOKENS, longest))

    def judge(self, pairs: Sequence[tuple[str, str]]) -> list[Entailment]:
        """Return the judgement of each (premise, hypothesis)."""
        import torch

        encoded = self._tokenizer(
            [premise for premise, _ in pairs],
            [hypothesis for _, hypothesis in pairs],
            padding=True,
            truncation="longest_first",
            max_length=self._longest,
            return_tensors="pt",
        )
        with torch.inference_mode():
            logits = self._network(**encoded.to(self._network.device)).logits.double()
        rows = torch.softmax(logits, dim=-1)[:, list(self._places)].cpu().tolist()
        return [Entailment(*row) for row in rows]

    def close(self) -> None:
        """Free memory. Safe to call twice."""
        self._network = None
