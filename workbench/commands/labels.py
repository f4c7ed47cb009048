"""Move labels of people, decide on disagreements, and change the codebooks that people label by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbench.commands.command import ImmediateCommand, Outcome, option, shared_option
from workbench.domain.annotations import PURPOSES, Codebook, DisagreementReason
from workbench.domain.names import plural
from workbench.errors import UsageError
from workbench.formats.label_tools import TOOLS
from workbench.options.option import Type
from workbench.options.shared import ANNOTATOR, CODEBOOK, QUEUE
from workbench.whole_folders import whole_file

if TYPE_CHECKING:
    from stores.annotation.exchange import Merged
    from stores.core.store import Store

ONLY_QUEUE = QUEUE.but(help="only this queue", none="all")
LABEL_STUDIO = "label-studio"


# ── moving labels ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class ExportLabelsCommand(ImmediateCommand):
    """Write every label event to a file."""

    VERB = "labels"
    ACT = "export"
    READS_ONLY = True

    queue: str | None = shared_option(ONLY_QUEUE)
    export: Path = option(
        None, "write every label event: .csv or .jsonl; see --layout", type=Type.PATH
    )
    layout: str | None = option(
        None, "export: labels as another tool has them", none="our own", choices=TOOLS
    )

    def run(self, store: Store) -> Outcome:
        """Write the events. Raises UsageError for a name that the layout does not take."""
        from workbench.formats.label_files import FORMATS, write_labels
        from workbench.formats.label_tools import write_for

        suffixes: Sequence[str] = FORMATS
        if self.layout is not None:
            suffixes = (".json",) if self.layout == LABEL_STUDIO else (".jsonl",)
        if self.export.suffix not in suffixes:
            raise UsageError(f"{self.export}: give a name that ends in {' or '.join(suffixes)}")
        if self.queue is not None:
            store.queues.get(self.queue)
        with whole_file(self.export) as file:
            events = store.exchange.events(self.queue)
            left_out: Sequence[str] = []
            if self.layout is None:
                n_events = write_labels(events, file, self.export.suffix)
            else:
                n_events, left_out = write_for(self.layout, events, file)
        kind = "events" if self.layout is None else "labels"
        sentence = " ".join([f"Wrote {n_events:,} {kind} to {self.export}.", *left_out])
        data = {"file": str(self.export), "events": n_events}
        return Outcome(sentence, {**data, "left_out": left_out} if left_out else data)


@dataclass(frozen=True)
class AddLabelsCommand(ImmediateCommand):
    """The base of commands that add label events to a store."""

    VERB = "labels"

    queue: str | None = shared_option(ONLY_QUEUE)
    into: str | None = option(None, "import: make this queue for items that are in no queue")
    purpose: str = option("training", "purpose of that queue", choices=PURPOSES)
    partial: bool = option(False, "skip events about texts that this store lacks")

    def outcome(self, merged: Merged, notes: Sequence[str] = ()) -> Outcome:
        """Return what was added."""
        from workbench.pipeline.label_imports import merged_sentences

        lines = [*notes, *merged_sentences(merged, self.into)]
        return Outcome("\n".join(lines), asdict(merged))


@dataclass(frozen=True)
class ImportLabelsCommand(AddLabelsCommand):
    """Add the label events of a file that the store lacks."""

    ACT = "import_"

    codebook: str = shared_option(
        CODEBOOK.but(help="for rows of a file without a queue", choices=())
    )
    import_: Path = option(
        None, "add the events of a file that this store lacks, also of other tools", type=Type.PATH
    )

    def run(self, store: Store) -> Outcome:
        """Add the events. Raises WorkbenchError for a file that cannot be read."""
        from workbench.pipeline.label_imports import LabelOptions, import_labels, read_label_file

        if self.queue is not None:
            store.queues.get(self.queue)
        label_options = LabelOptions(self.codebook, self.into or "", self.purpose)
        file = read_label_file(self.import_, label_options)
        return self.outcome(import_labels(store, file, partial=self.partial), file.notes)


@dataclass(frozen=True)
class MergeLabelsCommand(AddLabelsCommand):
    """Add the label events of another store, with its queues, rulings, people, control samples."""

    ACT = "merge"

    merge: Path = option(
        None,
        "add the events of another store",
        type=Type.PATH,
        metavar="STORE",
        completes="stores",
    )

    def run(self, store: Store) -> Outcome:
        """Add the events. Raises UsageError if the other store has none."""
        from stores.annotation.exchange import Merged
        from stores.core.store import Store as OtherStore
        from workbench.pipeline.label_imports import LabelOptions, known_codebooks

        if self.merge.resolve() == store.path.resolve():
            raise UsageError(f"{self.merge} is this store itself; name another one")
        codebooks = known_codebooks(store)
        with OtherStore.open_copied(self.merge) as other_store:
            exchange = other_store.exchange
            events = tuple(exchange.events(self.queue))
            queues = [queue for queue in exchange.queues() if self.queue in (None, queue.name)]
            versions = exchange.versions()
            for name, codebook in exchange.codebooks().items():
                codebooks.setdefault(name, codebook)
            has_all = self.queue is None
            rulings = other_store.rulings.events() if has_all else ()
            people = other_store.people.events() if has_all else ()
            samples = other_store.control_samples.every() if has_all else ()
        if events:
            merged = store.exchange.add(
                events,
                codebooks,
                source=str(self.merge),
                versions=versions,
                partial=self.partial,
                queues=queues,
                into=LabelOptions(into=self.into or "", purpose=self.purpose).new_queue,
            )
        elif rulings or people or samples:
            merged = Merged(0, 0, 0, 0, ())
        else:
            raise UsageError(f"{self.merge} has no labels; nothing was changed")
        merged = replace(
            merged,
            rulings=store.rulings.merge(rulings),
            people=store.people.merge(people),
            control_samples=store.control_samples.merge(samples),
        )
        return self.outcome(merged)


# ── disagreements ─────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class AdjudicateCommand(ImmediateCommand):
    """Decide an item that people disagree on."""

    VERB = "adjudicate"
    ACT = "item"

    queue: str | None = shared_option(ONLY_QUEUE)
    codebook: str = shared_option(CODEBOOK)
    item: int = option(
        None, "decide this item; with --label and --annotator", type=Type.WHOLE, metavar="ITEM"
    )
    label: str | None = option(None)
    reason: str = option("other", choices=tuple(reason.value for reason in DisagreementReason))
    note: str = option("")
    annotator: str | None = shared_option(ANNOTATOR.but(help="who decides", none=""))

    def run(self, store: Store) -> Outcome:
        """Decide the item. Raises UsageError for a label that the codebook lacks."""
        from workbench.evidence.readings import codebook_of

        codebook = codebook_of(store, self.queue, self.codebook)
        if not self.label or not self.annotator:
            raise UsageError(
                "to decide an item give --label and --annotator too; without --item the "
                "disagreements are listed"
            )
        store.labels.decide(
            self.item,
            codebook,
            self.label,
            DisagreementReason(self.reason),
            self.note,
            self.annotator,
        )
        return Outcome(
            f"Item {self.item} is {self.label}, decided by {self.annotator}.",
            {"item": self.item, "label": self.label, "annotator": self.annotator},
        )


# ── codebooks ─────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True)
class CodebookCommand(ImmediateCommand):
    """The base of commands about a codebook."""

    VERB = "codebook"

    codebook: str = shared_option(CODEBOOK.but(help="stance of answers, side of statements"))

    def current(self, store: Store) -> Codebook:
        """Return the codebook as it counts now."""
        from workbench.evidence.readings import codebook_of

        return codebook_of(store, None, self.codebook)


@dataclass(frozen=True)
class ExportCodebookCommand(CodebookCommand):
    """Write a codebook to a file, which can be changed and read again."""

    ACT = "export"
    READS_ONLY = True

    export: Path = option(
        None, "write it as a file that --change reads", type=Type.PATH, metavar="TOML"
    )

    def run(self, store: Store) -> Outcome:
        """Write the file. Raises UsageError if it exists already."""
        from workbench.codebooks import codebook_text

        codebook = self.current(store)
        with whole_file(self.export) as file:
            file.write(codebook_text(codebook))
        return Outcome(
            f"Wrote the codebook {codebook.name} to {self.export}.", {"file": str(self.export)}
        )


@dataclass(frozen=True)
class NewCodebookCommand(CodebookCommand):
    """The base of commands that let another version of a codebook count."""

    annotator: str | None = shared_option(ANNOTATOR.but(help="who changes it", none=""))
    note: str = option("", "why")

    def change_to(self, store: Store, new_codebook: Codebook) -> Outcome:
        """Let a codebook count from now on. Raises UsageError if nothing differs."""
        assert self.annotator, "checked"
        codebook = self.current(store)
        version = store.codebooks.change(codebook, new_codebook, self.annotator, self.note)
        data = {
            "codebook": codebook.name,
            "version": version.number,
            "annotator": self.annotator,
        }
        return Outcome(
            f"Version {version.number} of the codebook {codebook.name} counts from now on; labels "
            "keep their version.",
            data,
        )

    def check_person(self) -> None:
        """Raise UsageError if nobody is named who changes the codebook."""
        if not self.annotator:
            raise UsageError("give your name: --annotator NAME")


@dataclass(frozen=True)
class ChangeCodebookCommand(NewCodebookCommand):
    """Let the codebook of a file count from now on. Labels keep their version."""

    ACT = "change"

    change: Path = option(
        None,
        "let a file count from now on, as --annotator; labels keep their version",
        type=Type.PATH,
        metavar="TOML",
    )

    def run(self, store: Store) -> Outcome:
        """Change the codebook. Raises WorkbenchError for a file that cannot be read."""
        from workbench.codebooks import read_codebook

        self.check_person()
        return self.change_to(store, read_codebook(self.change))


@dataclass(frozen=True)
class RestoreCodebookCommand(NewCodebookCommand):
    """Let an earlier version of a codebook count again."""

    ACT = "restore"

    restore: int = option(
        None,
        "let an earlier version count again, as --annotator",
        type=Type.WHOLE,
        least=1,
        metavar="VERSION",
    )

    def run(self, store: Store) -> Outcome:
        """Restore the version. Raises UsageError if there is no such version."""
        self.check_person()
        codebook = self.current(store)
        versions = store.codebooks.versions(codebook)
        if self.restore > len(versions):
            raise UsageError(
                f"found version {self.restore}; the codebook {codebook.name} has "
                f"{plural(len(versions), 'version')}: workbench codebook STORE --history"
            )
        return self.change_to(store, versions[self.restore - 1].codebook)
