"""People who answer an instrument themselves: the survey, and its stored answers."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.cli.output import (
    FIGURES,
    no_figures,
    print_json,
    put_out,
    say,
    tell,
)
from workbench.cli.verbs import Namespace, verb
from workbench.domain.names import listed_words, plural
from workbench.errors import UnknownName, UsageError
from workbench.options.option import Option, Section, Type, flag
from workbench.options.shared import INSTRUMENT, LANGUAGE, SEED, STORE
from workbench.whole_folders import whole_file

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.annotation.survey import SurveyDesign


@verb(
    STORE,
    INSTRUMENT,
    Option("respondent", "your name or pseudonym", none="prompted", metavar="P"),
    LANGUAGE,
    Option("statements", "number of statements drawn; the paper has 50", Type.WHOLE, 50, least=1),
    Option(
        "variants",
        "kinds, one wording of each; paraphrase-2; or all",
        none="original,paraphrase,negation,opposite",
        metavar="V,…",
    ),
    SEED.of("the choice of wordings: people with the same seed get the same"),
    Section(
        "Stored answers, one act at a time",
        (
            flag("list_", "list how many each person answered, and stop"),
            Option("import_", "add the answers of a survey.csv", Type.PATH),
            Option("export", "write the answers as a survey.csv", Type.PATH),
        ),
        one_of=True,
    ),
    FIGURES,
)
def survey(options: Namespace) -> int:
    """Open the terminal at the survey, or list, import or export answers."""
    if options.list_:
        return _list(options)
    no_figures(options)
    if options.import_ is not None:
        return _import(options)
    if options.export is not None:
        return _export(options)
    if options.json:
        raise UsageError("answering prints no figures; --json needs --list, --import or --export")
    return _answer(options)


def _answer(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.domain.names import person_name
    from workbench.pipeline.surveys import n_further_wordings

    design = _design(options)
    name = None if options.respondent is None else person_name(options.respondent, "respondent")
    with Store.open(options.store) as store:
        instrument = _instrument(store, options.instrument)
        if not store.surveys.sessions(instrument) and not n_further_wordings(
            store, instrument, "", design
        ):
            raise UsageError(
                f"{instrument} has no statement with an original and one of these variants to ask"
                + (f" in {design.language!r}" if design.language else "")
            )
    if not sys.stdout.isatty():
        raise UsageError("answering needs a terminal; to import answers: workbench survey --import")
    from workbench.tui.app import run_app

    return run_app(options.store, start="statements", survey=(instrument, design, name))


def _design(options: Namespace) -> SurveyDesign:
    from workbench.annotation.survey import PUBLISHED, SurveyDesign

    design = SurveyDesign(
        statements=options.statements,
        variants=listed_words(options.variants) or PUBLISHED,
        seed=options.seed,
        language=options.language or "",
    )
    design.check()
    return design


def _instrument(store: Store, name: str | None) -> str:
    """Return the named instrument, or the only one.

    Raises UsageError if there are several, UnknownName if there is none.
    """
    names = store.instruments.names()
    if name is not None and name not in names:
        raise UnknownName(
            f"the store has no instrument {name!r}. Available: {', '.join(names) or 'none'}"
        )
    if name is None and len(names) > 1:
        raise UsageError(
            f"the store has several instruments; name one with --instrument: {', '.join(names)}"
        )
    if not names:
        raise UnknownName(
            "the store has no instrument yet; import one with: workbench import STORE --format "
            "csv PATH"
        )
    return name or names[0]


def _list(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.pipeline.surveys import respondents

    with Store.open(options.store) as store:
        lines = store.surveys.respondents(options.instrument)
    respondents_table = respondents(lines, "workbench survey STORE")
    put_out(
        options,
        [respondents_table],
        {"instrument": options.instrument},
        title="People who answered",
    )
    return 0


def _import(options: Namespace) -> int:
    from stores.core.store import Store
    from workbench.formats.people import read_survey
    from workbench.formats.records import Findings

    path: Path = options.import_
    if not path.is_file():
        raise UsageError(
            f"{path}: no such file; give a CSV with respondent, ref, variant and answer"
        )
    with Store.open(options.store) as store:
        instrument = _instrument(store, options.instrument)
        findings = Findings()
        answers = read_survey(path, store.instruments.get(instrument).statements, findings)
        findings.check()
        if not answers:
            raise UsageError(f"{path} has no answers; nothing was changed")
        result = store.surveys.add(instrument, answers)
    if options.json:
        print_json(result)
        return 0
    n_people = len(result.respondents)
    say(
        f"{result.added:,} answers of {plural(n_people, 'respondent')} added to {instrument}, "
        f"{result.changed:,} changed, {result.known:,} stored already"
    )
    return 0


def _export(options: Namespace) -> int:
    """Write the answers to the current statements to a file: whole, or not at all."""
    from stores.core.store import Store
    from workbench.domain.instruments import Instrument
    from workbench.formats.native import csv_files

    path: Path = options.export
    if path.suffix != ".csv":
        raise UsageError(f"{path}: give a name that ends in .csv")
    with Store.open(options.store) as store:
        instrument = _instrument(store, options.instrument)
        answers = store.surveys.answers(instrument)
        older = sum(line.answered - line.current for line in store.surveys.respondents(instrument))
    if not answers:
        raise UsageError(f"nobody has answered {instrument} yet; nothing was written")
    text = csv_files(Instrument(instrument, instrument, (), survey=answers))["survey.csv"]
    with whole_file(path) as file:
        file.write(text)
    left_out = (
        f" {older:,} answers to earlier versions of statements are left out." if older else ""
    )
    return tell(
        options,
        f"Wrote {len(answers):,} answers to {path}.{left_out}",
        {"file": str(path), "answers": len(answers), "to_earlier_versions": older},
    )
