"""Draw synthetic respondents, write their answers, and print what these tell about the targets.

    python -m tests.synthesize [--spec FILE] [--respondents N] [--seed S] [--out answers.csv]

The population is a file like `generator.toml` of the shipped `veldania_panel`, which is the default.
Its number of respondents and its seed hold unless others are given.
"""

from __future__ import annotations

import csv
import io
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path

from tests.synthetic import IdealScore, generate, known
from workbench.cli.output import say, table
from workbench.data import SHIPPED_QUESTIONNAIRE, shipped_instrument_folder
from workbench.domain.questionnaires import Respondent
from workbench.synthetic.population import SyntheticPopulation
from workbench.synthetic.spec import read_population
from workbench.whole_folders import whole_file

SPEC = shipped_instrument_folder(SHIPPED_QUESTIONNAIRE) / "generator.toml"
HEADERS = ("target", "n", "yes", "majority", "accuracy", "± chance", "bias ± chance")


def main(words: Sequence[str] | None = None) -> None:
    """Draw the respondents of a command line."""
    parser = ArgumentParser(prog="python -m tests.synthesize")
    parser.add_argument("--spec", type=Path, default=SPEC)
    parser.add_argument("--respondents", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args(words)

    population = read_population(options.spec)
    count = population.respondents if options.respondents is None else options.respondents
    seed = population.seed if options.seed is None else options.seed
    respondents = generate(population, count, seed)
    say(f"{count:,} synthetic respondents, seed {seed}.")
    if options.out is not None:
        with whole_file(options.out) as file:
            file.write(answers_csv(population, respondents))
        say(f"Their answers are in {options.out}.")
    say("Scores of an ideal predictor on these respondents, in %; its bias is 0 except for chance.")
    table(HEADERS, [_row(score) for score in known(population, respondents)])


def answers_csv(population: SyntheticPopulation, respondents: Sequence[Respondent]) -> str:
    """Return an `answers.csv` with a row per respondent and a column per question.

    Cells are empty where there is no answer.
    """
    refs = [item.ref for item in population.items]
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["respondent", *refs])
    for respondent in respondents:
        writer.writerow([respondent.name, *(respondent.answers.get(ref, "") for ref in refs)])
    return text.getvalue()


def _row(score: IdealScore) -> tuple[str, ...]:
    shares = (score.human, score.majority, score.accuracy, score.accuracy_sd)
    bias = f"0 ± {_percent(score.bias_sd)}"
    return (score.target, f"{score.respondents:,}", *map(_percent, shares), bias)


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.1f}"


if __name__ == "__main__":
    main()
