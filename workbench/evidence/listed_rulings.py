"""Auditors' rulings as rows: what was ruled on what, by whom and why, and whether it stands.

The shell and the terminal show these rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from stores.annotation.rulings import DIGITS
from stores.core.store import Store, at_once
from stores.runs.run_rows import Run
from workbench.domain.keys import content_key
from workbench.domain.readings import ReaderCard
from workbench.domain.reviews import ControlSample
from workbench.domain.rulings import Ruled, Ruling, Subject, Verdict, answer_to, disputed
from workbench.evidence.ruling_subjects import UNREADABLE, placed, spoken
from workbench.evidence.rulings import RulingsOn, rulings_on, thing_of
from workbench.figures.table import Column, Kind, Link, Table

DISPUTED, STANDS, TAKEN_BACK, SUPERSEDED = "disputed", "stands", "taken back", "superseded"
OPEN, ANSWERED = "open", "answered"
"of a wish for another look: nobody has decided on that very thing since, or somebody has"
IN_FORCE = (STANDS, DISPUTED, OPEN, ANSWERED)
NOBODY = "Nobody has ruled yet."
ALL_MODELS, ONE_MODEL = "all models", "one model"
OPENED = "ruling"
"name of what stands behind a row: the thing that was ruled on"


@dataclass(frozen=True, slots=True)
class ListedRuling:
    """An event with what it is about and what became of it."""

    ruling: Ruling
    name: str
    "of its subject, as people type it"
    stands: str
    place: tuple[str, str] = ("", "")
    "instrument and ref of the statement that it is about, or belongs to; empty: the store lacks it"
    words: str = ""
    "the text that it is about, where rows are for people"
    ended: Ruling | None = None
    "the event that took it back, or the newer ruling of the same auditor"
    against: tuple[Ruling, ...] = ()
    "rulings in force that contradict it"
    applies: str = ALL_MODELS
    "name of the model that it applies to alone"

    @property
    def spoken(self) -> str:
        """What it is about, for people."""
        return spoken(self.name, self.place[1])

    @property
    def in_force(self) -> bool:
        return self.stands in IN_FORCE

    @property
    def said(self) -> str:
        """Return what was decided: `misread (agree)`."""
        verdict = self.ruling.verdict
        read = f" ({reading_of(self.ruling)})" if verdict is Verdict.MISREAD else ""
        return f"{verdict.value}{read}" if verdict is not None else "(none)"


def reading_of(ruling: Ruling) -> str:
    """Return the right reading that a ruling gives; empty for one that gives none."""
    return (ruling.label or UNREADABLE) if ruling.verdict is Verdict.MISREAD else ""


@at_once
def listed(store: Store, of: Subject | None = None, *, texts: bool = False) -> list[ListedRuling]:
    """Return every event, or those about a subject, the oldest first. `texts`: with what they are about in words."""
    standing = store.rulings.standing()
    every = [one for one in store.rulings.events() if of is None or one.subject.thing == of.thing]
    uids = {one.uid for on in standing.values() for one in on}
    undone = {one.undoes: one for one in every if one.undoes is not None}
    known: dict[bytes, tuple[str, tuple[str, str], str]] = {}
    newer: dict[tuple[bytes, str], Ruling] = {}
    models = model_names(store)
    by_thing: dict[object, list[Ruling]] = {}
    for one in (one for on in standing.values() for one in on):
        by_thing.setdefault(thing_of(one), []).append(one)
    found = []
    for one in reversed(every):
        key = one.subject.key
        if key not in known:
            instrument, name = placed(store, one.subject)
            known[key] = name, (instrument, ref_of(store, one.subject)), words_of(store, one.subject) if texts else ""
        name, place, words = known[key]
        beside = by_thing.get(thing_of(one), ())
        on = [two for two in beside if two.subject.kind is one.subject.kind and _together(one, two)]
        ended = undone.get(one.uid) or newer.get((key, one.auditor))
        if one.verdict is not None:
            newer[key, one.auditor] = one
        stands = one.uid in uids
        against = tuple(other for other in on if stands and disputed((one, other)))
        if asks := stands and one.verdict is Verdict.LOOK_AGAIN:
            ended = answer_to(one, (two for two in beside if two.subject.model in ("", one.subject.model)))
        state = _state(one, stands, undone.keys(), contrary=disputed(on))
        if asks:
            state = OPEN if ended is None else ANSWERED
        ended = None if stands and not asks else ended
        found.append(ListedRuling(one, name, state, place, words, ended, against, applies_to(one, models)))
    return found[::-1]


def model_names(store: Store) -> dict[str, str]:
    """Return the names of a store's models by their keys."""
    return {row["key"].hex(): str(row["name"]) for row in store.data_rows.models().values()}


