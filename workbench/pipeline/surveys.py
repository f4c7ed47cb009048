"""Sessions of a survey: the one that a person left, or a new one drawn for them."""

from __future__ import annotations

from collections.abc import Sequence

from stores.annotation.people import Ask, RespondentLine
from stores.core.store import Store
from workbench.annotation.survey import SurveyDesign, arrange, draw
from workbench.domain.instruments import Instrument
from workbench.domain.names import person_name
from workbench.errors import UsageError
from workbench.figures.table import Column, Kind, Table
from workbench.stats.resampling import derive_rng


def open_session(
    store: Store, instrument: str, respondent: str, design: SurveyDesign, *, further: bool = False
) -> int:
    """Return the rowid of the session of this person: the newest one, or else a new one.

    `further` requests a new one, with statements that they were not asked about. Raises UnknownName
    for an instrument, UsageError if there is nothing (more) to ask, or the name cannot be taken.
    """
    name = person_name(respondent, "respondent")
    design.check()
    stored = store.instruments.get(instrument)
    language = _language(stored, design)
    earlier = store.surveys.sessions(instrument, name)
    store.surveys.check_name(instrument, name, language)
    if earlier and not further:
        return earlier[-1].id
    items = _items(store, stored, name, language, design)
    try:
        if not items:
            raise UsageError(_nothing(stored, language, more=bool(earlier)))
        return store.surveys.begin(
            instrument, name, language, design.seed, items, after=len(earlier)
        )
    except UsageError:  # perhaps because the same person sat down in another terminal meanwhile
        current = store.surveys.sessions(instrument, name)
        if len(current) == len(earlier):
            raise
        return current[-1].id


def n_further_wordings(store: Store, instrument: str, respondent: str, design: SurveyDesign) -> int:
    """Return the number of wordings of a further session, or 0 if there is nothing left to ask."""
    stored = store.instruments.get(instrument)
    return len(_items(store, stored, respondent, _language(stored, design), design))


def _language(instrument: Instrument, design: SurveyDesign) -> str:
    return design.language or instrument.language


def _items(
    store: Store, instrument: Instrument, name: str, language: str, design: SurveyDesign
) -> tuple[Ask, ...]:
    """Draw the wordings of a person.

    They are the same for all who were asked nothing yet, in each person's own order.
    """
    asked_refs = store.surveys.asked(instrument.name, name)
    sampled = draw(
        instrument.statements,
        language,
        design,
        derive_rng(design.seed, "survey", instrument.name, language),
        asked_refs,
    )
    return arrange(
        sampled,
        derive_rng(design.seed, "survey order", instrument.name, language, name, len(asked_refs)),
    )


def _nothing(instrument: Instrument, language: str, *, more: bool) -> str:
    if more:
        return f"{instrument.name} has no more statements with variants in {language!r} to ask"
    languages = sorted(
        {wording.language for statement in instrument.statements for wording in statement.wordings}
    )
    return (
        f"{instrument.name} has no statement with an original and a variant in {language!r} to "
        f"compare; its languages: {', '.join(languages) or 'none'}"
    )


def respondents(lines: Sequence[RespondentLine], begin: str) -> Table[RespondentLine]:
    """Return the number of wordings asked of and answered by each person.

    `begin` tells how somebody begins, for a store without answers.
    """
    return Table(
        "respondents",
        "People who answered",
        lines,
        [
            Column("instrument", "instrument", lambda row: row.instrument),
            Column("respondent", "respondent", lambda row: row.respondent),
            Column(
                "language",
                "language",
                lambda row: row.language,
                help="none: the answers came from a file",
            ),
            Column("asked", "asked", lambda row: row.asked, Kind.COUNT, help="wordings"),
            Column("answered", "answered", lambda row: row.answered, Kind.COUNT),
            Column(
                "current",
                "in use",
                lambda row: row.current,
                Kind.COUNT,
                help="statements as they are now",
            ),
            Column(
                "median_s",
                "seconds each",
                lambda row: row.median_s,
                Kind.COEFFICIENT,
                help="median",
                unit="s",
            ),
            Column("last_at", "last", lambda row: row.last_at[:16].replace("T", " "), aside=True),
        ],
        key=lambda row: (row.instrument, row.respondent),
        notes=[
            "in use: answers to statements as they are now. How consistent they are: workbench "
            "show STORE consistency --table people_kappas upper_bound"
        ],
        empty=f"Nobody has answered yet. Begin: {begin}",
    )
