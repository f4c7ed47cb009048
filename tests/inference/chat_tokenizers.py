"""Small tokenizers of every kind that decides differently where a text is cut, each trained in a
moment.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    trainers,
)
from transformers import PreTrainedTokenizerFast

SPECIAL = ["<unk>", "<|start|>", "<|end|>"]
TEXTS = [
    "Please respond with 'yes' or 'no': should taxes rise? yes",
    'Do you agree with the following statement? "Schools need more money." no Yes NO',
    "Rents  are\ttoo high.\n\nNo  rules, please! yes\nno",
] * 3

TURNS = (
    "{% for m in messages %}<|start|>{{ m['role'] }}\n{{ m['content'] }}<|end|>\n{% endfor "
    "%}<|start|>assistant\n"
)
REFUSES_SYSTEM = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system') }}{% endif %}" + TURNS
)
TRIMMED = TURNS.replace("{{ m['content'] }}", "{{ m['content'] | trim }}")
LAST_MARKED = (
    "{% for m in messages %}{% if loop.last %}<|start|>last{% endif %}<|start|>{{ m['role'] }} "
    "{{ m['content'] }}"
    "<|end|>{% endfor %}"
)
COUNTED = (
    "<|start|>{{ messages | length }} turns, the last: {{ messages[-1]['content'] }}<|end|>" + TURNS
)
"what a context looks like depends on what comes after it"
UNMARKED = (
    "{% for m in messages %}### {{ m['role'] }}: {{ m['content'] }}\n{% endfor %}### assistant:"
)
TEMPLATES = {
    "turns": TURNS,
    "system merged": REFUSES_SYSTEM,
    "trimmed": TRIMMED,
    "last turn marked": LAST_MARKED,
    "beginning depends on the end": COUNTED,
    "no special tokens": UNMARKED,
}


def _byte_level(*, prefix: bool = False) -> Tokenizer:
    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    inner.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=420, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
        ),
    )
    return inner


def _metaspace(scheme: str) -> Tokenizer:
    inner = Tokenizer(models.Unigram())
    inner.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=scheme, split=False)
    inner.decoder = decoders.Metaspace(prepend_scheme=scheme)
    inner.train_from_iterator(
        TEXTS,
        trainers.UnigramTrainer(
            vocab_size=120, special_tokens=SPECIAL, unk_token="<unk>", show_progress=False
        ),
    )
    return inner


def _prepending() -> Tokenizer:
    """As Llama 2: a space in front of every piece, merges over the whole of it."""
    inner = Tokenizer(models.BPE(unk_token="<unk>"))
    inner.normalizer = normalizers.Sequence(
        [normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]
    )
    inner.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    inner.train_from_iterator(
        [text.split("\n")[0] for text in TEXTS],
        trainers.BpeTrainer(vocab_size=160, special_tokens=SPECIAL, show_progress=False),
    )
    return inner


def _greedy() -> Tokenizer:
    """A special token that takes the blanks around it, and one that is the beginning of another."""
    inner = _byte_level()
    inner.add_special_tokens([AddedToken("<|end|>", lstrip=True, rstrip=True, special=True)])
    inner.add_special_tokens(
        [AddedToken("<|start|>assistant", special=True), AddedToken("\n<|start|>", special=True)]
    )
    return inner


KINDS: dict[str, Callable[[], Tokenizer]] = {
    "byte-level": _byte_level,
    "byte-level with a space in front": lambda: _byte_level(prefix=True),
    "unigram, space first": lambda: _metaspace("first"),
    "unigram, space always": lambda: _metaspace("always"),
    "BPE over whole pieces": _prepending,
    "special tokens that overlap": _greedy,
}


def chat_tokenizer(kind: str, template: str) -> Any:
    """Return a tokenizer of a kind with a chat template."""
    return PreTrainedTokenizerFast(
        tokenizer_object=KINDS[kind](),
        chat_template=TEMPLATES[template],
        unk_token="<unk>",
        bos_token="<|start|>",
        eos_token="<|end|>",
    )
