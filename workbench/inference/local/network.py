"""The loading of a network and its tokenizer: device, dtype, and refusal of what cannot work.

Only safetensors are loaded and no code of a model's repository is run: pickled weights and code
could do anything here.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from typing import Any

import torch
import transformers
from safetensors import SafetensorError
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

from workbench.domain.names import plural
from workbench.domain.responses import QUANTISED
from workbench.errors import ModelError
from workbench.inference.base import check_dtype
from workbench.inference.embedded import ModelSource, locate
from workbench.inference.memory import free_bytes, is_out_of_memory, readable

SHOWN = 48
"characters of a prompt that identify it in a message"


@dataclass(frozen=True, slots=True)
class Window:
    """The most tokens that a network was built for."""

    tokens: int | None
    "the limit, or None if there is none (relative positions, recurrent states)"
    apart: bool = False
    """whether an encoder reads the prompt and a decoder writes the answer

    Each has the full window then.
    """

    def misfit(self, text: str, prompt: int, more: int, what: str) -> str:
        """Return the reason why a prompt does not fit with `more` tokens after it.

        It is an empty string if it fits. The prompt has `prompt` tokens. `what` names the tokens
        that follow. Beyond its window a network still computes, but was never trained to.
        """
        if self.tokens is None:
            return ""
        available = self.tokens if self.apart else self.tokens - prompt
        if more <= available and prompt <= self.tokens:
            return ""
        beginning = text if len(text) <= SHOWN else text[:SHOWN] + "…"
        fact = f"the prompt {beginning!r} has {prompt:,} tokens"
        if prompt > self.tokens or available < 1:
            most = self.tokens - (0 if self.apart else 1)
            return (
                f"{fact}, and the model's window is {self.tokens:,}, so at most {most:,} fit. "
                "Shorten the prompt, or take a model with a longer window"
            )
        return (
            f"{fact}, and {more:,} more {what} do not fit into the model's window of "
            f"{self.tokens:,}. At most {available:,} do: ask for fewer, or shorten the prompt"
        )


def window_of(config: Any) -> Window:
    """Return a network's window.

    A sliding window limits how far back a token sees, not the number of tokens.
    """
    limit = getattr(config.get_text_config(decoder=True), "max_position_embeddings", None)
    tokens = limit if isinstance(limit, int) and limit > 0 else None
    return Window(tokens, bool(config.is_encoder_decoder))


DEVICE = "WORKBENCH_DEVICE"
"environment variable: cpu, cuda, cuda:1, …, or `ALL`"
ALL = "all"
"one model over all GPUs, layer by layer, if one GPU cannot hold it"
SAFELY = {"trust_remote_code": False}
UNREADABLE = (OSError, ValueError, KeyError, ImportError, SafetensorError)
"errors that transformers raises for missing or unsupported models"


@dataclass(frozen=True, slots=True, eq=False)
class LoadedNetwork:
    """A loaded network."""

    name: str
    tokenizer: Any
    network: Any
    revision: str
    quantised: str = ""
    "quantisation of the weights on loading, one of `QUANTISED`, or an empty string without one"

    @property
    def dtype(self) -> str:
        """The dtype of the computation, with the kind of quantisation if any: `int8+bfloat16`."""
        numbers = str(self.network.dtype).removeprefix("torch.")
        return f"{self.quantised}+{numbers}" if self.quantised else numbers

    @property
    def place(self) -> str:
        """Its device, dtype and size as text."""
        size = sum(
            weights.numel() * weights.element_size() for weights in self.network.parameters()
        )
        return f"{self.dtype} on {self.network.device}, {readable(size)} of weights"


def load_network(name: str, dtype: str = "", device: str = "") -> LoadedNetwork:
    """Load a model.

    An empty `device` stands for $WORKBENCH_DEVICE, else the first GPU, else the CPU.

    Raises ModelError if the model, device or memory is not available, UsageError for an unknown
    dtype.
    """
    _quiet()
    check_dtype(name, dtype)
    device_name = device or os.environ.get(DEVICE, "")
    target = chosen_device(device_name)
    quantised = dtype if dtype in QUANTISED else ""
    numbers = _chosen_dtype("" if quantised else dtype, target)
    source = locate(name)
    try:
        source = source.pinned()
        config = AutoConfig.from_pretrained(source.place, **source.version, **SAFELY)
        kind = AutoModelForSeq2SeqLM if config.is_encoder_decoder else AutoModelForCausalLM
        size = _weights(kind, config, numbers, QUANTISED.get(quantised))
        if size > _free(target, device_name):
            raise ModelError(_too_large(name, size, numbers, target))
        tokenizer = AutoTokenizer.from_pretrained(source.place, **source.version, **SAFELY)
        network = _network(
            name, kind, source, _Placed(numbers, target, quantised, spread=device_name == ALL)
        )
    except UNREADABLE as error:
        if is_out_of_memory(error):
            raise _no_memory(name, numbers, target) from error
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no model could be loaded. Tried it as an embedded model, a GGUF file, a "
            "folder and a hub id "
            f"(safetensors only, no code of its own); transformers says: {reason}"
        ) from error
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        raise _no_memory(name, numbers, target) from error
    return LoadedNetwork(
        source.place if source.asked else name,
        tokenizer,
        network,
        source.revision or "unknown",
        quantised,
    )


@dataclass(frozen=True, slots=True)
class _Placed:
    """The device and dtype of a network's weights."""

    dtype: torch.dtype
    device: torch.device
    quantised: str = ""
    spread: bool = False
    "over all GPUs, layer by layer"

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of transformers for this placement."""
        is_direct = self.device.type == "cuda" or self.quantised  # not through the CPU's memory
        arguments: dict[str, Any] = {"device_map": {"": self.device}} if is_direct else {}
        if self.spread:
            arguments["device_map"] = "auto"
        if self.quantised == "int8":
            arguments["quantization_config"] = transformers.BitsAndBytesConfig(load_in_8bit=True)
        elif self.quantised:
            arguments["quantization_config"] = transformers.BitsAndBytesConfig(
                load_in_4bit=True,
                bnb_4bit_quant_type=self.quantised,
                bnb_4bit_compute_dtype=self.dtype,
            )
        return arguments

    def put(self, network: Any) -> Any:
        """Return a loaded network on its device.

        Quantised and spread networks are already there.
        """
        return network if self.quantised or self.spread else network.to(self.device)


def _free(device: torch.device, wanted: str) -> int:
    """Return the free bytes for a network: on all GPUs if it is spread over them."""
    if wanted != ALL:
        return free_bytes(device)
    return sum(
        free_bytes(torch.device("cuda", index)) for index in range(torch.cuda.device_count())
    )


def _network(name: str, kind: Any, source: ModelSource, placed: _Placed) -> Any:
    """Return the network on its device.

    Raises ModelError if its files lack weights, which would be random.
    """
    network, loading_info = kind.from_pretrained(
        source.place,
        dtype=placed.dtype,
        use_safetensors=True,
        output_loading_info=True,
        **source.version,
        **SAFELY,
        **placed.arguments(),
    )
    if missing := sorted(loading_info["missing_keys"]):
        raise ModelError(
            f"{name}: the files have no weights for {len(missing)} parts of "
            f"{type(network).__name__} "
            f"({', '.join(missing[:3])}{', …' if len(missing) > 3 else ''}), so its answers would "
            "be random. Name a checkpoint that was saved with its language modelling head"
        )
    return placed.put(network).eval()


def chosen_device(name: str) -> torch.device:
    """Return the device of a name, or the first GPU or else the CPU if it is empty.

    Raises ModelError for a missing device.
    """
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not name:
        return torch.device("cuda" if count else "cpu")
    if name == "cpu":
        return torch.device("cpu")
    if name == ALL:
        if count < 2:
            raise ModelError(
                f"${DEVICE} is {ALL!r}, and PyTorch sees {plural(count, 'GPU')}. Unset it"
            )
        return torch.device("cuda")
    if not (match := re.fullmatch(r"cuda(?::(\d+))?", name)):
        raise ModelError(
            f"the device {name!r} is unknown. Set ${DEVICE} to cpu, cuda, cuda:1 or {ALL}, or "
            "unset it"
        )
    if int(match[1] or 0) >= count:
        local = f"cuda:0 to cuda:{count - 1}" if count else "no CUDA device, only cpu"
        raise ModelError(
            f"the device {name!r} is not here: PyTorch sees {local}. Change ${DEVICE}, or unset it"
        )
    return torch.device(name)


def _chosen_dtype(name: str, device: torch.device) -> torch.dtype:
    """Return the dtype of a name. Raises ModelError for float16 on a CPU."""
    if not name:
        return torch.bfloat16 if device.type == "cuda" else torch.float32
    if name == "float16" and device.type == "cpu":
        raise ModelError(
            "float16 on a CPU is refused: few CPUs compute with it, so it is slower than float32, "
            "and its largest number (65,504) is soon passed in models that were trained in "
            "bfloat16. Choose float32 or bfloat16"
        )
    dtype: torch.dtype = getattr(torch, name)
    return dtype


def _weights(kind: Any, config: Any, dtype: torch.dtype, linear: float | None = None) -> int:
    """Return the bytes of a network's weights without loading them, or 0 if unknown.

    linear : bytes per weight of linear layers except the last, if these are quantised
    """
    if getattr(config, "quantization_config", None) is not None:
        return 0
    try:
        with torch.device("meta"):
            network = kind.from_config(config, dtype=dtype, **SAFELY)
    except (RuntimeError, NotImplementedError):  # some networks compute while they are built
        return 0
    size: int = sum(weights.numel() * weights.element_size() for weights in network.parameters())
    if linear is not None:
        last = network.get_output_embeddings()
        layers = [
            module
            for module in network.modules()
            if isinstance(module, torch.nn.Linear) and module is not last
        ]
        size -= int(
            sum(layer.weight.numel() * (layer.weight.element_size() - linear) for layer in layers)
        )
    return size


def _too_large(name: str, size: int, dtype: torch.dtype, device: torch.device) -> str:
    return (
        f"{name}: its weights take {readable(size)} as {_spelled(dtype)}, and "
        f"{readable(free_bytes(device))} of memory are free on {device}. {_advice(dtype)}"
    )


def _no_memory(name: str, dtype: torch.dtype, device: torch.device) -> ModelError:
    free = readable(free_bytes(device))
    return ModelError(
        f"{name}: memory ran out while it was loaded as {_spelled(dtype)} on {device}, where "
        f"{free} are free now. {_advice(dtype)}"
    )


def _advice(dtype: torch.dtype) -> str:
    smaller = (
        "Load it as bfloat16 (--dtype bfloat16), which takes half of that, close"
        if dtype.itemsize > 2
        else "Close"
    )
    return f"{smaller} other programs, take a smaller model, or a machine with more memory"


def _spelled(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _quiet() -> None:
    """Keep progress bars and advice out of the job's log. Errors are still raised."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    for library in ("huggingface_hub", "bitsandbytes"):
        logging.getLogger(library).setLevel(logging.ERROR)
