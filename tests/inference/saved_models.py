"""Tiny random models in folders, with a tokenizer of bytes: loading them is real, and takes no
time.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

WINDOW = 48
CHAT = "{% for m in messages %}<{{ m['role'] }}>{{ m['content'] }}\n{% endfor %}<assistant>"
PAD, BEGIN, END = "<pad>", "<s>", "</s>"


def tokenizer(
    *, begin: bool = True, ends: bool = False, chat: bool = False
) -> PreTrainedTokenizerFast:
    """Return a tokenizer with one token a byte. `ends`: it ends each text as T5's does."""
    alphabet = [PAD, BEGIN, END, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    inner = Tokenizer(models.BPE(vocab={text: i for i, text in enumerate(alphabet)}, merges=[]))
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    if ends:
        inner.post_processor = processors.TemplateProcessing(
            single=f"$A {END}", special_tokens=[(END, 2)]
        )
    names = {"pad_token": PAD, "eos_token": END, **({"bos_token": BEGIN} if begin else {})}
    return PreTrainedTokenizerFast(
        tokenizer_object=inner, chat_template=CHAT if chat else None, **names
    )


def save_llama(
    folder: Path,
    *,
    begin: bool = True,
    chat: bool = False,
    window: int = WINDOW,
    width: int = 32,
    **settings: Any,
) -> str:
    """Save a decoder-only model with a window of so many tokens and a hidden size; return its
    name.
    """
    config = LlamaConfig(
        vocab_size=259,
        hidden_size=width,
        intermediate_size=width * 3 // 2,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=window,
        initializer_range=0.25,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        **settings,
    )
    return _saved(folder, LlamaForCausalLM, config, tokenizer(begin=begin, chat=chat))


def save_t5(folder: Path) -> str:
    """Save an encoder-decoder; return its name."""
    config = T5Config(
        vocab_size=259,
        d_model=32,
        d_kv=8,
        d_ff=48,
        num_layers=2,
        num_heads=4,
        decoder_start_token_id=0,
        pad_token_id=0,
        eos_token_id=2,
    )
    return _saved(folder, T5ForConditionalGeneration, config, tokenizer(begin=False, ends=True))


def _saved(folder: Path, kind: Any, config: Any, made: PreTrainedTokenizerFast) -> str:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        kind(config).save_pretrained(folder)
    made.save_pretrained(folder)
    return str(folder)
