"""Sampling with the embedded model, against the published way: one prompt at a time, `model.generate` with 30 returned
sequences. Shown for the published temperature and for a low one, as a strong instruct model's answers are distributed.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))

from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.domain.responses import Request, Sampling
from workbench.domain.statements import ORIGINAL
from workbench.formats.read import read_instrument
from workbench.inference.load import load
from workbench.inference.local import LocalModel

PROMPTS, BASELINE_PROMPTS, SAMPLES = 16, 2, 30


def requests() -> list[Request]:
    """Return prompts of one published template over the first statements."""
    template = next(t for t in shipped_templates() if (t.name, t.family) == ("personal-2", "chat"))
    statements = read_instrument("csv", shipped_instrument_folder()).statements[:PROMPTS]
    wordings = [statement.wording(ORIGINAL, "en") for statement in statements]
    return [Request(template.render(w.text), SAMPLES, seed) for seed, w in enumerate(wordings) if w is not None]


def ours(model: LocalModel, asked: list[Request], sampling: Sampling) -> float:
    """Return answers a second."""
    started = time.perf_counter()
    answers = sum(count for drawn in model.generate(asked, sampling) for _, count in drawn.answers)
    return answers / (time.perf_counter() - started)


def published(model: LocalModel, asked: list[Request], sampling: Sampling) -> float:
    """Return answers a second of the authors' loop."""
    network = model._model
    implementation = network.config._attn_implementation
    network.set_attn_implementation("sdpa")
    started = time.perf_counter()
    for request in asked:
        ids = torch.tensor([model.encode(request.prompt)], device=network.device)
        with torch.inference_mode():
            network.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                do_sample=True,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                top_k=0,
                max_new_tokens=sampling.max_new_tokens,
                num_return_sequences=SAMPLES,
                pad_token_id=network.generation_config.eos_token_id,
            )
    seconds = time.perf_counter() - started
    network.set_attn_implementation(implementation)
    return len(asked) * SAMPLES / seconds


def main() -> list[tuple[str, str, str]]:
    """Return rows of the benchmark table: what, measured, against the published loop."""
    model = load("smollm2")
    assert isinstance(model, LocalModel)
    asked, rows = requests(), []
    for temperature in (1.0, 0.25):
        sampling = Sampling(temperature=temperature)
        fast, plain = ours(model, asked, sampling), published(model, asked[:BASELINE_PROMPTS], sampling)
        rows.append(
            (f"sampling smollm2, T {temperature:g}, 30 a prompt", f"{fast:.1f} answers/s", f"{fast / plain:.1f}x")
        )
    return rows


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
