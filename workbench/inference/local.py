"""Models that run here, through torch and transformers: any hub id or folder, GGUF files, the embedded SmolLM2."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
import torch
import transformers
from numpy.typing import NDArray
from transformers import AutoModelForCausalLM, AutoTokenizer

from workbench.domain.prompts import Prompt
from workbench.domain.responses import Drawn, ModelCard, Request, Sampling
from workbench.errors import ModelError
from workbench.inference.base import Work
from workbench.inference.embedded import locate
from workbench.inference.engine import ATTENTION, CPU_ROWS, CPU_TOKENS, GPU_ROWS, GPU_TOKENS, Engine, can_share

MARK = "\ue000{}\ue001"
"stands for a message while the chat template is put around it"


def load_local(name: str, device: str | None = None) -> LocalModel:
    """Load a model: bf16 on a GPU, fp32 on a CPU. Raises ModelError saying what was tried."""
    _quiet()
    source = locate(name)
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    dtype = torch.bfloat16 if device.startswith("cuda") else torch.float32
    try:
        tokenizer = AutoTokenizer.from_pretrained(source.place)
        model = AutoModelForCausalLM.from_pretrained(source.place, dtype=dtype, use_safetensors=True)
    except (OSError, ValueError, KeyError, ImportError) as error:
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        raise ModelError(
            f"{name}: no model could be loaded. Tried it as an embedded model, a GGUF file, a folder and a hub id "
            f"(safetensors only); transformers says: {reason}"
        ) from error
    return LocalModel(name, tokenizer, model.to(device).eval(), source.revision)


def _quiet() -> None:
    """Keep progress bars and advice out of the job's log; what goes wrong is raised."""
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)