def applies_to(ruling: Ruling, models: Mapping[str, str]) -> str:
    """Return the name of the model that a ruling applies to alone, or `all models`."""
    model = ruling.subject.model
    return models.get(model, f"@{model[:DIGITS]}") if model else ALL_MODELS


def _together(one: Ruling, two: Ruling) -> bool:
    """Return whether a model is there that both rulings apply to."""
    return one.subject.model == two.subject.model or not (one.subject.model and two.subject.model)


def _state(ruling: Ruling, stands: bool, undone: Iterable[bytes | None], *, contrary: bool) -> str:
    if ruling.verdict is None:
        return "takes back"
    if stands:
        return DISPUTED if contrary else STANDS
    return TAKEN_BACK if ruling.uid in undone else SUPERSEDED


def ref_of(store: Store, subject: Subject) -> str:
    """Return the ref of the statement that a subject is, or belongs to; empty if the store lacks it."""
    named = subject.named
    if "statement" in named:
        return named["statement"]
    put = store.ruled_things.prompts(key=named["prompt"])
    return put[0].ref if put else ""


def words_of(store: Store, subject: Subject) -> str:
    """Return the text of a subject: an answer as it was given, a wording, the wording that a prompt puts."""
    named = subject.named
    if "text" in named:
        return store.ruled_things.text(bytes.fromhex(named["text"])) or ""
    if "prompt" in named:
        put = store.ruled_things.prompts(key=named["prompt"])
        return put[0].wording if put else ""
    every = store.ruled_things.variants(named["instrument"], named["statement"], int(named["version"]))
    meant = (named.get("language"), named.get("variant"))
    return next((text for language, variant, text in every if meant in ((None, None), (language, variant))), "")


def withheld(
    store: Store, rows: Sequence[ListedRuling], auditor: str | None, *, of: Sequence[tuple[Run, bool]] | None
) -> frozenset[bytes]:
    """Return the uids of the rulings of others that an auditor must not see before their own.

    These are rulings on answers of a control sample, for whoever reviews its run or has begun with it, and in a blind
    review those on statements of its instrument that the auditor has not decided. `of`: the runs that are under review
    now, and whether each review is blind; None: any run, with its model shown.
    """
    runs = None if of is None else [run_key(store, run) for run, _ in of]
    blind = {run.instrument for run, hidden in of or () if hidden}
    mine = [
        row
        for row in rows
        if row.ruling.auditor == auditor and row.in_force and row.ruling.verdict is not Verdict.LOOK_AGAIN
    ]
    decided_on = {(_answer(row.ruling), row.ruling.subject.model) for row in mine}
    drawn: dict[tuple[str, ReaderCard], tuple[bool, set[tuple[tuple[str, str], str]]]] = {}
    for one in store.control_samples.every():
        key = str(sorted(one.run.items())), one.reader
        _, of_run = drawn.setdefault(key, (runs is None or one.run in runs, set()))
        of_run |= {((item.prompt.hex(), item.text.hex()), one.run["model"]) for item in one.items}
    own = {at for sample in (of_run for _, of_run in drawn.values()) for at in sample if _own(at, decided_on)}
    begun = set().union(*(sample for reviewed, sample in drawn.values() if reviewed or sample & own))
    begun_on: dict[tuple[str, str], list[tuple[tuple[str, str], str]]] = {}
    for each in begun:
        begun_on.setdefault(each[0], []).append(each)
    decided = {row.place for row in mine if row.ruling.subject.kind is Ruled.STATEMENT}

    def hidden(row: ListedRuling) -> bool:
        if row.ruling.auditor == auditor:
            return False
        model = row.ruling.subject.model
        at = [one for one in begun_on.get(_answer(row.ruling), ()) if model in ("", one[1])]
        if at:
            return not own.issuperset(at)
        return row.place[0] in blind and row.place not in decided

    return frozenset(row.ruling.uid for row in rows if hidden(row))


def without(row: ListedRuling, kept_back: frozenset[bytes]) -> ListedRuling:
    """Return a row that does not tell of rulings that may not be seen yet."""
    against = tuple(one for one in row.against if one.uid not in kept_back)
    told_apart = bool(row.against) and not against
    return replace(row, against=against, stands=STANDS if told_apart else row.stands)


def _own(at: tuple[tuple[str, str], str], decided: Collection[tuple[tuple[str, str], str]]) -> bool:
    """Return whether somebody decided on a model's answer, be it for this model or for all."""
    return at in decided or (at[0], "") in decided


