"""Commands about the left/right bias."""

from __future__ import annotations

from workbench.audits.bias_score.options import FIGURE_OPTIONS, SIDES_OPTIONS
from workbench.cli.figures import FIGURES
from workbench.cli.output import say
from workbench.cli.verbs import Namespace, verb
from workbench.options.shared import METHODS, STORE


@verb(STORE, FIGURE_OPTIONS, METHODS, FIGURES)
def bias(options: Namespace) -> int:
    """Print or write the bias of every model, and what else was asked for."""
    from stores.core.store import Store
    from workbench.audits.bias_score import AUDIT
    from workbench.audits.bias_score.printed import bias as printed
    from workbench.cli.figures import medium, print_out
    from workbench.pipeline.plans import with_plans

    with Store.open(options.store) as store:
        found = with_plans(store, AUDIT, options, printed(store, options, medium(options)), medium(options))
    if options.methods and not options.json:
        say(found.methods)
        return 0
    print_out(options, found)
    return 0


@verb(STORE, SIDES_OPTIONS, FIGURES)
def sides(options: Namespace) -> int:
    """Print or write what a model said of the statements' sides, and its kappa with people and with the instrument."""
    from stores.core.store import Store
    from workbench.audits.bias_score.printed import sides as printed
    from workbench.cli.figures import print_out

    with Store.open(options.store) as store:
        found = printed(store, options)
    print_out(options, found)
    return 0
