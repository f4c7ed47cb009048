"""What the inference benchmarks ask, and of which networks: the embedded model, and a large random
one on a GPU.
"""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.domain.prompts import Message, Prompt
from workbench.domain.responses import Request
from workbench.domain.statements import ORIGINAL
from workbench.formats.read import read_instrument
from workbench.inference.base import Work
from workbench.inference.engine import SharedEngine, shared_engine
from workbench.inference.local.network import load_network
from workbench.inference.local.text import TextFormat
from workbench.pipeline.design_checks import decided_by

EMBEDDED, SAMPLES = "smollm2", 30
LARGE = {
    "vocab_size": 128_256,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 8192,
}
"the shape of Llama 3.1 8B"
STEM_TOKENS, STATEMENT_TOKENS, STEMS = 70, 25, 12
"of the prompts that the large network is asked: as long, and as much alike, as the published ones"


@dataclass(slots=True)
class Subject:
    """A network, twice, so that neither way of asking touches the other's; and what it is asked."""

    name: str
    engine: SharedEngine
    plain: Any
    "the same weights as transformers computes them"
    work: Work
    stop: frozenset[int]
    format: TextFormat | None
    prompts: list[list[int]]
    requests: list[Request]
    samples: int
    "of each request"
    decided: list[Request]
    "the same requests with the rule that ends an answer; empty where its tokens spell nothing"

    def spell(self, tokens: Any) -> str:
        return self.format.spell(tokens) if self.format else ""

    @property
    def device(self) -> torch.device:
        device: torch.device = self.plain.device
        return device


def embedded(prompts: int, samples: int = SAMPLES, model: str = EMBEDDED) -> Subject:
    """Return SmolLM2 and a job of published templates in both label orders over shipped
    statements.
    """
    loaded = load_network(model)
    stop = frozenset({int(loaded.tokenizer.eos_token_id)})
    plain, form, work = copy.deepcopy(loaded.network), TextFormat(loaded.tokenizer), Work()
    templates = [template for template in shipped_templates() if template.family == "chat"]
    statements = read_instrument("csv", shipped_instrument_folder()).statements
    wordings = [
        w.text
        for w in (statement.wording(ORIGINAL, "en") for statement in statements)
        if w is not None
    ]
    pairs = [(template, wording) for wording in wordings for template in templates][:prompts]
    rendered = [template.render(wording) for template, wording in pairs]
    free = [Request(prompt, samples, seed) for seed, prompt in enumerate(rendered)]
    ruled = [
        Request(prompt, samples, i, decided_by(pairs[i][0])) for i, prompt in enumerate(rendered)
    ]
    return Subject(
        name=f"{Path(model).name} {loaded.dtype}",
        engine=shared_engine(loaded.network, stop, work),
        plain=plain,
        work=work,
        stop=stop,
        format=form,
        prompts=[form.encode(prompt) for prompt in rendered],
        requests=free,
        samples=samples,
        decided=ruled,
    )


@contextmanager
def random_model() -> Iterator[str]:
    """Make a random network of two small layers that reads bytes, for runs that measure nothing;
    give its name.
    """
    from tests.inference.saved_models import save_llama

    with tempfile.TemporaryDirectory() as folder:
        yield save_llama(Path(folder) / "random", chat=True, window=32_768)


def large(prompts: int) -> Subject:
    """Return a random network of the shape of Llama 3.1 8B in bf16 on the GPU, and as many prompts
    of random tokens.

    Its logits are scaled so that at temperature 1 some hundred tokens share a nucleus, and few at
    0.25.
    """
    from transformers import AutoModelForCausalLM, LlamaConfig

    torch.manual_seed(1)
    with torch.device("cuda"):
        network = AutoModelForCausalLM.from_config(
            LlamaConfig(**LARGE), dtype=torch.bfloat16
        ).eval()
    with torch.no_grad():
        network.get_output_embeddings().weight.mul_(3)
    stop, work, rng = frozenset({128_001}), Work(), np.random.default_rng(1)
    stems = rng.integers(1000, 128_000, size=(STEMS, STEM_TOKENS)).tolist()
    statements = rng.integers(1000, 128_000, size=(1 + prompts // STEMS, STATEMENT_TOKENS)).tolist()
    job = [[*stem, *statement] for statement in statements for stem in stems][:prompts]
    nothing = Prompt((Message("user", "tokens"),))
    return Subject(
        name="Llama-8B-shaped bf16",
        plain=copy.deepcopy(network),
        engine=shared_engine(network, stop, work),
        work=work,
        stop=stop,
        format=None,
        prompts=job,
        requests=[Request(nothing, SAMPLES, seed) for seed in range(len(job))],
        samples=SAMPLES,
        decided=[],
    )


def distinct_beginnings(sequences: list[list[int]]) -> int:
    """Return how many tokens have to be computed at least: the nodes of the sequences' tree."""
    nodes, before = 0, list[int]()
    for sequence in sorted(sequences):
        pairs = enumerate(zip(before, sequence, strict=False))
        alike = next((i for i, (a, b) in pairs if a != b), min(len(before), len(sequence)))
        nodes, before = nodes + len(sequence) - alike, sequence
    return nodes


def synchronised(device: torch.device) -> None:
    """Wait until a GPU has done what it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize()