class LocalModel:
    """A causal language model of transformers."""

    def __init__(self, name: str, tokenizer: Any, model: Any, revision: str | None):
        self._tokenizer, self._model = tokenizer, model
        self._work = Work()
        self._merge_system = False
        share = can_share(model.config)
        if share:
            model.set_attn_implementation(ATTENTION)
        on_gpu = model.device.type == "cuda"
        self._usual_rows = GPU_ROWS if on_gpu else CPU_ROWS
        self._engine = Engine(
            model,
            _stop_tokens(model, tokenizer),
            self._work,
            share,
            GPU_ROWS if on_gpu else CPU_ROWS,
            GPU_TOKENS if on_gpu else CPU_TOKENS,
        )
        commit = getattr(model.config, "_commit_hash", None)
        self._card = ModelCard(
            name=name,
            revision=revision or commit or "unknown",
            backend="transformers",
            dtype=str(model.dtype).removeprefix("torch."),
            chat_format=self._chat_format(),
        )

    @property
    def card(self) -> ModelCard:
        return self._card

    @property
    def work(self) -> Work:
        return self._work

    def generate(self, requests: Sequence[Request], sampling: Sampling) -> Iterator[Drawn]:
        prompts = [self.encode(request.prompt) for request in requests]
        for group in self._engine.sample(prompts, requests, sampling):
            for left, (position, answers) in enumerate(group, start=1 - len(group)):
                yield Drawn(position, self._texts(answers), more=left < 0)

    def _texts(self, answers: dict[tuple[int, ...], int]) -> tuple[tuple[str, int], ...]:
        """Return answers by their text: different tokens may spell the same one."""
        texts: dict[str, int] = {}
        for tokens, count in answers.items():
            text = self._tokenizer.decode(list(tokens), skip_special_tokens=True)
            texts[text] = texts.get(text, 0) + count
        return tuple(sorted(texts.items(), key=lambda item: (-item[1], item[0])))

    @torch.inference_mode()
    def score(self, prompts: Sequence[Prompt], options: Sequence[Sequence[str]]) -> list[NDArray[np.float64]]:
        scores = []
        for prompt, choices in zip(prompts, options, strict=True):
            ids = self.encode(prompt)
            ends = [self._tokenizer(choice, add_special_tokens=False).input_ids for choice in choices]
            if not all(ends):
                raise ModelError(f"an option of {list(choices)!r} has no token; give every option some text")
            scores.append(self._score(ids, ends))
        return scores

    def _score(self, prompt: list[int], ends: list[list[int]]) -> NDArray[np.float64]:
        """Sum the log-probabilities of each continuation; the prompt is computed once."""
        device, longest = self._model.device, max(map(len, ends))
        cache, _, logits = self._engine.prefill([prompt])
        cache.batch_repeat_interleave(len(ends))
        tokens = torch.zeros(len(ends), longest, dtype=torch.long, device=device)
        for i, end in enumerate(ends):
            tokens[i, : len(end)] = torch.tensor(end, device=device)
        places = torch.arange(len(prompt), len(prompt) + longest, device=device)[None].expand(len(ends), -1)
        later = self._model(input_ids=tokens, position_ids=places, past_key_values=cache, use_cache=True).logits
        every = torch.cat([logits[:, None].expand(len(ends), 1, -1), later[:, :-1]], dim=1).float()
        log = torch.log_softmax(every, dim=-1).gather(-1, tokens[..., None])[..., 0].double()
        return np.array([float(log[i, : len(end)].sum()) for i, end in enumerate(ends)])

    def at_once(self, most: int | None) -> None:
        """Bound the rows of a batch, from the next one on; a prompt's own samples stay together."""
        self._engine.max_rows = self._usual_rows if most is None else most

    def close(self) -> None:
        self._model = self._engine.model = None
        if torch.cuda.is_available():
            torch.cuda.empty_cache()

    def encode(self, prompt: Prompt) -> list[int]:
        """Return the tokens of a prompt in the model's chat format; special tokens only where the format has them.

        Text of a message that spells a special token (`<|im_end|>`) is tokenised as the characters that it is.
        """
        tokenizer = self._tokenizer
        if not prompt.chat or not tokenizer.chat_template:
            text = "\n\n".join(message.content for message in prompt.messages)
            hostile = self._special_in(text)
            return list(tokenizer(text, split_special_tokens=hostile).input_ids)
        messages = self._turns(prompt)
        if not any(self._special_in(message["content"]) for message in messages):
            text = tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
            return list(tokenizer(text, add_special_tokens=False).input_ids)
        marked = [{"role": m["role"], "content": MARK.format(i)} for i, m in enumerate(messages)]
        frame = tokenizer.apply_chat_template(marked, tokenize=False, add_generation_prompt=True)
        ids: list[int] = []
        for i, message in enumerate(messages):
            before, _, frame = frame.partition(MARK.format(i))
            ids += tokenizer(before, add_special_tokens=False).input_ids
            ids += tokenizer(message["content"], add_special_tokens=False, split_special_tokens=True).input_ids
        return ids + list(tokenizer(frame, add_special_tokens=False).input_ids)

    def _turns(self, prompt: Prompt) -> list[dict[str, str]]:
        turns = [{"role": m.role, "content": m.content} for m in prompt.messages]
        if self._merge_system and len(turns) > 1 and turns[0]["role"] == "system":
            first, second, *rest = turns
            return [{"role": second["role"], "content": f"{first['content']}\n\n{second['content']}"}, *rest]
        return turns

    def _special_in(self, text: str) -> bool:
        return any(token in text for token in self._tokenizer.all_special_tokens)

    def _chat_format(self) -> str:
        """Return a hash of the chat template, noting whether the system turn has to be part of the user's."""
        template = self._tokenizer.chat_template
        if not template:
            return "none"
        probe = [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}]
        try:
            self._tokenizer.apply_chat_template(probe, tokenize=False, add_generation_prompt=True)
        except Exception:  # templates raise Jinja errors of their own where they know no system role
            self._merge_system = True
        digest = blake2b(str(template).encode(), digest_size=8).hexdigest()
        return digest + ("+system-merged" if self._merge_system else "")


def _stop_tokens(model: Any, tokenizer: Any) -> frozenset[int]:
    """Return every token that ends an answer."""
    found: set[int] = set()
    for value in (model.generation_config.eos_token_id, tokenizer.eos_token_id):
        if value is not None:
            found |= set(value) if isinstance(value, list | tuple) else {int(value)}
    return frozenset(found)