def _answer(ruling: Ruling) -> tuple[str, str]:
    named: Mapping[str, str] = ruling.subject.named
    return named.get("prompt", ""), named.get("text", "")


def as_table(
    rows: Sequence[ListedRuling], *, history: bool, several: bool = False, empty: str = NOBODY
) -> Table[ListedRuling]:
    """Return rulings in force, or every event, for the shell. `several`: the store has several instruments."""
    columns: list[Column[ListedRuling]] = [
        Column("ruling", "ruling", lambda row: row.ruling.uid.hex()[:8]),
        Column("subject", "subject", lambda row: row.name),
        _instrument(aside=not several),
        Column("verdict", "verdict", lambda row: row.ruling.verdict or "(none)"),
        Column("reading", "reads", lambda row: reading_of(row.ruling)),
        *_shared(),
        Column("at", "at (UTC)", lambda row: moment(row.ruling), aside=not history),
        Column("kind", "kind", lambda row: row.ruling.subject.kind.value, aside=True),
        Column("undoes", "undoes", lambda row: row.ruling.undoes.hex()[:8] if row.ruling.undoes else "", aside=True),
    ]
    title = "Every event" if history else "Rulings in force"
    return Table("rulings", title, rows, columns, key=lambda row: (row.ruling.uid.hex(),), empty=empty)


def for_people(
    rows: Sequence[ListedRuling], empty: str, *, several: bool = False, blind: bool = False
) -> Table[ListedRuling]:
    """Return rulings for a screen, the newest first: what became of each stands in its details. `several`: they may be
    on several instruments; `blind`: without the names of models.
    """
    newest = sorted(rows, key=lambda row: (row.ruling.at, row.ruling.uid), reverse=True)
    names = {row.ruling.uid.hex(): row.spoken for row in rows}
    columns: list[Column[ListedRuling]] = [
        Column("subject", "ruled on", lambda row: row.spoken, least=18, words=names),
        _instrument(aside=not several),
        Column("kind", "kind", lambda row: row.ruling.subject.kind.value, aside=True),
        Column("verdict", "ruling", lambda row: row.said, least=18),
        *_shared(blind=blind),
        Column("at", "at (UTC)", lambda row: moment(row.ruling), aside=True),
    ]
    return Table(
        "rulings",
        "Rulings of auditors",
        newest,
        columns,
        key=lambda row: (row.ruling.uid.hex(),),
        definition="",
        empty=empty,
        link=lambda row: Link(OPENED, (row.ruling.uid.hex(),)),
        detail=_became,
    )


def _instrument(*, aside: bool) -> Column[ListedRuling]:
    return Column("instrument", "instrument", lambda row: row.place[0], aside=aside)


def _shared(*, blind: bool = False) -> list[Column[ListedRuling]]:
    return [
        Column(
            "applies",
            "applies to",
            lambda row: ONE_MODEL if blind and row.ruling.subject.model else row.applies,
            help="rulings on answers, and that a statement was reviewed, apply to the model in whose review they were "
            "made, unless the auditor ruled for all models; those on wordings, templates and statements to all models",
        ),
        Column("auditor", "by", lambda row: row.ruling.auditor),
        Column(
            "stands",
            "stands",
            lambda row: row.stands,
            help="disputed: auditors contradict each other; no effect. open: nobody has decided since on what another "
            "look was asked for",
        ),
        Column("reason", "reason", lambda row: row.ruling.reason, Kind.PROSE),
    ]


def _became(row: ListedRuling) -> list[str]:
    """Say why it was ruled so, what it is about in words, and what became of it."""
    one, lines = row.ruling, []
    lines.append(f"{one.auditor}, {moment(one)} UTC: {row.said} – {one.reason}")
    if row.ended is not None and row.ended.verdict is None:
        why = f" – {row.ended.reason}" * bool(row.ended.reason)
        lines.append(f"taken back by {row.ended.auditor}, {moment(row.ended)} UTC{why}")
    elif row.ended is not None and row.stands == ANSWERED:
        said = f"{row.ended.verdict} – {row.ended.reason}"
        lines.append(f"answered by {row.ended.auditor}, {moment(row.ended)} UTC: {said}")
    elif row.ended is not None:
        newer = f"{row.ended.verdict} – {row.ended.reason}"
        lines.append(f"superseded by {row.ended.auditor}, {moment(row.ended)} UTC: {newer}")
    lines += [
        f"contradicted by {other.auditor}, {moment(other)} UTC: {other.verdict} – {other.reason}; neither counts"
        for other in row.against
    ]
    words = " ".join(row.words.split())
    lines.append(f"“{words}”" if words else "This store does not have the text.")
    return lines


