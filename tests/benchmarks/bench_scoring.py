"""Exact probabilities of yes and no in Questionnaire Modeling: the shipped questionnaire, put as an
audit puts it, through `LocalModel.next_tokens`. Against one forward pass a prompt, of which a few
are measured and compared.

The bound is the share of tokens that need not be computed again: tokens of all prompts over nodes
of their tree. Times are of the processor, so that programs beside it do not count; on a GPU, which
works while the processor waits, of the clock.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import torch

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parent))

from subjects import distinct_beginnings

from workbench.audits.questionnaire.asking import default_variants, probes
from workbench.data import shipped_instrument_folder, shipped_templates
from workbench.domain.instruments import Instrument
from workbench.domain.prompts import Prompt
from workbench.domain.questionnaires import Contexts, QuestionRole, Survey
from workbench.domain.statements import ORIGINAL, Statement, VariantId, VariantKind, Wording
from workbench.formats.read import read_instrument
from workbench.inference.local.model import LocalModel
from workbench.inference.local.network import load_network
from workbench.inference.local.text import TextFormat

Row = tuple[str, str, str]
INSTRUMENT, MODEL, WORDS, TOP = "veldania_panel", "smollm2", ("yes", "no"), 20
PLAIN_PROMPTS = 3
TINY_SHAPES, TINY_PLAIN_PROMPTS = ((1, 1, 2),), 1
SHAPES = ((1, 1, 16), (1, 7, 50), (4, 7, 1))
"respondents, targets, wordings of each"
FRAMES = ("{}", "Think of this: {}", "Once more: {}", "Consider the following. {}", "And this: {}")
"around the shipped wordings, where more are wanted"


@dataclass(slots=True)
class Measured:
    """One shape of questionnaire, asked both ways."""

    prompts: int
    seconds: float
    plain_seconds: float
    "of one forward pass a prompt, for as many prompts"
    encoding_seconds: float
    "of `seconds`: rendering and tokenising"
    naive: int
    computed: int
    minimum: int
    off: float

    @property
    def ratio(self) -> float:
        return self.plain_seconds / self.seconds

    @property
    def bound(self) -> float:
        return self.naive / self.minimum


@cache
def _instrument() -> Instrument:
    return read_instrument("csv", shipped_instrument_folder(INSTRUMENT))


def reworded(statement: Statement, wordings: int) -> Statement:
    """Return a statement in so many wordings: its own, and these in frames."""
    texts = [w.text for w in statement.wordings if w.language == "en"]
    framed = list(dict.fromkeys(frame.format(text) for frame in FRAMES for text in texts))[
        :wordings
    ]
    assert len(framed) == wordings
    variants = [ORIGINAL, *(VariantId(VariantKind.PARAPHRASE, i) for i in range(1, wordings))]
    return replace(
        statement,
        wordings=tuple(Wording(v, "en", t) for v, t in zip(variants, framed, strict=True)),
    )


def questionnaire(respondents: int, targets: int, wordings: int) -> list[Prompt]:
    """Return the prompts of an audit: the context of each respondent, then each target in each
    wording.
    """
    instrument = _instrument()
    assert instrument.questionnaire is not None
    asked = [question.ref for question in instrument.questionnaire.of_role(QuestionRole.TARGET)]
    whole = _of_those_who_answered_all(instrument.questionnaire, asked)
    chosen = set(asked[:targets])
    statements = [
        reworded(s, wordings) if s.ref in chosen else s
        for s in instrument.statements
        if s.ref in chosen or s.ref not in asked
    ]
    variants = default_variants([w.variant for s in statements for w in s.wordings])
    survey = Survey(whole, Contexts(respondents=respondents, every=1))
    templates = [t for t in shipped_templates("questionnaire") if t.family == "qm"]
    found = [
        p.prompt
        for p in probes(
            statements, templates, tuple(dict.fromkeys(variants)), "en", material=survey
        )
    ]
    assert len(found) == respondents * targets * wordings
    return found


def _of_those_who_answered_all(questionnaire: Any, refs: Sequence[str]) -> Any:
    meanings = [
        questionnaire.meanings(q)
        for q in questionnaire.of_role(QuestionRole.TARGET)
        if q.ref in refs
    ]
    everyone = enumerate(questionnaire.respondents)
    kept = tuple(r for i, r in everyone if all(of[i] in ("yes", "no") for of in meanings))
    return replace(questionnaire, respondents=kept)


@cache
def _subject() -> tuple[LocalModel, Any]:
    """Return the embedded model, and its network as transformers computes it."""
    return LocalModel(load_network(MODEL)), load_network(MODEL).network


@torch.inference_mode()
def _plain(network: Any, ids: list[int], yes: list[int], no: list[int]) -> float:
    """Return p(yes) by one forward pass."""
    logits = network(
        input_ids=torch.tensor([ids], device=network.device), use_cache=False, logits_to_keep=1
    ).logits
    chances = torch.softmax(logits[0, -1].float(), dim=-1).cpu()
    return _share(float(chances[yes].sum()), float(chances[no].sum()))


def _share(yes: float, no: float) -> float:
    return yes / (yes + no)


def compared(respondents: int, targets: int, wordings: int, plain_prompts: int) -> Measured:
    """Ask one shape of questionnaire both ways."""
    prompts = questionnaire(respondents, targets, wordings)
    model, network = _subject()
    yes, no = model._spelled.sets(WORDS)
    clock = time.perf_counter if network.device.type == "cuda" else time.process_time
    before = model.work.prompt_tokens_computed
    started = clock()
    found = {table.prompt: table.words for table in model.next_tokens(prompts, TOP, WORDS)}
    seconds = clock() - started
    computed = model.work.prompt_tokens_computed - before
    fresh = TextFormat(model._format._tokenizer)
    started = time.process_time()
    ids = [fresh.encode(prompt) for prompt in prompts]
    encoding = time.process_time() - started
    chosen = [i * len(prompts) // plain_prompts for i in range(plain_prompts)]
    started = clock()
    expected = [_plain(network, ids[i], yes, no) for i in chosen]
    plain = (clock() - started) / len(chosen) * len(prompts)
    words = [found[i] or {} for i in chosen]
    off = max(abs(_share(w["yes"], w["no"]) - p) for w, p in zip(words, expected, strict=True))
    return Measured(
        len(prompts),
        seconds,
        plain,
        encoding,
        sum(map(len, ids)),
        computed,
        distinct_beginnings(ids),
        off,
    )


def rows(respondents: int, targets: int, wordings: int, plain_prompts: int) -> list[Row]:
    """Return the rows of one shape."""
    m = compared(respondents, targets, wordings, plain_prompts)
    what = (
        f"questionnaire, {MODEL}: {respondents} x {targets} x {wordings} (respondents, "
        "targets, wordings)"
    )
    tokens = f"{m.naive:,} naive, {m.computed:,} computed, {m.minimum:,} at least"
    return [
        (
            what,
            f"{m.prompts / m.seconds:.2f} prompts/s",
            f"{m.ratio:.1f}x one forward pass a prompt",
        ),
        (
            f"{what}: of tokens naive / minimum",
            f"{m.ratio / m.bound:.2f}",
            f"{m.bound:.1f}x is the bound; {tokens}",
        ),
        (f"{what}: largest difference of p(yes)", f"{m.off:.1e}", ""),
        (
            f"{what}: rendering and tokenising",
            f"{1e3 * m.encoding_seconds / m.prompts:.1f} ms a prompt",
            "",
        ),
    ]


def main(*, tiny: bool = False) -> list[Row]:
    """Return rows of the benchmark table: what, measured, against one forward pass a prompt."""
    shapes, plain_prompts = (TINY_SHAPES, TINY_PLAIN_PROMPTS) if tiny else (SHAPES, PLAIN_PROMPTS)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # waiting threads spin, and would count as time of the processor
    try:
        return [row for shape in shapes for row in rows(*shape, plain_prompts)]
    finally:
        torch.set_num_threads(threads)


if __name__ == "__main__":
    for row in main():
        print(" | ".join(row))
