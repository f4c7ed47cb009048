"""The command that draws synthetic respondents: material for power analyses, and for trying an audit out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from workbench.cli.output import print_json, say, table, whole_file
from workbench.cli.verbs import Namespace, verb
from workbench.options.option import Option, Type
from workbench.options.shared import JSON, SEED
from workbench.synthetic.spec import MOST

if TYPE_CHECKING:
    from workbench.synthetic.population import Known


@verb(
    Option("spec", "the population", Type.PATH, none="the population of the shipped veldania_panel"),
    Option("respondents", "their number", Type.WHOLE, none="as in the population", least=1, most=MOST),
    SEED.but(help="seed of the draw", default=None, none="as in the population"),
    Option("out", "write their answers as the answers.csv of an instrument", Type.PATH),
    JSON,
)
def synthesize(options: Namespace) -> int:
    """Draw respondents, write their answers, and say what can be known of the targets from the rest."""
    from workbench.data import SHIPPED_QUESTIONNAIRE, shipped_instrument_folder
    from workbench.synthetic.population import generate, known
    from workbench.synthetic.spec import answers_csv, read_population

    spec = options.spec or shipped_instrument_folder(SHIPPED_QUESTIONNAIRE) / "generator.toml"
    population = read_population(spec)
    count = population.respondents if options.respondents is None else options.respondents
    seed = population.seed if options.seed is None else options.seed
    respondents = generate(population, count, seed)
    if options.out is not None:
        with whole_file(options.out) as file:
            file.write(answers_csv(population, respondents))
    figures = known(population, respondents)
    if options.json:
        out = None if options.out is None else str(options.out)
        print_json({"spec": str(spec), "seed": seed, "respondents": count, "out": out, "known": figures})
        return 0
    where = f"; their answers are in {options.out}" if options.out else ""
    say(f"{count:,} synthetic respondents, seed {seed}{where}.")
    _show(figures)
    return 0


def _show(figures: tuple[Known, ...]) -> None:
    say("Scores of an ideal predictor on these respondents, in %; its bias is 0 except for chance.")
    table(
        ["target", "n", "yes", "majority", "accuracy", "± chance", "bias ± chance"],
        [
            (k.target, f"{k.respondents:,}", *(_percent(x) for x in (k.human, k.majority, k.accuracy, k.accuracy_sd)),
             f"0 ± {_percent(k.bias_sd)}")
            for k in figures
        ],
    )  # fmt: skip


def _percent(share: float) -> str:
    return "–" if share != share else f"{100 * share:.1f}"
