"""Rule on what a result rests on, undo rulings, and move them between stores."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.names import plural
from workbench.domain.rulings import (
    EXPECTED,
    RULED_ON,
    Ruling,
    RulingVerdict,
    from_plain,
    ruling_values,
)
from workbench.errors import UsageError
from workbench.options.option import Type
from workbench.options.shared import INSTRUMENT, MODEL, READER
from workbench.regular_files import check_file
from workbench.whole_folders import whole_file

if TYPE_CHECKING:
    from stores.core.store import Store
    from workbench.evidence.ruling_subjects import RulingSubject


def _verdicts() -> dict[str, str]:
    """Return the verdicts as they are typed, with what each can be about."""
    verdicts = {}
    for verdict, kinds in RULED_ON.items():
        every_kind = type(next(iter(kinds)))
        names = ", ".join(kind for kind in every_kind if kind in kinds)
        verdicts[verdict.value.replace(" ", "-")] = f"about {names}"
    return verdicts


@dataclass(frozen=True)
class RuleCommand(ImmediateCommand):
    """Store a ruling on each subject: all of them, or none if one makes no sense."""

    VERB = "rule"

    subject: tuple[str, ...] = option(
        None,
        "what you rule on, see below",
        positional=True,
        required=True,
        many=True,
        metavar="SUBJECT…",
    )
    verdict: str = option(
        None,
        "what you decide, see below",
        positional=True,
        required=True,
        choices=_verdicts(),
    )
    reason: str = option(None, "your reason", required=True, metavar="TEXT")
    as_: str = option(None, "your name", required=True, metavar="NAME")
    reading: str | None = option(
        None,
        "misread: the right reading; agree, disagree, B, unreadable, …",
        metavar="LABEL",
    )
    reader: str | None = shared_option(
        READER.but(
            help="misread: reader of the figures, whose reading cannot be the right one",
            none="the usual one",
        )
    )
    instrument: str | None = shared_option(INSTRUMENT)
    model: str | None = shared_option(
        MODEL.but(
            help="model whose answers you looked at: a ruling on an answer, and that you reviewed "
            "a statement, applies to "
            "it alone. @ and the first digits of its key name it, too",
            none="the only one that gave the answer, or was asked the statement",
        )
    )
    all_models: bool = option(
        False,
        "such a ruling applies to every model. Faults and exclusions of statements, wordings and "
        "prompts always do",
    )

    def run(self, store: Store) -> Outcome:
        """Store the rulings. Raises WorkbenchError if one makes no sense."""
        from workbench.evidence import ruling_subjects

        if self.all_models and self.model is not None:
            raise UsageError("--all-models and --model exclude each other; give one of them")
        verdict = RulingVerdict(self.verdict.replace("-", " "))
        subjects = [self._subject(store, name) for name in self.subject]
        for subject in subjects:
            ruling_subjects.check_ruling(subject, verdict, self.reading)
        models = [self._model(store, subject, verdict) for subject in subjects]
        rulings = [
            ruling_subjects.add_ruling(
                store,
                subject,
                verdict,
                auditor=self.as_,
                reason=self.reason,
                reading=self.reading,
                model=model,
            )
            for subject, model in zip(subjects, models, strict=True)
        ]
        names = ", ".join(subject.name for subject in subjects)
        reading = f", reads {self.reading}" if self.reading else ""
        undo = f"--as {shlex.quote(self.as_)} --undo {rulings[-1].uid.hex()[:8]}"
        return Outcome(
            f"{self.as_} rules {verdict}{reading}: {names}.",
            [ruling_values(ruling) for ruling in rulings],
            f"Taken back with:\nworkbench rulings STORE {undo}",
        )

    def _subject(self, store: Store, name: str) -> RulingSubject:
        from workbench.evidence.ruling_subjects import find_subject, with_reading_of

        return with_reading_of(store, find_subject(store, name, self.instrument), self.reader)

    def _model(self, store: Store, subject: RulingSubject, verdict: RulingVerdict) -> str:
        """Return the name of the model that a ruling applies to alone, or "" for every model."""
        from workbench.evidence.ruling_subjects import ruled_model

        return "" if self.all_models else ruled_model(store, subject, verdict, self.model)


@dataclass(frozen=True)
class UndoRulingCommand(ImmediateCommand):
    """Undo a ruling."""

    VERB = "rulings"
    ACT = "undo"

    undo: str = option(None, "undo a ruling, by its first digits", metavar="RULING")
    as_: str | None = option(
        None,
        "your name, needed by --undo; what others ruled on drawn answers that you have yet to "
        "decide is not printed",
        metavar="NAME",
    )
    reason: str = option("", "undo: why; needed for another auditor's ruling", metavar="TEXT")

    def run(self, store: Store) -> Outcome:
        """Undo the ruling. Raises UsageError if none or several begin with the digits."""
        if not self.as_:
            raise UsageError("--undo needs the auditor's name; give --as NAME")
        ruling = self._ruling(store)
        if ruling.auditor != self.as_ and not self.reason:
            raise UsageError(
                f"{self.undo} is {ruling.auditor}'s ruling {ruling.verdict}, not yours; to "
                "take it back, say why: --reason TEXT"
            )
        event = store.rulings.undo(ruling, auditor=self.as_, reason=self.reason)
        return Outcome(f"Undone: {ruling.auditor}'s ruling {ruling.verdict}.", ruling_values(event))

    def _ruling(self, store: Store) -> Ruling:
        """Return the ruling in force that begins with the digits."""
        in_force = [ruling for group in store.rulings.standing().values() for ruling in group]
        digits = self.undo.lower()
        matches = [ruling for ruling in in_force if ruling.uid.hex().startswith(digits)]
        if len(matches) == 1:
            return matches[0]
        subject = "no ruling in force begins"
        if matches:
            subject = f"{len(matches)} rulings in force begin"
        raise UsageError(f"{subject} with {self.undo!r}; workbench rulings STORE lists them")


@dataclass(frozen=True)
class ExportRulingsCommand(ImmediateCommand):
    """Write every event of the rulings to a file."""

    VERB = "rulings"
    ACT = "export"
    READS_ONLY = True

    export: Path = option(None, "write every event as JSON lines", type=Type.PATH)

    def run(self, store: Store) -> Outcome:
        """Write the events. Raises UsageError if the file exists already."""
        events = store.rulings.events()
        with whole_file(self.export) as file:
            file.writelines(
                f"{json.dumps(ruling_values(event), ensure_ascii=False)}\n" for event in events
            )
        return Outcome(
            f"Wrote {plural(len(events), 'event')} to {self.export}.",
            {"file": str(self.export), "events": len(events)},
        )


@dataclass(frozen=True)
class ImportRulingsCommand(ImmediateCommand):
    """Add the events of a file of rulings that the store lacks."""

    VERB = "rulings"
    ACT = "import_"

    import_: Path = option(
        None, "add the events of such a file that this store lacks", type=Type.PATH
    )

    def run(self, store: Store) -> Outcome:
        """Add the events. Raises UsageError that names a line without an event."""
        events = read_rulings(self.import_)
        n_added = store.rulings.merge(events)
        n_known = len(events) - n_added
        return Outcome(
            f"{plural(n_added, 'event')} added, {n_known:,} stored already.",
            {"added": n_added, "known": n_known},
        )


def read_rulings(path: Path) -> list[Ruling]:
    """Return the events of a file. Raises UsageError that names a line without an event."""
    try:
        lines = check_file(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {error}") from error
    events = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            events.append(_read_ruling(line.strip(), f"{path}, line {number}"))
    if not events:
        raise UsageError(f"{path} has no rulings; nothing was changed")
    return events


def _read_ruling(line: str, place: str) -> Ruling:
    """Return the event of a line of JSON. Raises UsageError that names the line's place."""
    try:
        return from_plain(json.loads(line))
    except (ValueError, RecursionError) as error:
        content = f"{line[:40]!r}, which is no JSON on its own"
        raise UsageError(f"{place}: found no ruling but {content}; {EXPECTED}") from error
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error
