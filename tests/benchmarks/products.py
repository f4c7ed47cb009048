"""The bare matrix products of a network's pass: what a run could not do without, however it is
organised.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from subjects import synchronised
from torch.nn.functional import linear


@dataclass(slots=True)
class Products:
    """The products of inputs with weights, in the order in which a network computed them."""

    calls: list[tuple[torch.nn.Linear, int]] = field(default_factory=list)
    "layer, rows of its input"

    @contextmanager
    def of(self, network: Any) -> Iterator[None]:
        """Note the products of all linear layers while the context lasts."""

        def note(layer: torch.nn.Module, arguments: tuple[torch.Tensor, ...]) -> None:
            assert isinstance(layer, torch.nn.Linear)
            self.calls.append((layer, arguments[0].numel() // arguments[0].shape[-1]))

        hooks = [
            m.register_forward_pre_hook(note)
            for m in network.modules()
            if isinstance(m, torch.nn.Linear)
        ]
        try:
            yield
        finally:
            for hook in hooks:
                hook.remove()

    @torch.inference_mode()
    def seconds(self, device: torch.device) -> float:
        """Compute the same products on random inputs, weight after weight as the network did;
        return how long.
        """
        inputs: dict[tuple[int, int], torch.Tensor] = {}
        for layer, rows in self.calls:
            if (rows, layer.in_features) not in inputs:
                like = {"device": device, "dtype": layer.weight.dtype}
                inputs[rows, layer.in_features] = torch.randn(rows, layer.in_features, **like)
        synchronised(device)
        started = time.perf_counter()
        for layer, rows in self.calls:
            linear(inputs[rows, layer.in_features], layer.weight)
        synchronised(device)
        return time.perf_counter() - started