def moment(ruling: Ruling) -> str:
    """Return when an event was, to the minute."""
    return ruling.at[:16].replace("T", " ")


Drawn = Mapping[tuple[str, str], str]
"keys of prompt and text of the answers that were drawn at random, in hexadecimal -> when they first were"


def run_key(store: Store, run: Run) -> dict[str, str]:
    """Return the key of a run, the same in every store."""
    return {
        "audit": run.audit,
        "instrument": run.instrument,
        "language": run.language,
        "family": run.family,
        "model": store.runs.model_key(run).hex(),
        "sampling": run.sampling.key.hex(),
        "fingerprint": run.fingerprint or "",
        "templates": content_key(sorted(one.key.hex() for one in store.runs.templates(run))).hex(),
        **({"persona": run.persona} if run.persona else {}),
    }


def samples_of(store: Store, run: Run, card: ReaderCard | None) -> tuple[ControlSample, ...]:
    """Return the control samples of a run as a reader reads it, the oldest first."""
    if card is None or not store.control_samples.any():
        return ()
    return store.control_samples.of_run(run_key(store, run), card)


def drawn_since(samples: Sequence[ControlSample]) -> Drawn:
    """Return when each answer was first drawn; `samples`: the oldest first."""
    newest_first = [(one, sample.at) for sample in reversed(samples) for one in sample.items]
    return {(one.prompt.hex(), one.text.hex()): at for one, at in newest_first}


def as_drawn(ruling: Ruling, drawn: Drawn) -> bool:
    """Return whether a ruling is on an answer that had been drawn at random by then."""
    named = ruling.subject.named
    since = drawn.get((named.get("prompt", ""), named.get("text", "")))
    return since is not None and since <= ruling.at


def decisions(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Return the rulings by which a statement is reviewed; `rulings`: those in force on it and below."""
    return tuple(
        one for one in rulings if one.subject.kind is Ruled.STATEMENT and one.verdict is not Verdict.LOOK_AGAIN
    )


def deciders(rulings: Iterable[Ruling]) -> tuple[str, ...]:
    """Return who has reviewed a statement, the first one first; `rulings`: those in force on it and below."""
    return tuple(dict.fromkeys(one.auditor for one in decisions(rulings)))


def asked_again(rulings: Iterable[Ruling]) -> tuple[Ruling, ...]:
    """Return who still wants another look at what; `rulings`: those in force on a statement and below."""
    by_thing: dict[object, list[Ruling]] = {}
    for one in rulings:
        by_thing.setdefault(thing_of(one), []).append(one)
    return tuple(
        one
        for of in by_thing.values()
        for one in of
        if one.verdict is Verdict.LOOK_AGAIN and answer_to(one, of) is None
    )


def is_reviewed(on: RulingsOn, ref: str, auditor: str | None = None) -> bool:
    """Return whether an auditor, or anybody, has reviewed a statement and nobody wants another look at it or at
    something below it. For anybody a statement that auditors contradict each other about is not reviewed, either.
    """
    rulings = on.statements.get(ref, ())
    who = deciders(rulings)
    if asked_again(rulings):
        return False
    return bool(who) and ref not in on.disputed if auditor is None else auditor in who


def reviewed(store: Store, run: Run) -> frozenset[str] | None:
    """Return the refs of the statements of a run that auditors have reviewed; None where nobody ruled on anything."""
    on = rulings_on(store, run)
    return frozenset(ref for ref in on.statements if is_reviewed(on, ref)) if on.statements else None


def reviewed_words(statements: Collection[str], passed: Collection[str], reviewed: Collection[str]) -> str:
    """Say how many of the statements that pass every test, and of the others, auditors have reviewed.

    Flagged statements are looked at first, so what is found in them says nothing of the others. `passed`: by the
    verdicts without rulings.

    Examples
    --------
    >>> reviewed_words(["a", "b", "c"], ["a"], ["b"])
    'statements reviewed by auditors: 0 of 1 that pass, 1 of 2 that do not pass'
    """
    strata = {"that pass": [ref for ref in statements if ref in passed],
              "that do not pass": [ref for ref in statements if ref not in passed]}  # fmt: skip
    found = ((sum(ref in reviewed for ref in refs), len(refs), says) for says, refs in strata.items() if refs)
    return f"statements reviewed by auditors: {', '.join(f'{n:,} of {of:,} {says}' for n, of, says in found)}"
