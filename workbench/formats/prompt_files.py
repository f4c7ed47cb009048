"""Writes the prompts of a design as files for other programs, which then ask exactly the same.

The files are an OpenAI batch, a task for Inspect, a task for lm-evaluation-harness, or a table. The
logs that these programs write can be imported (`answer_logs`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from workbench.csv_files import csv_text, guarded
from workbench.domain.prompts import Probe, Prompt
from workbench.domain.responses import Sampling
from workbench.errors import UsageError

PROMPTS = "prompts.jsonl"
DIGITS = 16
"the number of hexadecimal digits that tell prompts apart"
Files = Mapping[str, str]
"file name -> text"


def about(probe: Probe) -> dict[str, str]:
    """Return what a prompt is about, under the names by which imported answers state it.

    A `key` is added for probes that have further axes, such as the order of the options or the
    person asked. It tells apart prompts whose other fields are the same.
    """
    order = "swapped" if probe.inverted else "printed"
    fields = {
        "ref": probe.statement,
        "variant": probe.variant,
        "template": probe.template,
        "order": order,
    }
    return {**fields, "key": key_of(probe.prompt)} if probe.axes else fields


def key_of(prompt: Prompt) -> str:
    """Return the first digits of a prompt's key, which tell it from prompts with another text."""
    return prompt.key.hex()[:DIGITS]


def _messages(probe: Probe) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in probe.prompt.messages]


def _lines(rows: Iterator[Mapping[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _table(probes: Sequence[Probe], model: str, sampling: Sampling, samples: int) -> Files:  # noqa: ARG001
    names = tuple(dict.fromkeys(name for probe in probes for name in about(probe)))
    rows = []
    for probe in probes:
        turns = {message.role: message.content for message in probe.prompt.messages}
        if len(turns) < len(probe.prompt.messages):
            raise UsageError(
                "a table has no place for a conversation of several turns; choose openai-batch "
                "or inspect"
            )
        fields = about(probe)
        cells = (*(fields.get(name, "") for name in names), turns.get("system", ""), turns["user"])
        rows.append([guarded(cell) for cell in cells])
    return {"prompts.csv": csv_text((*names, "system", "prompt"), rows)}


def _openai(probes: Sequence[Probe], model: str, sampling: Sampling, samples: int) -> Files:
    numbers = {
        "temperature": sampling.temperature,
        "top_p": sampling.top_p,
        "max_tokens": sampling.max_new_tokens,
    }

    def line(probe: Probe) -> dict[str, Any]:
        content = (
            {"messages": _messages(probe)}
            if probe.prompt.chat
            else {"prompt": probe.prompt.messages[-1].content}
        )
        url = "/v1/chat/completions" if probe.prompt.chat else "/v1/completions"
        body = {"model": model, **content, **numbers, "n": samples}
        return {
            "custom_id": "|".join(about(probe).values()),
            "method": "POST",
            "url": url,
            "body": body,
        }

    return {"batch.jsonl": _lines(map(line, probes))}


_INSPECT = '''"""Run: inspect eval task.py --model PROVIDER/NAME; then: workbench import STORE logs/FILE.eval"""

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
from inspect_ai.model import GenerateConfig
from inspect_ai.solver import generate


@task
def prompts():
    return Task(
        dataset=json_dataset("{file}"),
        solver=[generate()],
        epochs={samples},
        config=GenerateConfig(temperature={temperature}, top_p={top_p}, max_tokens={tokens}),
    )
'''  # noqa: E501


def _inspect(probes: Sequence[Probe], model: str, sampling: Sampling, samples: int) -> Files:  # noqa: ARG001
    rows = ({"input": _messages(probe), "target": "", "metadata": about(probe)} for probe in probes)
    task = _INSPECT.format(
        file=PROMPTS,
        samples=samples,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        tokens=sampling.max_new_tokens,
    )
    return {PROMPTS: _lines(rows), "task.py": task}


_HARNESS = """# Run: lm_eval --model … --tasks workbench_prompts --include_path . --log_samples --output_path out
# then: workbench import STORE out/…/samples_workbench_prompts_….jsonl
task: workbench_prompts
dataset_path: json
dataset_kwargs:
  data_files:
    test: {file}
test_split: test
output_type: generate_until
doc_to_text: "{{{{prompt}}}}"
doc_to_target: ""
repeats: {samples}
generation_kwargs:
  do_sample: true
  temperature: {temperature}
  top_p: {top_p}
  max_gen_toks: {tokens}
  until: []
metric_list:
  - metric: bypass
"""  # noqa: E501


def _harness(probes: Sequence[Probe], model: str, sampling: Sampling, samples: int) -> Files:  # noqa: ARG001
    if any(len(probe.prompt.messages) > 1 for probe in probes):
        raise UsageError(
            "lm-evaluation-harness sends one text for each prompt, and these templates have a "
            "system turn; choose a family of one turn (--family user), or another layout"
        )
    rows = ({"prompt": probe.prompt.messages[0].content, **about(probe)} for probe in probes)
    task = _HARNESS.format(
        file=PROMPTS,
        samples=samples,
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        tokens=sampling.max_new_tokens,
    )
    return {PROMPTS: _lines(rows), "workbench_prompts.yaml": task}


_WRITERS: Mapping[str, Callable[[Sequence[Probe], str, Sampling, int], Files]] = {
    "csv": _table,
    "openai-batch": _openai,
    "inspect": _inspect,
    "lm-eval": _harness,
}
LAYOUTS = tuple(_WRITERS)


def prompt_files(
    layout: str, probes: Sequence[Probe], model: str, sampling: Sampling, samples: int
) -> Files:
    """Return the files of a layout, which ask each distinct prompt `samples` times.

    A prompt that occurs several times is in them once.

    Raises UsageError for prompts that the layout has no place for.
    """
    distinct = {probe.prompt.key: probe for probe in reversed(probes)}
    return _WRITERS[layout](tuple(reversed(distinct.values())), model, sampling, samples)
