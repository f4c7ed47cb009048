"""What the numbers of the screens of response biases mean, for `?`."""

from __future__ import annotations

from collections.abc import Mapping

from workbench.help.sections import section

DEFINITION_WORDS: Mapping[str, str] = {
    "corrected": "valid answers, every question that fits; human-like above 0",
    "paper": "as printed: 50 questions per typo; allow/forbid human-like below 0",
    "all keys": "as printed, but all questions; allow/forbid human-like below 0",
    "head": "authors' last code: without 8 allow/forbid; human-like above 0",
}
"what every figure on the screen rests on, in one line of a small terminal"

BIASES = section("screens-results", "Response biases: the matrix")

KEYS = """f definition · p adjustment of p for multiple tests (Holm) · a alpha · e entropy · y rows of the \
typos. B compares models. v shows all details of a row."""

QUESTION = f"{section('screens-results', 'Two forms of a question')}\n\n{BIASES}"

FORM = section("screens-results", "One form of a question")


def definitions_said() -> str:
    """Return what each definition of a change is, a line each."""
    from workbench.audits.response_bias.words import DEFINITIONS

    return "\n".join(f"{name:<10} {words}." for name, words in DEFINITIONS.items())
