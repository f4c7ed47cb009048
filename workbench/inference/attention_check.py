"""Checks whether the shared engine can run a network, by computing a few tokens both ways."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from workbench.inference.attention import ATTENTION, OutOfOrder, SharedContext, windows
from workbench.inference.batch import ActiveSequence, Batch
from workbench.inference.local.window import window_of
from workbench.inference.prefill import Prefill
from workbench.inference.tree import Row, SampleTree, Tokens

WHOLE, SLIDING = "full_attention", "sliding_attention"
LAYERS = {WHOLE, SLIDING}
CHANGING_ROPE = {"dynamic", "longrope"}
"kinds of positions that depend on the longest sequence of a pass"
TOLERANCE = {torch.float32: 1e-3, torch.float64: 1e-6}
COARSE = 0.2
"""largest mean deviation in 16 bits that counts as rounding. SmolLM2 has 0.07 in bfloat16 and 0.16 for a single
sequence, the same as from its own float32; if positions are ignored it has 1.3"""


class Unshareable(Exception):
    """The shared engine cannot compute this network's attention; the message gives the reason."""


def share(network: Any) -> int:
    """Make a network's attention follow layouts; return the bytes of one token's keys and values.

    Raises Unshareable, leaving the network unchanged, if results would differ from the network's own.
    """
    config = network.config.get_text_config()
    if network.config.is_encoder_decoder:
        raise Unshareable("it is an encoder-decoder")
    odd = set(getattr(config, "layer_types", None) or ()) - LAYERS
    if odd:
        raise Unshareable(f"it has layers of the kind {', '.join(sorted(odd))}")
    rope = getattr(config, "rope_parameters", None) or {}
    if CHANGING_ROPE & {str(part.get("rope_type")) for part in (rope, *rope.values()) if isinstance(part, dict)}:
        raise Unshareable("its positions depend on the longest prompt of a pass")
    sequences = _sequences(config.vocab_size)
    with torch.inference_mode():
        alone = [network(input_ids=_row(one, network), use_cache=False).logits[0, -1].float() for one in sequences]
        with _switched(network) as keep:
            together, token_bytes = _together(network, sequences)
            _check_windows(config)
            each = [
                float((one - other).norm() / (one - one.mean()).norm().clamp_min(1e-30))
                for one, other in zip(alone, together, strict=True)
            ]
            most = TOLERANCE.get(network.dtype)
            off = sum(each) / len(each) if most is None else max(each)
            if not off <= (most or COARSE):
                raise Unshareable(f"its results would be off by {off:.1%}")
            keep()
    return token_bytes


def _check_windows(config: Any) -> None:
    """Raise Unshareable if layers do not state their own sliding windows, because the few tokens of the comparison
    would not show it.
    """
    kinds, longest = set(getattr(config, "layer_types", None) or LAYERS), window_of(config).tokens
    masks, layers = ({_within(window, longest) for window in said} for said in windows())
    expected = {window for window in masks if (WHOLE if window is None else SLIDING) in kinds}
    if layers != (expected or {None}):
        raise Unshareable("how far back its layers look is known to its masks alone")


def _within(window: int | None, longest: int | None) -> int | None:
    """Return a sliding window; None if no prompt can be longer."""
    return None if window is None or (longest is not None and window >= longest) else window


def _sequences(vocabulary: int) -> list[Tokens]:
    """Return sequences with common beginnings: two are read as a tree, each with one more token."""
    ids = torch.randint(min(5, vocabulary - 1), vocabulary, (24,), generator=torch.Generator().manual_seed(1)).tolist()
    a, b = (*ids[:12], *ids[12:18]), (*ids[:12], *ids[18:22])
    return [a, b, (*a, ids[22]), (*b, ids[23]), (*b, ids[22])]


def _row(sequence: Tokens, network: Any) -> torch.Tensor:
    return torch.tensor([sequence], device=network.device)


@contextmanager
def _switched(network: Any) -> Iterator[Any]:
    """Replace the network's attention with ours, within the context or, if `keep` is called, permanently.

    Any failure with it is a reason not to share the network.
    """
    before, kept = network.config._attn_implementation, []
    try:
        network.set_attn_implementation(ATTENTION)
        yield lambda: kept.append(True)
    except Unshareable:
        raise
    except OutOfOrder as error:
        raise Unshareable(f"its layers are not plain attention ({error})") from error
    except Exception as error:  # any error of a network that was not built for this
        raise Unshareable(f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}") from error
    finally:
        if not kept:
            network.set_attn_implementation(before)


def _together(network: Any, sequences: list[Tokens]) -> tuple[list[torch.Tensor], int]:
    """Return the last logits of the sequences as the engine computes them, and the bytes of a token."""
    a, longer = sequences[0], sequences[2:]
    prefill = Prefill(network, 4 * len(a))
    order = sorted(range(2), key=lambda i: sequences[i])
    read = prefill.read([sequences[i] for i in order], [[len(sequences[i]) - 1] for i in order])
    if not read.layout.held:
        raise Unshareable(f"the attention of {network.config.model_type} cannot be replaced")
    found = [read.logits[order.index(i)].float() for i in range(2)]
    batch = Batch(network)
    stem = SharedContext(a[:12], read.pairs(0, 0, 12))
    for i, grown in ((0, longer[:1]), (1, longer[1:])):
        tree = SampleTree(len(grown), 0, frozenset(), 8)
        tree.rows = [Row(one[-1:], np.array([place]), 0) for place, one in enumerate(grown)]
        batch.seat(ActiveSequence(i, sequences[i], stem, tree), read.pairs(order.index(i), 12))
    batch.make_room()
    found += list(batch.logits(0, batch.rows, batch.table()).float())
    token_bytes = sum(t.shape[0] * t.shape[2] * t.element_size() for pair in stem.pairs for t in pair)
    return found, token_bytes
