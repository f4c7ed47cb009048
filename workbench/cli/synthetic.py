"""The command that draws synthetic respondents: material for power analyses, and for trying an audit out."""

from __future__ import annotations

from argparse import Namespace
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import print_json, say, table
from workbench.errors import UsageError

if TYPE_CHECKING:
    from workbench.synthetic.population import Known


def synthesize(options: Namespace) -> int:
    """Draw respondents, write their answers, and say what can be known of the targets from the rest."""
    from workbench.data import SHIPPED_QUESTIONNAIRE, shipped_instrument_folder
    from workbench.synthetic.population import generate, known
    from workbench.synthetic.spec import MOST, answers_csv, read_population

    spec = options.spec or shipped_instrument_folder(SHIPPED_QUESTIONNAIRE) / "generator.toml"
    population = read_population(spec)
    count = population.respondents if options.respondents is None else options.respondents
    seed = population.seed if options.seed is None else options.seed
    if not 1 <= count <= MOST:
        raise UsageError(f"{count:,} respondents were asked for; ask for 1 to {MOST:,}")
    if seed < 0:
        raise UsageError(f"found the seed {seed}; give 0 or more")
    respondents = generate(population, count, seed)
    if options.out is not None:
        _write(options.out, answers_csv(population, respondents))
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
    say("What an ideal predictor reaches on them, in %; its bias is 0 but for chance.")
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


def _write(path: Path, text: str) -> None:
    """Write a file whole, or not at all."""
    if path.exists():
        raise UsageError(f"{path} exists already; choose another name")
    made = path.with_name(path.name + ".part")
    try:
        made.write_text(text, encoding="utf-8", newline="")
        made.rename(path)
    except OSError as error:
        raise UsageError(f"{path}: cannot be written ({error.strerror})") from error
    finally:
        with suppress(OSError):
            made.unlink()
