"""Number formats of local models; free of torch, so that a job with a wrong one is not even started."""

from __future__ import annotations

from workbench.errors import UsageError

DTYPES = ("float32", "bfloat16", "float16")
USUAL = "float32 on a CPU, bfloat16 on a GPU"
"what is taken where none is named"


def check_dtype(model: str, dtype: str) -> None:
    """Raise UsageError where a dtype (empty: the usual one) is unknown, or has no effect on a model of that name."""
    if not dtype:
        return
    if dtype not in DTYPES:
        raise UsageError(f"the dtype {dtype!r} is unknown. Choose {', '.join(DTYPES)}; without one: {USUAL}")
    if model.startswith("openai:"):
        raise UsageError(
            f"{model}: a dtype ({dtype}) has no effect here, because the server has loaded the model; leave it out"
        )
    if model == "scripted" or model.startswith("scripted:"):
        raise UsageError(f"{model}: a dtype ({dtype}) has no effect on a scripted model, which computes nothing")
