"""Small random networks of many architectures: every way of attending that a shared cache has to
get right.

Their weights are large enough that attention is far from even and that a next token depends on all
that is in sight; their logits are scaled to one spread, so that distributions are neither flat nor
peaked. A network of the usual initialisation would hide errors: it hardly looks at its context.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
import transformers

from workbench.inference.base import Work
from workbench.inference.engine import shared_engine
from workbench.inference.engines import Engine

VOCABULARY = 96
STOP = frozenset({2, 11, 23, 37, 41, 59, 73, 89})
"as many as a long vocabulary has for its size, so that greedy answers of random networks do end"
WINDOW = 8
SPREAD = 2.0
"standard deviation of the logits"
POSITIONS = 2048

_SMALL = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": POSITIONS,
    "initializer_range": 0.25,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_GPT2 = {
    "vocab_size": VOCABULARY,
    "n_embd": 32,
    "n_layer": 2,
    "n_head": 4,
    "n_positions": POSITIONS,
    "initializer_range": 0.25,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 0,
}
_MIXED = ["sliding_attention", "full_attention"]

Overrides = Mapping[str, Any]
ARCHITECTURES: dict[str, tuple[str, Overrides]] = {
    "llama": ("Llama", _SMALL),
    "gpt2": ("GPT2", _GPT2),
    "qwen2-sliding": (
        "Qwen2",
        {**_SMALL, "use_sliding_window": True, "sliding_window": WINDOW, "max_window_layers": 1},
    ),
    "qwen3-sliding": (
        "Qwen3",
        {
            **_SMALL,
            "head_dim": 16,
            "use_sliding_window": True,
            "sliding_window": WINDOW,
            "max_window_layers": 0,
        },
    ),
    "gemma2": (
        "Gemma2",
        {
            **_SMALL,
            "head_dim": 8,
            "query_pre_attn_scalar": 8,
            "sliding_window": WINDOW,
            "layer_types": _MIXED,
            "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 8.0,
        },
    ),
    "gemma3": (
        "Gemma3Text",
        {
            **_SMALL,
            "head_dim": 8,
            "query_pre_attn_scalar": 8,
            "sliding_window": WINDOW,
            "layer_types": _MIXED,
        },
    ),
    "mistral-sliding": ("Mistral", {**_SMALL, "sliding_window": WINDOW}),
    "phi": ("Phi", _SMALL),
    "gpt-neox": ("GPTNeoX", _SMALL),
    "mixtral": ("Mixtral", {**_SMALL, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "qwen2-moe": (
        "Qwen2Moe",
        {
            **_SMALL,
            "num_experts": 4,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 16,
            "shared_expert_intermediate_size": 16,
        },
    ),
}
"those that an engine must be able to share: class of the configuration, its settings"

MASKED: dict[str, tuple[str, Overrides]] = {
    "phimoe": (
        "Phimoe",
        {**_SMALL, "sliding_window": 40, "num_local_experts": 4, "num_experts_per_tok": 2},
    ),
    "qwen2-moe-sliding": (
        "Qwen2Moe",
        {
            **ARCHITECTURES["qwen2-moe"][1],
            "use_sliding_window": True,
            "sliding_window": 40,
            "max_window_layers": 2,
        },
    ),
}
"those whose masks alone say how far back a token looks: further than a few tokens show"

OTHERS: dict[str, tuple[str, Overrides]] = {
    "opt": ("OPT", {**_SMALL, "ffn_dim": 48, "word_embed_proj_dim": 32, "init_std": 0.25}),
    "gpt-j": ("GPTJ", {**_GPT2, "rotary_dim": 4}),
    "gpt-bigcode": ("GPTBigCode", _GPT2),
    "gpt-neo": (
        "GPTNeo",
        {**_SMALL, "num_layers": 2, "num_heads": 4, "attention_types": [[["global", "local"], 1]]},
    ),
    "falcon": ("Falcon", {**_SMALL, "new_decoder_architecture": True, "num_kv_heads": 2}),
    "falcon-alibi": ("Falcon", {**_SMALL, "alibi": True}),
    "bloom": ("Bloom", {**_GPT2, "hidden_size": 32}),
    "mpt": ("Mpt", {**_SMALL, "d_model": 32, "n_heads": 4, "n_layers": 2, "expansion_ratio": 2}),
    "phi3": ("Phi3", {**_SMALL, "sliding_window": WINDOW}),
    "stablelm": ("StableLm", _SMALL),
    "cohere2": ("Cohere2", {**_SMALL, "sliding_window": WINDOW, "layer_types": _MIXED}),
    "olmo2": ("Olmo2", _SMALL),
    "granite": ("Granite", {**_SMALL, "attention_multiplier": 0.2, "residual_multiplier": 0.5}),
    "smollm3": ("SmolLM3", {**_SMALL, "no_rope_layers": [1, 0]}),
    "starcoder2": ("Starcoder2", {**_SMALL, "sliding_window": WINDOW}),
    "gpt-oss": (
        "GptOss",
        {
            **_SMALL,
            "head_dim": 8,
            "sliding_window": WINDOW,
            "layer_types": _MIXED,
            "num_local_experts": 4,
            "num_experts_per_tok": 2,
        },
    ),
    "deepseek-v3": (
        "DeepseekV3",
        {
            **_SMALL,
            "num_key_value_heads": 4,
            "first_k_dense_replace": 2,
            "q_lora_rank": 16,
            "kv_lora_rank": 16,
            "qk_rope_head_dim": 8,
            "qk_nope_head_dim": 8,
            "v_head_dim": 16,
        },
    ),
}
"those that may be shared or refused, but never computed wrongly"

UNSHAREABLE: dict[str, tuple[str, Overrides]] = {
    "mamba": ("Mamba", {**_SMALL, "state_size": 8, "num_hidden_layers": 2}),
    "rwkv": ("Rwkv", {**_SMALL, "attention_hidden_size": 32, "context_length": POSITIONS}),
    "bloom": OTHERS["bloom"],
    "t5": (
        "T5",
        {
            "vocab_size": VOCABULARY,
            "d_model": 32,
            "d_kv": 8,
            "d_ff": 48,
            "num_layers": 2,
            "num_heads": 4,
            "decoder_start_token_id": 0,
        },
    ),
}
"""recurrent states, a bias by distance, an encoder: no cache of keys and values alone says what
came before"""

_KINDS = {**ARCHITECTURES, **OTHERS, **MASKED, **UNSHAREABLE}


def build(
    kind: str,
    *,
    dtype: torch.dtype = torch.float32,
    seed: int = 7,
    spread: float = SPREAD,
    **more: Any,
) -> Any:
    """Return the network of that name, the same one on every call: `more` are settings of its
    configuration.
    """
    family, settings = _KINDS[kind]
    config = getattr(transformers, f"{family}Config")(**{**settings, **more})
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        auto = (
            transformers.AutoModelForSeq2SeqLM
            if config.is_encoder_decoder
            else transformers.AutoModelForCausalLM
        )
        network = auto.from_config(config).eval()
        _unsettle(network)
        _scale(network, spread)
    network.generation_config.eos_token_id = sorted(s for s in STOP if s < config.vocab_size)
    network.generation_config.pad_token_id = 0
    return network.to(dtype)


@contextmanager
def engine_over(
    network: Any, stop: frozenset[int] = STOP, work: Work | None = None
) -> Iterator[Engine]:
    """Give an engine that shares work, and close it."""
    engine = shared_engine(network, stop, work or Work())
    yield engine
    engine.close()


def _unsettle(network: Any) -> None:
    """Give norms and biases, which begin as ones and zeros, values that matter."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if parameter.dim() == 1 and "sinks" not in name and "A_log" not in name:
                parameter.add_(0.1 * torch.randn_like(parameter))


def _scale(network: Any, spread: float) -> None:
    """Scale the output so that logits have the wanted standard deviation."""
    config = network.config
    if config.is_encoder_decoder:
        return
    size = network.get_output_embeddings().weight.shape[0]
    with torch.no_grad():
        tokens = torch.randint(3, size, (8, 24))
        for _ in range(2):  # twice, for networks that bend their logits after the last layer
            found = float(network(input_ids=tokens).logits.float().std())
            network.get_output_embeddings().weight.mul_(spread / found)
