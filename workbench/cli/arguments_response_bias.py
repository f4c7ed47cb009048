"""The arguments of `verdicts`, and of `run`, that only the audit of response biases has."""

from __future__ import annotations

import argparse

DEFINITIONS = ("corrected", "paper", "all_keys", "head")
"names of `audits.response_bias_deltas.Definition` as they are typed"
HOLM = ("none", "biases", "all")
ENTROPY = ("offered", "csv")
BARE = 0
"`--draws` without a number"


def response_bias_options(command: argparse.ArgumentParser) -> None:
    """Add what only response biases have."""
    group = command.add_argument_group(
        "response_bias",
        "do changes of a question that move people move a model? --model takes several, with commas between; "
        "without a view the models x biases matrix is shown; --json has every figure, --csv and --parquet every "
        "question as well",
    )
    group.add_argument("--definition", type=_joined, choices=DEFINITIONS, help="of a change (default: corrected)")
    group.add_argument("--alpha", type=float, metavar="P", help="a p below this is significant (default: 0.05)")
    group.add_argument(
        "--holm", choices=HOLM, help="whose p Holm's procedure adjusts: nobody's (default), a model's biases, or all"
    )
    group.add_argument(
        "--entropy", choices=ENTROPY, help="by the options really offered (default), or as in the published files"
    )
    group.add_argument("--bias", metavar="B,…", help="only these: acquiescence, odd_even, acquiescence-reword, …")
    group.add_argument("--cells", action="store_true", help="view: mean, interval, t, p and entropy of every cell")
    group.add_argument("--topics", action="store_true", help="view: change by topic")
    group.add_argument("--questions", metavar="BIAS", help="view: questions of this bias, the largest change first")
    group.add_argument("--question", metavar="KEY", help="view: the answers to both forms of a question, by key or ref")
    group.add_argument(
        "--draw", type=int, metavar="N", help="--question: this draw of the perturbation (default: first)"
    )
    group.add_argument("--validity", action="store_true", help="view: how often answers were offered letters")
    group.add_argument("--people", action="store_true", help="view: likeness to people's answers, where known")
    group.add_argument("--compare", nargs=2, metavar=("A", "B"), help="view: two models, or ways of asking, paired")


def _joined(text: str) -> str:
    """Return a name as it is typed: `all keys` and `all-keys` are `all_keys`."""
    return text.strip().lower().replace("-", "_").replace(" ", "_")


def shared_options(command: argparse.ArgumentParser) -> None:
    """Add what questionnaires and response biases have and reliability has not."""
    group = command.add_argument_group("questionnaire and response_bias")
    group.add_argument(
        "--condition",
        metavar="NAME,…",
        help="questionnaire: qm (default), zero-shot, random, permuted-kept-1, …; permuted, reduced and all stand for "
        "several. response_bias: bias, key_typo, middle_random, letter_swap (default: all; of --questions bias)",
    )
    group.add_argument(
        "--draws",
        type=int,
        nargs="?",
        const=BARE,
        metavar="N",
        help="questionnaire: of the bootstrap, 100 to 100000 (default: 10000). response_bias, without a number: view: "
        "every draw of the perturbations",
    )


def run_options(run: argparse.ArgumentParser) -> None:
    """Add what multiple-choice questions are asked with."""
    run.add_argument(
        "--tries",
        type=int,
        metavar="N",
        help="response_bias: answers that are no offered letter are drawn again, at most N x samples a prompt in all "
        "(default: 20)",
    )
    run.add_argument("--bias", metavar="B,…", help="response_bias: only questions of these biases: odd_even, …")
