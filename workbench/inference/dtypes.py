"""Number formats of local models, without torch, so that an invalid one is rejected before a job starts."""

from __future__ import annotations

from importlib.util import find_spec

from workbench.errors import MissingPackage, UsageError

QUANTISED = {"int8": 1.0, "nf4": 0.5625}
"""bytes per weight of a linear layer if weights are quantised on loading, by bitsandbytes: LLM.int8(), and
4-bit NormalFloat with an absolute maximum for each 64 of them; other layers are not quantised"""
DTYPES = ("float32", "bfloat16", "float16", *QUANTISED)
USUAL = "float32 on a CPU, bfloat16 on a GPU"
"the default"


def check_dtype(model: str, dtype: str) -> None:
    """Raise UsageError if a dtype (empty: the usual one) is unknown, or has no effect on a model of that name."""
    if not dtype:
        return
    if dtype not in DTYPES:
        raise UsageError(f"the dtype {dtype!r} is unknown. Choose {', '.join(DTYPES)}; without one: {USUAL}")
    if dtype in QUANTISED and find_spec("bitsandbytes") is None:
        raise MissingPackage(
            f"{model}: {dtype} weights need bitsandbytes, which is not installed here: "
            "pip install 'llm-audit-workbench[local,quantised]'"
        )
    if model.startswith(("openai:", "vllm:")):
        raise UsageError(
            f"{model}: a dtype ({dtype}) has no effect here, because the server has loaded the model; leave it out"
        )
    if model == "scripted" or model.startswith("scripted:"):
        raise UsageError(f"{model}: a dtype ({dtype}) has no effect on a scripted model, which computes nothing")
